"""What an arithmetic comes to: the line below its operands, which does not scroll away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.canvas import Canvas, metrics
from lmviz.app.widgets.kit.painter import AT_RIGHT, cut
from lmviz.app.widgets.text.arithmetic_card import MARGIN, NUMBER_SIZE, ROW, SIZE

if TYPE_CHECKING:
    from lmviz.app.widgets.text.arithmetic_rows import ArithmeticRow


class ResultLine(Canvas):
    """`ResultLine()`: `set_row(row)` shows a name and a value; None leaves the line empty."""

    usual, least = (220, ROW), (120, None)

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

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._row is None:
            return
        painter, theme = self.begin(), self.theme
        painter.box(QRectF(self.rect()), theme.accent_wash, radius=4)
        inner = QRectF(self.rect()).adjusted(self.length(MARGIN), 0, -self.length(MARGIN), 0)
        value = metrics(NUMBER_SIZE, token=True, bold=True).horizontalAdvance(self._row.value)
        room = inner.width() - value - self.length(8)
        name = cut(self._row.name, room, metrics(SIZE))
        painter.write(inner, name, theme.text, SIZE)
        painter.write(inner, self._row.value, size=NUMBER_SIZE, bold=True, token=True, where=AT_RIGHT)
