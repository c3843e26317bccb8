"""Where the parts of the window stand around the perspective that is shown."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from lmviz.app.board.board import Board
from lmviz.app.widgets.base.scrolling import QuietScrollArea

MARGIN = 12


class Frame(QWidget):
    """What stands above the perspectives, those between their rail and the lessons, and what stands below."""

    def __init__(
        self,
        above: Sequence[QWidget],
        rail: QWidget,
        perspectives: QWidget,
        jobs: QWidget,
        lessons: QWidget,
        below: QWidget,
    ) -> None:
        super().__init__()
        self.setObjectName("frame")
        padded = QVBoxLayout()
        padded.setContentsMargins(MARGIN, MARGIN, MARGIN, 0)
        padded.setSpacing(0)
        padded.addWidget(perspectives, 1)
        padded.addWidget(jobs)
        middle = QHBoxLayout()
        middle.setSpacing(0)
        middle.addWidget(rail)
        middle.addLayout(padded, 1)
        middle.addWidget(lessons)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for part in above:
            column.addWidget(part)
        column.addLayout(middle, 1)
        column.addWidget(below)


class ScrolledView(QuietScrollArea):
    """Where the window is smaller than its panels can be, this lets them scroll."""

    def __init__(self, view: Board) -> None:
        super().__init__()
        self._view = view
        self.setWidget(view)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._view.fit_into(self.maximumViewportSize())
