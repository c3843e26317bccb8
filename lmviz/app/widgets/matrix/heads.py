"""The base of pictures of heads, each a thumbnail of its attention, one of them chosen."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping

import numpy as np
from PySide6.QtCore import QRect, QRectF, Qt, Signal
from PySide6.QtGui import QImage, QKeyEvent

from lmviz.app.widgets.kit.lines import HighAsWide
from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.widgets.kit.pointing import ARROWS, Pointed, Words, step
from lmviz.app.widgets.matrix.cells import Cells, cell_image, color_table

Head = tuple[int, int]
"""A layer and a head of it."""


class Heads(Pointed[Head | None], HighAsWide):
    """`set_readout(function)` gives the hover card's words for (layer, head). Arrow keys walk, as clicks do.

    Signal: `head_clicked(int, int)`. The height follows from the width.
    """

    head_clicked = Signal(int, int)
    nowhere = None

    def __init__(self) -> None:
        super().__init__()
        self._levels: np.ndarray = np.zeros((0, 0, 1, 1), dtype=np.uint8)  # (layer, head, row, column)
        self._scale = "share"
        self._image: QImage | None = None
        self._current: Head | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    @abstractmethod
    def tile_rectangle(self, layer: int, head: int) -> QRectF:
        """Where a head is drawn."""

    def set_current(self, layer: int, head: int) -> None:
        """Mark a head of those that are drawn; any other, such as one of another model, is none."""
        layers, heads = self._levels.shape[:2]
        self._current = (layer, head) if 0 <= layer < layers and 0 <= head < heads else None
        self._describe()
        self.update()

    @abstractmethod
    def _describe(self) -> None:
        """Say which head is marked, to those who do not see it."""

    def _take(self, thumbnails: np.ndarray, scale: str, *, by_row: bool = False) -> None:
        """Show thumbnails (layer, head, row, column); with the scale "signed" all have their largest size.

        With `by_row` the largest of each row has the strongest colour.
        """
        layers, heads, rows, columns = thumbnails.shape
        cells = Cells.of(thumbnails.reshape(layers * heads * rows, columns), scale, by_row=by_row)
        self._levels, self._scale, self._image = cells.levels.reshape(thumbnails.shape), scale, None

    def adopt_theme(self) -> None:
        self._image = None
        super().adopt_theme()

    def draw_thumbnails(self, painter: Painter, tiles: Mapping[Head, QRectF]) -> None:
        """Draw those of some heads out of one picture, which is kept until they or the theme change."""
        layers, heads, rows, columns = self._levels.shape
        if self._image is None:
            joined = self._levels.swapaxes(1, 2).reshape(layers * rows, heads * columns)
            self._image = cell_image(joined, color_table(self.theme, self._scale))
        for (layer, head), tile in tiles.items():
            smooth = tile.width() * self.devicePixelRatioF() < rows
            painter.setRenderHint(Painter.RenderHint.SmoothPixmapTransform, smooth)
            painter.draw_part(tile, self._image, QRect(head * columns, layer * rows, columns, rows))
            painter.box(tile, edge=self.theme.line)

    def draw_marks(self, painter: Painter, chosen: Collection[Head] = ()) -> None:
        """Frame several chosen heads, the one under the pointer, and the marked one."""
        accent = self.theme.accent
        last = (self._hovered, self.theme.text, 1.2), (self._current, accent, 2.6)
        for head, color, width in (*((head, accent, 1.5) for head in chosen), *last):
            tile = QRectF() if head is None else self.tile_rectangle(*head)
            if not tile.isEmpty():
                radius = 2 / self.theme.scale
                painter.box(tile.adjusted(-1, -1, 1, 1), edge=color, width=width, radius=radius)

    def readout(self, index: Head | None) -> Words | None:
        return None if self._readout is None or index is None else self._readout(*index)

    def part_rectangle(self, index: Head | None) -> QRectF | None:
        return None if index is None else self.tile_rectangle(*index)

    def clicked_on(self, index: Head | None) -> None:
        if index is not None:
            self.set_current(*index)
            self.head_clicked.emit(*index)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        layers, heads = self._levels.shape[:2]
        if event.key() in ARROWS and layers and heads:
            self.clicked_on(step(self._current, event.key(), layers, heads) if self._current else (0, 0))
        else:
            super().keyPressEvent(event)
