"""Where the cells of an unrolled network stand, and what stands at a place."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

from PySide6.QtCore import QPointF, QRectF, QSizeF

from lmviz.app.widgets.diagrams.unrolled_values import (
    CELL_WIDTH,
    HEAD,
    LAYER_GAP,
    LETTER,
    MARGIN,
    ROW_GAP,
    STATE,
    UnrolledCell,
    UnrolledLayer,
    grid_of,
)

COLUMN = 104
EDGE, DIRECTED_EDGE = 34, 62
LABEL = 20
PIXEL = 9
PICTURE_GAP = 22


@dataclass(frozen=True, eq=False)
class UnrolledPlaces:
    """The places in a widget of a size, for so many words of which some are in sight.

    `scale` is how many pixels a length of 1 takes. `pixels` is how many the picture has of which the first
    states are made, and 0 where there is none.
    """

    layers: tuple[UnrolledLayer, ...] = ()
    count: int = 0
    in_sight: range = range(0)
    width: float = 0.0
    height: float = 0.0
    scale: float = 1.0
    pixels: int = 0

    @property
    def edge(self) -> float:
        """The width at the left, which names rows, or has the picture."""
        if self.pixels:
            return self.scale * (MARGIN + PIXEL * isqrt(self.pixels) + PICTURE_GAP)
        return self.scale * (DIRECTED_EDGE if any(layer.direction for layer in self.layers) else EDGE)

    @property
    def column(self) -> float:
        """The width of a position: where not all are in sight, those that are share what there is."""
        if len(self.in_sight) == self.count:
            return self.scale * COLUMN
        return (self.width - self.edge) / max(1, len(self.in_sight))

    @property
    def natural(self) -> QSizeF:
        """The size of everything, all positions in sight."""
        height = 2 * (LABEL + LAYER_GAP) + sum(self._height(layer) for layer in range(len(self.layers)))
        height += LAYER_GAP * max(0, len(self.layers) - 1)
        return QSizeF(self.edge + self.scale * max(1, self.count) * COLUMN, self.scale * height)

    @property
    def picture(self) -> QRectF:
        """Where the picture is drawn: halfway up the layers."""
        side = self.scale * PIXEL * isqrt(self.pixels)
        middle = (self.cell(0, 0).bottom() + self.cell(0, len(self.layers) - 1).top()) / 2
        return QRectF(self.scale * MARGIN, round(middle - side / 2), side, side)

    def column_start(self, position: int) -> float:
        """Where the column of a position begins."""
        return self.edge + (position - self.in_sight.start) * self.column

    def cell(self, position: int, layer: int) -> QRectF:
        """Where a cell is drawn."""
        middle = self.column_start(position) + self.column / 2
        above = sum(self._height(higher) + LAYER_GAP for higher in range(layer + 1, len(self.layers)))
        slack = max(0.0, (self.height - round(self.natural.height())) / 2)
        top = self.scale * (LABEL + LAYER_GAP + above) + slack
        width = self.scale * CELL_WIDTH
        return QRectF(middle - width / 2, top, width, self.scale * self._height(layer))

    def row(self, position: int, layer: int, row: int) -> QRectF:
        """Where one value of a cell is drawn."""
        cell, rows = self.cell(position, layer), self.layers[layer].rows
        above = sum(other.height + ROW_GAP for other in rows[:row])
        left = cell.left() + self.scale * (LETTER + 2)
        width = cell.right() - self.scale * MARGIN - left
        return QRectF(left, cell.top() + self.scale * (HEAD + above), width, self.scale * rows[row].height)

    def unit(self, cell: UnrolledCell) -> QRectF:
        """Where one number is drawn."""
        area = self.row(cell.position, cell.layer, cell.row)
        lines, columns = grid_of(self.layers[cell.layer].rows[cell.row])
        width, height = area.width() / columns, area.height() / lines
        left = area.left() + cell.unit % columns * width
        return QRectF(left, area.top() + cell.unit // columns * height, width, height)

    def at(self, place: QPointF) -> UnrolledCell | None:
        """The cell at a place, and the number in it; None where nothing stands."""
        position = self.in_sight.start + int((place.x() - self.edge) // self.column)
        if position not in self.in_sight:
            return None
        for layer, drawn in enumerate(self.layers):
            if not self.cell(position, layer).contains(place):
                continue
            for row, value in enumerate(drawn.rows):
                area = self.row(position, layer, row)
                if not area.contains(place):
                    continue
                lines, columns = grid_of(value)
                across = min(int((place.x() - area.left()) / area.width() * columns), columns - 1)
                down = min(int((place.y() - area.top()) / area.height() * lines), lines - 1)
                unit = down * columns + across
                return UnrolledCell(position, layer, row, unit if unit < value.values.shape[1] else -1)
            return UnrolledCell(position, layer)
        return None

    def has(self, cell: UnrolledCell) -> bool:
        """Whether there is such a cell, and such a number in it."""
        if cell.position >= self.count or cell.layer >= len(self.layers):
            return False
        rows = self.layers[cell.layer].rows
        return cell.row < 0 or (cell.row < len(rows) and cell.unit < rows[cell.row].values.shape[1])

    def _height(self, layer: int) -> int:
        return self.layers[layer].height if 0 <= layer < len(self.layers) else HEAD + STATE + MARGIN
