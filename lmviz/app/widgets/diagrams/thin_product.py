"""A matrix that stays and the product of two thin ones that is added to it, all drawn to one scale."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.canvas import Canvas
from lmviz.app.widgets.base.figures import count
from lmviz.app.widgets.kit.painter import CENTRED, Painter

SIGN, CAPTION, SIZE = 20, 18, 11.5
"""The room of a sign between two matrices, the height of a line below them, and the size of type."""


class ThinProduct(Canvas):
    """`ThinProduct()`: `set_shape(rows, columns, rank)`: W + B · A, each as large as it is beside the others.

    W has so many rows and columns, B (rows, rank) and A (rank, columns).
    """

    usual, least = (270, 150), (210, 110)
    spoken_as = "Graphic"

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows = self._columns = self._rank = 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("a matrix, and the two thin ones that are learned beside it")

    @property
    def shape(self) -> tuple[int, int, int]:
        """Rows, columns and rank."""
        return self._rows, self._columns, self._rank

    def set_shape(self, rows: int, columns: int, rank: int) -> None:
        """Draw these."""
        if (rows, columns, rank) == self.shape:
            return
        self._rows, self._columns, self._rank = rows, columns, rank
        self.setAccessibleDescription(
            f"{count(rows)} by {count(columns)} stays; {count(rows)} by {rank} times {rank} by "
            f"{count(columns)} is learned"
        )
        self.update()

    def areas(self) -> tuple[QRectF, QRectF, QRectF]:
        """Where W, B and A are drawn."""
        sign, caption = self.length(SIGN), self.length(CAPTION)
        across, high = self._columns + self._rank + self._columns, self._rows
        wide = self.width() - 2 * sign - self.length(4)
        scale = min(wide / max(1, across), (self.height() - caption - self.length(4)) / max(1, high))
        left, top = (wide - across * scale) / 2 + self.length(2), self.length(2)
        rows, columns, rank = self._rows * scale, self._columns * scale, self._rank * scale
        kept = QRectF(left, top, columns, rows)
        second = QRectF(kept.right() + sign, top, rank, rows)
        first = QRectF(second.right() + sign, top + (rows - rank) / 2, columns, rank)
        return kept, second, first

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        if not self._rows:
            return
        kept, second, first = self.areas()
        theme, sign = self.theme, self.length(SIGN)
        painter.fillRect(kept, theme.line)
        for area in (second, first):
            least = self.length(1)
            painter.fillRect(
                QRectF(area.left(), area.top(), max(least, area.width()), max(least, area.height())),
                theme.accent,
            )
        for left, said in ((kept.right(), "+"), (second.right(), "·")):
            painter.write(QRectF(left, kept.top(), sign, kept.height()), said, theme.text, 14, where=CENTRED)
        self._caption(painter, kept, f"{count(self._rows)} × {count(self._columns)} stays", muted=True)
        self._caption(painter, second, f"{count(self._rows)} × {self._rank}")
        below = QRectF(first.left(), first.bottom(), first.width(), self.length(CAPTION))
        painter.write(below, f"{self._rank} × {count(self._columns)}", theme.accent, SIZE, where=CENTRED)

    def _caption(self, painter: Painter, area: QRectF, text: str, *, muted: bool = False) -> None:
        """A shape in the middle below an area, within the picture."""
        ink = self.theme.muted_text if muted else self.theme.accent
        wide = self.length(110)
        left = min(max(0.0, area.center().x() - wide / 2), self.width() - wide)
        below = QRectF(left, area.bottom(), wide, self.length(CAPTION))
        painter.write(below, text, ink, SIZE, where=CENTRED)
