"""A grid whose cells have a colour for one number and a size for another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPaintEvent
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.kit.painter import AT_RIGHT, CENTRED, Painter
from lmviz.app.widgets.kit.pointing import ACROSS, Pointable
from lmviz.app.widgets.matrix.cells import Cells, color_table

LABEL, BELOW, GAP = 30, 20, 1.0
SMALLEST = 0.16
LIMIT = 34


class SizedCells(Pointable):
    """`SizedCells()`: `set_cells(values, sizes, rows, columns)`, (row, column) each, sizes from 0 to 1.

    A part is row × columns + column. `set_marks(first, second)` frames two of them, −1 for none.
    """

    usual, least = (460, 190), (220, 90)
    arrows, points_by_key = ACROSS, True
    takes_clicks = True

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._values = self._sizes = np.zeros((0, 0))
        self._rows: tuple[str, ...] = ()
        self._columns: tuple[str, ...] = ()
        self._names = ("", "")
        self._marks = (-1, -1)
        self.setAccessibleName("effects")

    def set_cells(
        self,
        values: np.ndarray,
        sizes: np.ndarray,
        rows: Sequence[str],
        columns: Sequence[str],
        names: tuple[str, str] = ("", ""),
    ) -> None:
        """Show other cells; `names` are what rows and columns are."""
        self._values, self._sizes = np.asarray(values), np.clip(np.asarray(sizes), 0, 1)
        self._rows, self._columns, self._names = tuple(rows), tuple(columns), names
        self.show_count(self._values.size)
        self.draw_again()

    def set_marks(self, first: int, second: int) -> None:
        """Frame two cells."""
        if (first, second) != self._marks:
            self._marks = (first, second)
            self.update()

    def description(self) -> str:
        return f"{len(self._rows)} × {len(self._columns)} cells"

    @property
    def _cell(self) -> tuple[float, float]:
        rows, columns = self._values.shape
        wide = (self.width() - self.length(LABEL)) / max(1, columns)
        high = (self.height() - self.length(BELOW)) / max(1, rows)
        limit = self.length(LIMIT)
        return min(wide, 2 * limit), min(high, limit)

    def part_rectangle(self, index: int) -> QRectF:
        row, column = divmod(index, max(1, self._values.shape[1]))
        wide, high = self._cell
        return QRectF(self.length(LABEL) + column * wide, row * high, wide, high)

    def index_at(self, place: QPointF) -> int:
        wide, high = self._cell
        rows, columns = self._values.shape
        column, row = int((place.x() - self.length(LABEL)) // wide), int(place.y() // high)
        inside = 0 <= row < rows and 0 <= column < columns
        return row * columns + column if inside else -1

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        if not self._values.size:
            return
        theme = self.theme
        cells = Cells.of(self._values, "signed")
        levels, colors = cells.levels, color_table(theme, "signed")
        ground = QColor(theme.hover)
        wide, high = self._cell
        for index in range(self._values.size):
            row, column = divmod(index, self._values.shape[1])
            area = self.part_rectangle(index)
            painter.box(area.adjusted(GAP, GAP, -GAP, -GAP), ground)
            share = SMALLEST + (1 - SMALLEST) * float(self._sizes[row, column])
            side = min(area.width(), area.height()) * share - 2 * GAP
            middle = area.center()
            square = QRectF(middle.x() - side / 2, middle.y() - side / 2, side, side)
            if abs(self._values[row, column]) > 0.02 * cells.limit:
                painter.box(square, QColor.fromRgb(int(colors[int(levels[row, column])])), radius=2)
        for index, ink in zip(self._marks, (theme.accent, theme.text), strict=True):
            if 0 <= index < self._values.size:
                painter.box(self.part_rectangle(index).adjusted(1, 1, -1, -1), None, ink, 2.0, radius=3)
        if 0 <= self.hovered < self._values.size:
            painter.box(self.part_rectangle(self.hovered), None, theme.muted_text, 1.0, radius=3)
        self._draw_labels(painter, wide, high)
        self.draw_focus(painter)

    def _draw_labels(self, painter: Painter, wide: float, high: float) -> None:
        muted, left = self.theme.muted_text, self.length(LABEL)
        every = max(1, int(np.ceil(self.length(12) / high)))
        for row, label in enumerate(self._rows):
            if row % every == 0:
                painter.write(
                    QRectF(0, row * high, left - self.length(6), high), label, muted, 10, where=AT_RIGHT
                )
        bottom = len(self._rows) * high
        every = max(1, int(np.ceil(self.length(24) / wide)))
        for column, label in enumerate(self._columns):
            if column % every == 0:
                area = QRectF(left + column * wide, bottom, wide, self.length(BELOW))
                painter.write(area, label, muted, 10, where=CENTRED)
        painter.write(
            QRectF(0, bottom, left - self.length(6), self.length(BELOW)),
            self._names[0],
            muted,
            10,
            where=AT_RIGHT,
        )
