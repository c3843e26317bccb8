"""One muted line; text that does not fit ends in dots and is shown in full on hover."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.canvas import Canvas, metrics
from lmviz.app.widgets.base.tooltip import paragraph

SIZE = 12


class MutedLine(Canvas):
    """`MutedLine(text="", right=False)`: `set_text(text)`; `right` sets it at the right edge."""

    def __init__(self, text: str = "", *, right: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
        self._text = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.set_text(text)

    @property
    def text(self) -> str:
        """What it says."""
        return self._text

    def set_text(self, text: str) -> None:
        """Say something else."""
        if text == self._text:
            return
        before, self._text = self.sizeHint(), text
        self.setAccessibleName(text)
        self.setToolTip(paragraph(text))
        if self.sizeHint() != before:  # other digits of the same width need no new layout
            self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(metrics(SIZE).horizontalAdvance(self._text)) + 2, round(self.length(18)))

    def minimumSizeHint(self) -> QSize:
        return QSize(0, round(self.length(18)))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = self.begin()
        painter.setFont(self.theme.font(SIZE))
        painter.setPen(self.theme.muted_text)
        shown = metrics(SIZE).elidedText(self._text, Qt.TextElideMode.ElideRight, self.width())
        painter.drawText(QRectF(self.rect()), self._side | Qt.AlignmentFlag.AlignVCenter, shown)
