"""A thumbnail of attention for each layer and head, one of them chosen."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPaintEvent

from lmviz.app.widgets.kit.painter import AT_RIGHT, CENTRED, Painter
from lmviz.app.widgets.kit.pointing import CONFIRMING
from lmviz.app.widgets.matrix.heads import Head, Heads
from lmviz.base.counting import numbered

LARGEST_TILE = 96
SMALLEST_TILE = 20
BADGE_FROM = 40
BADGE = 18
GAP = 6
LABELS = 22
HEADING = 16
KEPT = 50  # arrangements for other sizes
BETWEEN = 12  # pixels at scale 1 between two blocks of layers


class HeadMosaic(Heads):
    """`HeadMosaic()`: `set_heads(thumbnails, badges)`, thumbnails (layer, head, row, column) of shares.

    `set_current(layer, head)` marks the chosen head, `set_chosen(heads)` several, `set_faded(heads)`
    those that are switched off; `set_hovered(head)` from outside.
    Signals: `head_hovered(int, int)` (−1, −1 on leaving), `head_clicked(int, int)`,
    `head_toggled(int, int)` (Ctrl+click, to choose several), `head_double_clicked(int, int)` (solo).
    `set_readout(function)` gives the hover card's words for a head.
    Arrow keys walk, Enter is a double click. Heads are as wide as there is room, and somewhat smaller where
    all of them then fit; otherwise it is as high as they need: place it in a scroll area. They are larger
    than usual only where all of them fit then, too. Where the room is wide, layers stand in several blocks
    side by side.
    """

    head_hovered = Signal(int, int)
    head_toggled = Signal(int, int)
    head_double_clicked = Signal(int, int)

    def __init__(self) -> None:
        super().__init__()
        self._badges: tuple[tuple[str, ...], ...] = ()
        self._has_badges = False
        self._arrangements: dict[tuple[float, ...], tuple[float, int]] = {}
        self._chosen: frozenset[Head] = frozenset()
        self._faded: frozenset[Head] = frozenset()
        self.setAccessibleName("all heads")

    def set_heads(
        self,
        thumbnails: np.ndarray,
        badges: Sequence[Sequence[str]] = (),
        scale: str = "share",
        *,
        by_row: bool = False,
    ) -> None:
        """Show thumbnails (layer, head, row, column) and a word or "" for each (layer, head).

        With the scale "signed" all of them have one limit, their largest size; with `by_row` the largest of
        each row has the strongest colour.
        """
        before = self.grid, self._has_badges
        if thumbnails.shape[:2] != self._levels.shape[:2]:
            self._current = self._hovered = None
            self._chosen = self._faded = frozenset()
        self._take(thumbnails, scale, by_row=by_row)
        self._badges = tuple(tuple(row) for row in badges)
        self._has_badges = any(map(any, self._badges))
        self.renew_card()
        self._describe()
        if (self.grid, self._has_badges) != before:  # as many heads have the same room
            self.updateGeometry()
        self.update()

    @property
    def grid(self) -> tuple[int, int]:
        """The numbers of layers and heads."""
        layers, heads = self._levels.shape[:2]
        return layers, heads

    def set_chosen(self, heads: Collection[Head]) -> None:
        """Mark several heads, such as those that are averaged."""
        self._chosen = frozenset(heads)
        self.update()

    def set_faded(self, heads: Collection[Head]) -> None:
        """Heads that are switched off are dimmed and crossed out."""
        self._faded = frozenset(heads)
        self.update()

    @property
    def faded(self) -> frozenset[Head]:
        """The heads that are crossed out."""
        return self._faded

    def set_hovered(self, head: Head | None) -> None:
        """Show a head as hovered elsewhere, without a signal."""
        for changed in (head, self._hovered) if head != self._hovered else ():
            if changed is not None:
                self.update(self.tile_rectangle(*changed).adjusted(-3, -3, 3, 3).toAlignedRect())
        self._hovered = head

    def pointed_at(self, index: Head | None) -> None:
        self.head_hovered.emit(*(index or (-1, -1)))

    def tile_rectangle(self, layer: int, head: int) -> QRectF:
        """Where a head is drawn."""
        return self._tile(layer, head, *self._arranged(self.width()))

    def _tile(self, layer: int, head: int, side: float, layers: int) -> QRectF:
        """The same, where the size of heads is known, and how many layers a block has."""
        block, below = divmod(layer, layers)
        left = block * (self._block_width(side) + self.length(BETWEEN)) + self.length(LABELS)
        top = self.length(HEADING) + below * self._row(side)
        return QRectF(left + head * (side + self.length(GAP)), top, side, side)

    def _block_width(self, side: float) -> float:
        return self.length(LABELS) + self._levels.shape[1] * (side + self.length(GAP))

    def _arranged(self, width: float) -> tuple[float, int]:
        """The side of a head, and how many layers stand below one another in a block."""
        circumstances = (width, self._room(), self.theme.scale, self._has_badges, *self._levels.shape[:2])
        if circumstances not in self._arrangements:  # a paint asks for each head
            if len(self._arrangements) > KEPT:
                self._arrangements.clear()
            self._arrangements[circumstances] = self._arrange(width)
        return self._arrangements[circumstances]

    def _arrange(self, width: float) -> tuple[float, int]:
        (layers, heads), room = self._levels.shape[:2], self._room()
        side, high = self._side(width), max(1, layers)
        for blocks in range(2, layers + 1 if room > 0 and heads else 2):
            in_block = math.ceil(layers / blocks)
            wide = (width - (blocks - 1) * self.length(BETWEEN)) / blocks - self.length(LABELS)
            below = room / in_block - self.length(BADGE if self._has_badges else GAP) - 0.01
            larger = min(wide / heads - self.length(GAP), below, self.length(LARGEST_TILE))
            scrolls = self._row(side) * high > room
            if larger >= self.length(SMALLEST_TILE) and (larger > side or scrolls):
                side, high = larger, in_block
        return side, high

    def _room(self) -> float:
        """The height in which all heads would be in sight; 0 while that is not known."""
        around = self.parentWidget()
        return 0.0 if around is None else around.height() - self.length(HEADING)

    def heightForWidth(self, width: int) -> int:
        side, layers = self._arranged(width)
        return round(self.length(HEADING) + self._row(side) * layers) if self._levels.shape[0] else 0

    def sizeHint(self) -> QSize:
        width = self.length(LABELS) + self._levels.shape[1] * self.length(LARGEST_TILE + GAP)
        return QSize(round(width), self.heightForWidth(round(width)))

    def minimumSizeHint(self) -> QSize:
        width = self.length(LABELS) + self._levels.shape[1] * self.length(SMALLEST_TILE + GAP)
        return QSize(round(width), round(self.length(SMALLEST_TILE)))

    def _side(self, width: float) -> float:
        heads = max(1, self._levels.shape[1])
        fitting = (width - self.length(LABELS)) / heads - self.length(GAP)
        side = max(fitting, self.length(SMALLEST_TILE))
        return self._fitted(min(side, max(self.length(LARGEST_TILE), self._high_enough())))

    def _high_enough(self) -> float:
        """The side with which all layers just fill the room there is; 0 while there is none."""
        room, layers = self._room(), self._levels.shape[0]
        if room <= 0 or not layers:
            return 0.0
        return room / layers - self.length(BADGE if self._has_badges else GAP) - 0.01

    def _fitted(self, side: float) -> float:
        """So much smaller that all layers are in sight, where that leaves heads large enough."""
        layers, room = self._levels.shape[0], self._room()
        if not layers or self._row(side) * layers <= room:
            return side
        for below, least in ((BADGE if self._has_badges else GAP, BADGE_FROM), (GAP, SMALLEST_TILE)):
            fitted = room / layers - self.length(below) - 0.01
            if fitted >= self.length(least):
                return min(side, fitted)
        return side

    def _row(self, side: float) -> float:
        named = side >= self.length(BADGE_FROM) and self._has_badges
        return side + self.length(BADGE if named else GAP)

    def _describe(self) -> None:
        layers, heads = self._levels.shape[:2]
        text = f"{layers} layers, {heads} heads"
        if self._current is not None:
            text = f"layer {self._current[0] + 1}, head {self._current[1] + 1} {self._badge(self._current)}"
        self.setAccessibleDescription(text.strip())

    def _badge(self, head: Head) -> str:
        return self._badges[head[0]][head[1]] if self._badges else ""

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        layers, heads = self._levels.shape[:2]
        if not layers or not heads:
            return
        exposed, (side, high) = QRectF(event.rect()), self._arranged(self.width())
        row, heading = self._row(side), self.length(HEADING)
        first, last = int((exposed.top() - heading) / row), int((exposed.bottom() - heading) / row)
        shown = [layer for layer in range(layers) if first <= layer % high <= last]
        self._draw_tiles(painter, shown, exposed)
        for layer in shown:
            self._draw_words(painter, layer)
        if exposed.top() < heading:
            self._draw_numbers(painter, range(0, layers, high))
        self.draw_marks(painter, self._chosen)
        self.draw_focus(painter)

    def _draw_numbers(self, painter: Painter, layers: Sequence[int]) -> None:
        """The numbers of heads above each block, whose first layers these are."""
        for layer in layers:
            for head in range(self._levels.shape[1]):
                tile = self.tile_rectangle(layer, head)
                above = QRectF(tile.left(), 0, tile.width(), self.length(HEADING - 2))
                painter.write(above, str(numbered(head)), self.theme.muted_text, 10.5, where=CENTRED)

    def _draw_tiles(self, painter: Painter, shown: Sequence[int], exposed: QRectF) -> None:
        side, high = self._arranged(self.width())
        shown_heads = ((layer, head) for layer in shown for head in range(self._levels.shape[1]))
        tiles = {head: self._tile(*head, side, high) for head in shown_heads}
        tiles = {head: tile for head, tile in tiles.items() if tile.intersects(exposed)}
        self.draw_thumbnails(painter, tiles)
        veil = QColor(self.theme.surface)
        veil.setAlphaF(0.7)
        for layer, head in self._faded:
            tile = self.tile_rectangle(layer, head)
            painter.fillRect(tile, veil)
            painter.line(tile.bottomLeft(), tile.topRight(), self.theme.muted_text, 1.2)

    def _draw_words(self, painter: Painter, layer: int) -> None:
        side, _ = self._arranged(self.width())
        tile = self.tile_rectangle(layer, 0)
        place = QRectF(tile.left() - self.length(LABELS), tile.top(), self.length(LABELS - 10), side)
        painter.write(place, str(numbered(layer)), self.theme.muted_text, 11, where=AT_RIGHT)
        if side < self.length(BADGE_FROM) or not self._badges:
            return
        painter.setFont(self.theme.font(10.5))
        for head in range(self._levels.shape[1]):
            tile = self.tile_rectangle(layer, head)
            below = QRectF(tile.left(), tile.bottom() + 1, side + self.length(GAP), self.length(BADGE - 4))
            painter.write(below, self._badge((layer, head)))

    def index_at(self, place: QPointF) -> Head | None:
        layers, heads = self._levels.shape[:2]
        side, high = self._arranged(self.width())
        block, across = divmod(place.x(), self._block_width(side) + self.length(BETWEEN))
        layer = int(block) * high + int((place.y() - self.length(HEADING)) // self._row(side))
        head = int((across - self.length(LABELS)) // (side + self.length(GAP)))
        inside = 0 <= layer < layers and 0 <= head < heads
        return (layer, head) if inside and self.tile_rectangle(layer, head).contains(place) else None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        head = self.index_at(event.position())
        if head is None:
            return
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.head_toggled.emit(*head)
        else:
            self.clicked_on(head)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        head = self.index_at(event.position())
        if head is not None:
            self.head_double_clicked.emit(*head)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in CONFIRMING and self._current is not None:
            self.head_double_clicked.emit(*self._current)
        else:
            super().keyPressEvent(event)
