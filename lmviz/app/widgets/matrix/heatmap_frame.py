"""The geometry of a heatmap's cells in the widget: fitted, square or stretched, zoomed and scrolled."""

from __future__ import annotations

import math
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF

LARGEST_SQUARE = 64
LARGEST_ZOOM_CELL = 96


@dataclass(frozen=True)
class HeatmapFrame:
    """The cells' area, and the size of a cell in it; `left` and `top` are how far one has scrolled."""

    area: QRectF
    rows: int
    columns: int
    cell_width: float
    cell_height: float
    left: float = 0.0
    top: float = 0.0

    @classmethod
    def fitted(
        cls, space: QRectF, rows: int, columns: int, *, square: bool, zoom: float, scale: float
    ) -> HeatmapFrame:
        """All cells in a space, or `zoom` times as large."""
        width = max(space.width(), 1.0) / max(columns, 1)
        height = max(space.height(), 1.0) / max(rows, 1)
        if square:
            width = height = min(width, height, LARGEST_SQUARE * scale)
        width, height = width * zoom, height * zoom
        area = QRectF(
            space.left(),
            space.top(),
            min(width * columns, space.width()),
            min(height * rows, space.height()),
        )
        return cls(area, rows, columns, width, height)

    def scrolled(self, left: float, top: float) -> HeatmapFrame:
        """The same, scrolled to a place of the whole picture, as far as there is one."""
        left = min(max(left, 0.0), max(0.0, self.cell_width * self.columns - self.area.width()))
        top = min(max(top, 0.0), max(0.0, self.cell_height * self.rows - self.area.height()))
        size = self.cell_width, self.cell_height
        return HeatmapFrame(self.area, self.rows, self.columns, *size, left, top)

    @property
    def shown_rows(self) -> range:
        """The rows of which something can be seen."""
        first = int(self.top / self.cell_height)
        return range(first, min(self.rows, math.ceil((self.top + self.area.height()) / self.cell_height)))

    @property
    def shown_columns(self) -> range:
        """The columns of which something can be seen."""
        first = int(self.left / self.cell_width)
        return range(first, min(self.columns, math.ceil((self.left + self.area.width()) / self.cell_width)))

    def cell(self, row: int, column: int) -> QRectF:
        """The place of one cell."""
        return self.cells(range(row, row + 1), range(column, column + 1))

    def cells(self, rows: range, columns: range) -> QRectF:
        """The place of a block of cells, which may reach beyond the area."""
        return QRectF(
            self.area.left() + columns.start * self.cell_width - self.left,
            self.area.top() + rows.start * self.cell_height - self.top,
            len(columns) * self.cell_width,
            len(rows) * self.cell_height,
        )

    def cell_at(self, place: QPointF) -> tuple[int, int] | None:
        """The row and column under a point."""
        if not self.area.contains(place):
            return None
        row = int((place.y() - self.area.top() + self.top) / self.cell_height)
        column = int((place.x() - self.area.left() + self.left) / self.cell_width)
        return min(row, self.rows - 1), min(column, self.columns - 1)
