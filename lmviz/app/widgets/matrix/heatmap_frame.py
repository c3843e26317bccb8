"""The geometry of a heatmap's cells in the widget, fitted or stretched, and what of it is in sight."""

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


class HeatmapSight:
    """Zoom and scroll; each change takes the frame that is in force, and `frame` gives the next one."""

    def __init__(self) -> None:
        self._zoom = 1.0
        self._scrolled = QPointF(0, 0)

    @property
    def zoom(self) -> float:
        """How many times larger than fitted the cells are."""
        return self._zoom

    def reset(self) -> None:
        """See all cells."""
        self._zoom, self._scrolled = 1.0, QPointF(0, 0)

    def frame(self, space: QRectF, rows: int, columns: int, *, square: bool, scale: float) -> HeatmapFrame:
        """Where cells stand that have so much space, at the theme's scale."""
        fitted = HeatmapFrame.fitted(space, rows, columns, square=square, zoom=self._zoom, scale=scale)
        return fitted.scrolled(self._scrolled.x(), self._scrolled.y())

    def zoom_about(self, frame: HeatmapFrame, place: QPointF, factor: float, scale: float) -> None:
        """Make cells larger, up to a comfortable size, and keep the one at a place where it is."""
        fitted = min(frame.cell_width, frame.cell_height) / self._zoom
        zoom = min(max(self._zoom * factor, 1.0), max(1.0, LARGEST_ZOOM_CELL * scale / fitted))
        inside = place - frame.area.topLeft()
        whole = (inside + QPointF(frame.left, frame.top)) * (zoom / self._zoom)
        self._zoom, self._scrolled = zoom, whole - inside

    def show(self, frame: HeatmapFrame, rows: range, columns: range) -> None:
        """Make a block of cells as large as the area has room for, and bring it into sight."""
        across = frame.area.width() / (len(columns) * frame.cell_width)
        down = frame.area.height() / (len(rows) * frame.cell_height)
        larger = max(1.0 / self._zoom, min(across, down))
        self._zoom *= larger
        self._scrolled = QPointF(
            columns.start * frame.cell_width * larger, rows.start * frame.cell_height * larger
        )

    def scroll(self, frame: HeatmapFrame, distance: QPointF) -> None:
        """Move the picture, as far as there is more of it."""
        moved = frame.scrolled(frame.left - distance.x(), frame.top - distance.y())
        self._scrolled = QPointF(moved.left, moved.top)

    def bring_into_sight(self, frame: HeatmapFrame, cell: tuple[int, int]) -> None:
        """Scroll just so far that a cell (row, column) is seen."""
        place, area = frame.cell(*cell), frame.area
        across = min(0.0, area.right() - place.right()) + max(0.0, area.left() - place.left())
        down = min(0.0, area.bottom() - place.bottom()) + max(0.0, area.top() - place.top())
        self.scroll(frame, QPointF(across, down))
