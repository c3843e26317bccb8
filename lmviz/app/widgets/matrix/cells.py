"""Numbers as an image of coloured cells, reduced to the resolution of the screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from PySide6.QtGui import QColor, QImage, qRgb

from lmviz.app.look.roles import Theme

MASKED = 0
MIDDLE = 128
ONE_SIDED = ("share", "count")


@dataclass(frozen=True, eq=False)
class Cells:
    """A matrix (row, column) of numbers on a scale of `lmviz.models.tap.SCALES`.

    `limit` is the value with the strongest colour. Where `floor` is not 0, colours of shares and counts go by
    the logarithm, from that value on. With `by_row` the largest size of each row has the strongest colour.
    −∞ and NaN are masked cells, without a colour.
    """

    values: np.ndarray
    scale: str
    limit: float
    floor: float = 0.0
    by_row: bool = False

    @classmethod
    def of(
        cls,
        values: np.ndarray,
        scale: str,
        limit: float | None = None,
        floor: float = 0.0,
        *,
        by_row: bool = False,
    ) -> Cells:
        """Take a matrix; the limit is 1 for shares, and otherwise the largest size there is."""
        values = np.asarray(values)
        if values.dtype.kind != "f":
            values = values.astype(np.float32)
        return cls(values, scale, limit or (1.0 if scale == "share" else _largest(values)), floor, by_row)

    @property
    def one_sided(self) -> bool:
        """Whether the scale begins at zero."""
        return self.scale in ONE_SIDED

    @cached_property
    def masked(self) -> np.ndarray:
        """(row, column) bool: cells without a number to colour."""
        return ~(self.values > -np.inf)

    @cached_property
    def levels(self) -> np.ndarray:
        """(row, column) uint8: 0 where masked, else 1 to 255 along the colour map, 128 its middle."""
        if self.by_row:
            ratio = self.values / _largest_of_rows(self.values)
        else:
            ratio = self.values / self.limit if not self.floor else self._logarithms()
        np.clip(ratio, 0 if self.one_sided else -1, 1, out=ratio)
        ratio *= 254 if self.one_sided else 127
        ratio += 1.5 if self.one_sided else MIDDLE + 0.5
        if self.masked.any():
            ratio[self.masked] = MASKED
        return ratio.astype(np.uint8)

    def _logarithms(self) -> np.ndarray:
        """0 at the floor and below, 1 at the limit."""
        return np.log(np.maximum(self.values, self.floor) / self.floor) / np.log(self.limit / self.floor)

    def pooled(self, rows: int, columns: int) -> np.ndarray:
        """Levels of blocks of rows × columns cells: of each block the one with the strongest colour."""
        if rows == columns == 1:
            return self.levels
        if self.one_sided:
            return _reduce(_reduce(self.levels, rows, 0, np.maximum), columns, 1, np.maximum)
        centred = (self.levels - np.uint8(MIDDLE)).view(np.int8)
        if self.masked.any():
            centred = np.where(self.masked, np.int8(0), centred)
        high = _reduce(_reduce(centred, rows, 0, np.maximum), columns, 1, np.maximum)
        low = _reduce(_reduce(centred, rows, 0, np.minimum), columns, 1, np.minimum)
        pooled = np.where(high >= -low, high, low).view(np.uint8) + np.uint8(MIDDLE)
        if self.masked.any():
            whole = _reduce(_reduce(self.masked, rows, 0, np.logical_and), columns, 1, np.logical_and)
            pooled[whole] = MASKED
        return pooled


def _largest(values: np.ndarray) -> float:
    finite = np.isfinite(values)
    sizes = values if finite.all() else values[finite]
    return float(max(sizes.max(initial=0), -sizes.min(initial=0))) or 1.0


def _largest_of_rows(values: np.ndarray) -> np.ndarray:
    """The largest size in each row, as a column; 1 for a row of zeros or without a number."""
    sizes = np.where(np.isfinite(values), np.abs(values), 0).max(axis=1, keepdims=True, initial=0)
    return np.where(sizes > 0, sizes, 1).astype(values.dtype)


def _reduce(levels: np.ndarray, size: int, axis: int, operation: np.ufunc) -> np.ndarray:
    """Combine each `size` neighbours along an axis; strided slices are far quicker than a reshape."""
    if size == 1:
        return levels
    across = levels.swapaxes(0, axis)
    reduced = across[::size].copy()
    for offset in range(1, size):
        part = across[offset::size]
        operation(reduced[: len(part)], part, out=reduced[: len(part)])
    return reduced.swapaxes(0, axis)


@lru_cache(maxsize=16)
def color_table(theme: Theme, scale: str) -> tuple[int, ...]:
    """What the 256 levels look like: the background for masked cells, then the colour map."""
    places = np.round(np.linspace(0, 255, 255)).astype(int)
    rows = theme.map_of(scale)[places, :3].tolist()
    return (theme.background.rgb(), *(qRgb(*row) for row in rows))


def cell_image(levels: np.ndarray, table: Sequence[int]) -> QImage:
    """Levels (row, column) as a picture of one pixel per cell."""
    # In the screen's own format, which is quicker to draw again and again.
    return _copied(levels, table, QImage.Format.Format_RGB32)


def _copied(levels: np.ndarray, table: Sequence[int], form: QImage.Format) -> QImage:
    """Levels (row, column) uint8 in the colours of a table, as an image that owns its pixels."""
    levels = np.ascontiguousarray(levels)
    rows, columns = levels.shape
    image = QImage(levels.data, columns, rows, columns, QImage.Format.Format_Indexed8)
    image.setColorTable(table)
    return image.convertToFormat(form)


@lru_cache(maxsize=16)
def ink_table(theme: Theme, scale: str) -> tuple[QColor, ...]:
    """The colour of text on each level."""
    return tuple(theme.on(QColor.fromRgb(color)) for color in color_table(theme, scale))


FADES = (0.62, 0.45, 0.25, 0.0)
"""How much of the background covers a cell of strength 0, 1, 2 and 3."""
LIT, WITH_IT = 3, 2
"""The strengths of the cell under the pointer, and of its row and its column."""


class CrossVeil:
    """What is drawn over the cells of some rows and columns while one is pointed at: it fades all but its row
    and its column.

    The pixels are kept, so that a move of the pointer changes two rows and two columns of them.
    """

    def __init__(self, rows: range, columns: range, theme: Theme) -> None:
        self.rows, self.columns = rows, columns
        inks = veil(np.arange(len(FADES))[None, :], theme)
        self._inks = np.frombuffer(inks.constBits(), dtype=np.uint32).copy()
        self._pixels = np.full((len(rows), len(columns)), self._inks[0])
        self._cell: tuple[int, int] | None = None

    def over(self, cell: tuple[int, int]) -> QImage:
        """The picture for a cell, one pixel for each; it holds until that for another one is asked for."""
        if self._cell is not None:
            self._cross(self._cell, *self._inks[[0, 0]])
        self._cell = cell
        self._cross(cell, *self._inks[[WITH_IT, LIT]])
        high, wide = self._pixels.shape
        return QImage(self._pixels.data, wide, high, 4 * wide, QImage.Format.Format_ARGB32_Premultiplied)

    def _cross(self, cell: tuple[int, int], along: np.uint32, own: np.uint32) -> None:
        """Give a row, a column and the cell where both meet their colours, as far as they are in sight."""
        if cell[0] in self.rows:
            self._pixels[cell[0] - self.rows.start] = along
        if cell[1] in self.columns:
            self._pixels[:, cell[1] - self.columns.start] = along
        if cell[0] in self.rows and cell[1] in self.columns:
            self._pixels[cell[0] - self.rows.start, cell[1] - self.columns.start] = own


def veil(strengths: np.ndarray, theme: Theme) -> QImage:
    """Strengths (row, column) from 0 to 3 as a picture of one pixel per cell, to be drawn over them."""
    covering, table = QColor(theme.surface), []
    for share in FADES:
        covering.setAlphaF(share)
        table.append(covering.rgba())
    return _copied(strengths.astype(np.uint8), table, QImage.Format.Format_ARGB32_Premultiplied)
