"""What an arithmetic comes to: the line below its operands, which does not scroll away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFont, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.canvas import Canvas, cut, metrics
from lmviz.app.widgets.text.arithmetic_card import MARGIN, NUMBER_SIZE, ROW, SIZE

if TYPE_CHECKING:
    from lmviz.app.widgets.text.arithmetic_rows import ArithmeticRow


class ResultLine(Canvas):
    """`ResultLine()`: `set_row(row)` shows a name and a value; None leaves the line empty."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._row: ArithmeticRow | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("result")

    @property
    def row(self) -> ArithmeticRow | None:
        """What it says."""
        return self._row

    def set_row(self, row: ArithmeticRow | None) -> None:
        """Show a line."""
        self._row = row
        self.setAccessibleDescription("" if row is None else f"{row.name} {row.value}")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(self.length(220)), round(self.length(ROW)))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(self.length(120)), self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._row is None:
            return
        painter, theme = self.begin(), self.theme
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.accent_wash)
        painter.drawRoundedRect(QRectF(self.rect()), self.length(4), self.length(4))
        inner = QRectF(self.rect()).adjusted(self.length(MARGIN), 0, -self.length(MARGIN), 0)
        painter.setPen(theme.text)
        value = metrics(NUMBER_SIZE, token=True, bold=True).horizontalAdvance(self._row.value)
        painter.setFont(theme.font(SIZE))
        room = inner.width() - value - self.length(8)
        name = cut(self._row.name, room, metrics(SIZE))
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter, name)
        painter.setFont(theme.token_font(NUMBER_SIZE, QFont.Weight.DemiBold))
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, self._row.value)
