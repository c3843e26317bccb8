"""The base of pictures of a whole model: painted once, then pointed at number by number."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QImage, QPaintEvent, QPen, QPixmap, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.look.roles import Theme
from lmviz.app.widgets.base.growing_canvas import GrowingCanvas
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.kit.painter import Painter, photograph
from lmviz.app.widgets.kit.pointing import Pointed, Words
from lmviz.app.widgets.kit.rows import no_smaller
from lmviz.app.widgets.matrix.cells import Cells, color_table

LEAST_CELL = 5  # pixels of the frame around the cell under the pointer


@dataclass(frozen=True)
class Spot:
    """What is drawn at a place: its key, and in a matrix the cell; −1 for what is no number."""

    key: str
    row: int = -1
    column: int = -1


@dataclass(frozen=True, eq=False)
class Miniature:
    """A small matrix `values` (row, column), coloured on a scale of `lmviz.models.tap.SCALES`.

    `limit` is the value with the strongest colour: the largest there is, where it is None. `key` names it.
    """

    key: str
    values: np.ndarray
    scale: str = "signed"
    limit: float | None = None


@dataclass(frozen=True, eq=False)
class _Placed:
    """Something that answers to the pointer; `values` (row, column) are drawn in blocks of cells."""

    key: str
    area: QRectF
    values: np.ndarray | None = None
    block: tuple[int, int] = (1, 1)

    def spot_at(self, place: QPointF) -> Spot:
        """The cell at a place: of the cells that share a pixel the one whose colour is drawn."""
        if self.values is None:
            return Spot(self.key)
        rows, columns = self.values.shape
        row = self._first(place.y() - self.area.top(), self.area.height(), rows, self.block[0])
        column = self._first(place.x() - self.area.left(), self.area.width(), columns, self.block[1])
        shared = self.values[row : row + self.block[0], column : column + self.block[1]]
        sizes = np.where(np.isfinite(shared), np.abs(shared), -1.0)
        inside = np.unravel_index(int(sizes.argmax()), shared.shape)
        return Spot(self.key, row + int(inside[0]), column + int(inside[1]))

    def rectangle(self, spot: Spot) -> QRectF:
        """Where a cell is drawn; the whole where the spot has none."""
        if self.values is None or spot.row < 0:
            return self.area
        blocks = [-(-size // block) for size, block in zip(self.values.shape, self.block, strict=True)]
        height, width = self.area.height() / blocks[0], self.area.width() / blocks[1]
        left = self.area.left() + spot.column // self.block[1] * width
        return QRectF(left, self.area.top() + spot.row // self.block[0] * height, width, height)

    def has(self, spot: Spot) -> bool:
        """Whether the spot is in it."""
        if self.values is None or spot.row < 0:
            return self.values is None and spot.row < 0
        return spot.row < self.values.shape[0] and spot.column < self.values.shape[1]

    @staticmethod
    def _first(place: float, extent: float, count: int, block: int) -> int:
        blocks = -(-count // block)
        return min(max(int(place / extent * blocks), 0), blocks - 1) * block


class Picture(Pointed[Spot | None], GrowingCanvas):
    """Subclasses draw everything in `draw`, which is kept as a pixmap, and marks that move in `draw_over`.

    What `place` or `draw_miniature` was called for while drawing answers to the pointer. `redraw()` after
    anything that is drawn has changed. `set_readout(function)` gives the hover card's words for a spot.
    """

    nowhere = None
    takes_clicks = True
    least = (240, 120)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pixmap: QPixmap | None = None
        self._placed: list[_Placed] = []
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    @abstractmethod
    def draw(self, painter: Painter) -> None:
        """Draw everything, in the size that the widget has."""

    def draw_over(self, painter: Painter) -> None:
        """Draw what changes more often than the rest."""

    def index_at(self, place: QPointF) -> Spot | None:
        """What is drawn at a place; the last drawn where several are."""
        self._make()
        found = next((placed for placed in reversed(self._placed) if placed.area.contains(place)), None)
        return None if found is None else found.spot_at(place)

    def readout(self, index: Spot | None) -> Words | None:
        words = super().readout(index)
        return words if words is not None and words[0] else None

    def part_rectangle(self, index: Spot | None) -> QRectF | None:
        return None if index is None else self.rectangle(index)

    def rectangle(self, spot: Spot) -> QRectF:
        """Where a spot is drawn; empty where it is not."""
        self._make()
        found = next((placed for placed in self._placed if placed.key == spot.key), None)
        return QRectF() if found is None else found.rectangle(spot)

    def redraw(self) -> None:
        """Draw again before anything is shown or asked."""
        self._pixmap = None
        self.update()
        if self._hovered is not None:
            self._renew_hovered(self._hovered)

    def place(self, key: str, area: QRectF) -> None:
        """Let an area answer to the pointer."""
        self._placed.append(_Placed(key, QRectF(area)))

    def answer(self, miniature: Miniature, area: QRectF) -> None:
        """Let an area answer to the pointer as the cells of a matrix that is drawn otherwise."""
        self._placed.append(_Placed(miniature.key, QRectF(area), miniature.values))

    def draw_miniature(self, painter: Painter, miniature: Miniature, area: QRectF) -> None:
        """Draw a matrix; where cells outnumber pixels, each pixel has the strongest colour of its cells."""
        cells = Cells.of(miniature.values, miniature.scale, miniature.limit)
        ratio = self.devicePixelRatioF()
        rows, columns = miniature.values.shape
        block = (max(1, -(-rows // max(1, int(area.height() * ratio)))),
                 max(1, -(-columns // max(1, int(area.width() * ratio)))))  # fmt: skip
        levels = np.ascontiguousarray(cells.pooled(*block))  # row by row, as a picture is read
        pixels = _palette(self.theme, miniature.scale)[levels]  # (row, column) uint32
        height, width = pixels.shape
        image = QImage(pixels.data, width, height, 4 * width, QImage.Format.Format_RGB32)
        painter.drawImage(area, image, QRectF(image.rect()))
        self.frame(painter, area)
        self._placed.append(_Placed(miniature.key, QRectF(area), miniature.values, block))

    def frame(self, painter: Painter, area: QRectF) -> None:
        """A thin line around a miniature."""
        painter.box(area, edge=QPen(self.theme.line, 1))

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        painter.drawPixmap(0, 0, self._make())
        self.draw_over(painter)
        if self._hovered is not None:
            area = self.rectangle(self._hovered)
            frame = no_smaller(area, self.length(LEAST_CELL) if self._hovered.row >= 0 else 0)
            painter.box(frame.adjusted(0, -1, 0, 1), edge=self.theme.accent, width=1.6)
        self.draw_focus(painter)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._pixmap = None

    def adopt_theme(self) -> None:
        self._pixmap = None
        super().adopt_theme()

    def _make(self) -> QPixmap:
        """The picture as a pixmap, drawn where it is not there yet."""
        if self._pixmap is None:
            self._placed = []
            self._pixmap = photograph(self, self.theme, self.draw)
        return self._pixmap

    def _renew_hovered(self, spot: Spot) -> None:
        """Say anew what is under the pointer, which may be another number by now, or nothing."""
        self._make()
        placed = next((placed for placed in self._placed if placed.key == spot.key), None)
        if placed is None or not placed.has(spot):
            self._hovered = None
            HoverCard.leave(self)
        else:
            self.renew_card()


@lru_cache(maxsize=16)
def _palette(theme: Theme, scale: str) -> np.ndarray:
    """What the levels of a scale look like: (256,) uint32, as a picture has its pixels."""
    return np.array(color_table(theme, scale), dtype=np.uint32)
