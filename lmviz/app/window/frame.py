"""Where the window stands on the screen, and its parts around the perspective that is shown."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QMargins, QRect, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from lmviz.app.board.board import Board
from lmviz.app.widgets.base.building import column, row
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
        padded = column((perspectives, 1), jobs, gap=0, margins=(MARGIN, MARGIN, MARGIN, 0))
        middle = row(rail, (padded, 1), lessons, gap=0)
        column(*above, (middle, 1), below, on=self, gap=0)


class ScrolledView(QuietScrollArea):
    """Where the window is smaller than its panels can be, this lets them scroll."""

    def __init__(self, view: Board) -> None:
        super().__init__()
        self._view = view
        self.setWidget(view)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._view.fit_into(self.maximumViewportSize())


USUAL = QSize(1440, 900)
LEAST = QSize(860, 560)
FRAME = QMargins(4, 36, 4, 4)
"""What the system draws around a window, a title bar on top: before it is shown nobody knows how much."""


def first_place(available: QRect, frame: QMargins = FRAME, usual: QSize = USUAL) -> QRect:
    """The inside of a window of the usual size, in the middle of a screen's available room or filling it."""
    room = available.marginsRemoved(frame)
    place = QRect(room.topLeft(), usual.boundedTo(room.size()))
    place.moveCenter(room.center())
    return place


def least_size(available: QRect, frame: QMargins = FRAME) -> QSize:
    """The smallest size of the window: never more than the screen has room for."""
    return LEAST.boundedTo(available.marginsRemoved(frame).size())
