"""A matrix that stays and the product of two thin ones that is added to it, all drawn to one scale."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.canvas import Canvas, metrics, once
from lmviz.app.widgets.base.figures import count
from lmviz.app.widgets.kit.painter import CENTRED, Painter

SIGN, CAPTION, SIZE = 20, 18, 11.5
"""The room of a sign between two matrices, the height of a line below them, and the size of type."""
EDGE = 1e-6  # pixels: what is rounded


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
        (kept, second, first), scale = self._columns_and_scale()
        wide, thin, high = self._columns * scale, self._rank * scale, self._rows * scale
        top = self.length(2)
        return (
            QRectF(kept.center().x() - wide / 2, top, wide, high),
            QRectF(second.center().x() - thin / 2, top, thin, high),
            QRectF(first.center().x() - wide / 2, top + (high - thin) / 2, wide, thin),
        )

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        if not self._rows:
            return
        kept, second, first = areas = self.areas()
        theme, least = self.theme, self.length(1)
        painter.fillRect(kept, theme.line)
        for area in (second, first):
            wide, high = max(least, area.width()), max(least, area.height())
            painter.fillRect(QRectF(area.left(), area.top(), wide, high), theme.accent)
        for before, after, said in ((kept, second, "+"), (second, first, "·")):
            between = QRectF(0, kept.top(), self.length(SIGN), kept.height())
            between.moveLeft((before.right() + after.left() - between.width()) / 2)
            painter.write(between, said, theme.text, 14, where=CENTRED)
        columns, _ = self._columns_and_scale()
        inks = (theme.muted_text, theme.accent, theme.accent)
        for area, column, text, ink in zip(areas, columns, self._captions(), inks, strict=True):
            below = QRectF(column.left(), area.bottom(), column.width(), self.length(CAPTION))
            painter.fit(below, text, ink, SIZE, where=CENTRED)

    def _captions(self) -> tuple[str, str, str]:
        """What stands below W, B and A."""
        rows, columns = count(self._rows), count(self._columns)
        return f"{rows} × {columns} stays", f"{rows} × {self._rank}", f"{self._rank} × {columns}"

    @once
    def _columns_and_scale(self) -> tuple[tuple[QRectF, QRectF, QRectF], float]:
        """The columns of W, B and A, each as wide as its matrix and its caption need; and pixels for a row,
        as many as there is room for."""
        sign, edge = self.length(SIGN), self.length(4)
        room = max(1.0, self.width() - 2 * sign - edge)
        measure, across = metrics(SIZE), (self._columns, self._rank, self._columns)
        said = [measure.horizontalAdvance(text) + edge for text in self._captions()]
        said = [each * min(1.0, room / sum(said)) for each in said]
        scale = (self.height() - self.length(CAPTION) - edge) / max(1, self._rows)
        narrow: set[int] = set()  # whose captions are wider than they are
        while len(narrow) < len(across):
            wide = [place for place in range(len(across)) if place not in narrow]
            left = room - sum(said[place] for place in narrow)
            scale = min(scale, left / max(1, sum(across[place] for place in wide)))
            more = {place for place in wide if across[place] * scale < said[place] - EDGE}
            if not more:
                break
            narrow |= more
        needed = [max(own * scale, words) for own, words in zip(across, said, strict=True)]
        left = (self.width() - sum(needed) - 2 * sign) / 2
        kept = QRectF(left, 0, needed[0], self.height())
        second = QRectF(kept.right() + sign, 0, needed[1], self.height())
        first = QRectF(second.right() + sign, 0, needed[2], self.height())
        return (kept, second, first), scale
