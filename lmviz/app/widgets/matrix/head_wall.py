"""Hundreds of heads on one screen: layer by layer, or those with the highest score first."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QPaintEvent

from lmviz.app.widgets.base.figures import cell_figure
from lmviz.app.widgets.kit.painter import AT_RIGHT, CENTRED, Painter
from lmviz.app.widgets.matrix.heads import Head, Heads
from lmviz.base.counting import numbered

GAP, BETWEEN = 4, 26  # pixels at scale 1 between heads, and between blocks of layers
LABELS, HEADING, BELOW = 26, 18, 18  # for the numbers of layers, those of heads, and a score
LEAST, LEAST_SORTED, LARGEST = 14, 44, 96  # sides of a head
BADGE = 5.5  # the radius of a badge


@dataclass(frozen=True)
class _Places:
    """Where heads stand: (layer, head) to the upper left corner, the side of all, and the whole height."""

    corners: dict[Head, QPointF]
    side: float
    height: float

    @cached_property
    def ordered(self) -> list[tuple[Head, tuple[float, float]]]:
        """The heads with their corners as numbers, which are compared sooner than points of Qt's."""
        return [(head, corner.toTuple()) for head, corner in self.corners.items()]


class HeadWall(Heads):
    """`HeadWall()`: `set_heads(thumbnails, badges)`, thumbnails (layer, head, row, column) of shares.

    `badges` gives for a head a sign and the role of its colour in the theme. `sort_by(scores)` puts heads in
    the order of their scores (layer, head), the highest first, NaN last; None puts them back by layer. With
    `least` those that have less than such a part of the highest score are left out.
    `set_current(layer, head)` marks one. Signal: `head_clicked(int, int)`. By layer, all of them are in sight
    wherever the room allows: layers stand in as many blocks side by side as make heads largest. Sorted, they
    scroll. Arrow keys walk through layers and heads.
    """

    least = (240, LEAST)

    def __init__(self) -> None:
        super().__init__()
        self._badges: Mapping[Head, tuple[str, str]] = {}
        self._scores: np.ndarray | None = None
        self._least = 0.0
        self._known: tuple[tuple[float, ...], _Places] | None = None
        self.setAccessibleName("every head")

    def set_heads(
        self, thumbnails: np.ndarray, badges: Mapping[Head, tuple[str, str]], *, by_row: bool = False
    ) -> None:
        """Show other heads, by layer; with `by_row` the largest of each row has the strongest colour."""
        self._take(thumbnails, "share", by_row=by_row)
        self._badges = badges
        if self._scores is not None and self._scores.shape != thumbnails.shape[:2]:
            self._scores = None
        self._renew()

    def sort_by(self, scores: np.ndarray | None, least: float = 0.0) -> None:
        """Order heads by scores (layer, head), or by layer; leave out those with few."""
        self._scores, self._least = scores, least
        self._renew()

    def _describe(self) -> None:
        layer, head = self._current or (-1, -1)
        self.setAccessibleDescription(f"layer {numbered(layer)}, head {numbered(head)}" if layer >= 0 else "")

    def tile_rectangle(self, layer: int, head: int) -> QRectF:
        """Where a head is drawn."""
        places = self._places(self.width())
        corner = places.corners.get((layer, head))
        return QRectF() if corner is None else QRectF(corner.x(), corner.y(), places.side, places.side)

    def order(self) -> list[Head]:
        """The heads as they stand, row by row."""
        layers, heads = self._levels.shape[:2]
        every = [(layer, head) for layer in range(layers) for head in range(heads)]
        scores = self._scores
        if scores is None:
            return every
        if self._least > 0 and not np.isnan(scores).all():
            every = [at for at in every if scores[at] >= self._least * float(np.nanmax(scores))]
        return sorted(every, key=lambda at: -math.inf if np.isnan(scores[at]) else scores[at], reverse=True)

    def heightForWidth(self, width: int) -> int:
        return math.ceil(self._places(width).height)

    def sizeHint(self) -> QSize:
        return QSize(round(self.length(600)), self.heightForWidth(round(self.length(600))))

    def adopt_theme(self) -> None:
        self._known = None
        super().adopt_theme()

    def _renew(self) -> None:
        self._known = None
        self.updateGeometry()
        self.update()

    def _places(self, width: float) -> _Places:
        around = self.parentWidget()
        key = (float(width), float(0 if around is None else around.height()), self.theme.scale)
        if self._known is None or self._known[0] != key:
            arranged = self._by_layer(*key[:2]) if self._scores is None else self._sorted(width)
            self._known = key, arranged
        return self._known[1]

    def _by_layer(self, width: float, room: float) -> _Places:
        """Layers from top to bottom, in several blocks side by side."""
        layers, heads = self._levels.shape[:2]
        if not layers or not heads:
            return _Places({}, 0.0, 0.0)
        gap, labels, heading = self.length(GAP), self.length(LABELS), self.length(HEADING)
        found: list[tuple[float, int]] = []
        for blocks in range(1, layers + 1):
            wide = (width - (blocks - 1) * self.length(BETWEEN)) / blocks - labels
            high = (room - heading) / math.ceil(layers / blocks) if room else math.inf
            found.append((min(wide / heads - gap, high - gap), blocks))
        side, blocks = max(found, key=lambda each: (each[0], -each[1]))
        if side < self.length(LEAST):  # then they scroll, in as many blocks as stand side by side
            step = heads * (self.length(LEAST) + gap) + labels + self.length(BETWEEN)
            blocks = min(max(1, int((width + self.length(BETWEEN)) // step)), layers)
        side = min(max(side, self.length(LEAST)), self.length(LARGEST))
        rows = math.ceil(layers / blocks)
        step_x = labels + heads * (side + gap) + self.length(BETWEEN)
        corners = {
            (layer, head): QPointF(
                (layer // rows) * step_x + labels + head * (side + gap),
                heading + (layer % rows) * (side + gap),
            )
            for layer in range(layers)
            for head in range(heads)
        }
        return _Places(corners, side, heading + rows * (side + gap) - 1)

    def _sorted(self, width: float) -> _Places:
        """From left to right and from top to bottom, each with its number and its score below."""
        order, gap = self.order(), self.length(GAP + 6)
        across = max(1, int((width + gap) // (self.length(LEAST_SORTED) + gap)))
        side = min((width + gap) / across - gap, self.length(LARGEST))
        row = side + self.length(BELOW) + gap
        corners = {
            head: QPointF((at % across) * (side + gap), (at // across) * row) for at, head in enumerate(order)
        }
        return _Places(corners, side, math.ceil(len(order) / across) * row)

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        places = self._places(self.width())
        if not places.corners:
            return
        self._draw_numbers(painter, places)
        exposed = QRectF(event.rect()).adjusted(0, -self.length(BELOW), 0, 0)
        size = QSizeF(places.side, places.side)
        tiles = {head: QRectF(corner, size) for head, corner in places.corners.items()}
        tiles = {head: tile for head, tile in tiles.items() if tile.intersects(exposed)}
        self.draw_thumbnails(painter, tiles)
        for head, tile in tiles.items():
            self._draw_badge(painter, head, tile)
            self._draw_score(painter, head, tile)
        self.draw_marks(painter)
        self.draw_focus(painter)

    def _draw_numbers(self, painter: Painter, places: _Places) -> None:
        """The numbers of layers at the left of each block, and those of heads above it."""
        if self._scores is not None:
            return
        ink, labels, heading = self.theme.muted_text, self.length(LABELS), self.length(HEADING)
        lower = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom
        for (layer, head), corner in places.corners.items():
            if head == 0:
                place = QRectF(corner.x() - labels, corner.y(), labels - self.length(8), places.side)
                painter.write(place, str(numbered(layer)), ink, 11, where=AT_RIGHT)
            if corner.y() == heading:
                above = QRectF(corner.x(), 0, places.side, heading - self.length(3))
                painter.write(above, str(numbered(head)), ink, 11, where=lower)

    def _draw_badge(self, painter: Painter, head: Head, tile: QRectF) -> None:
        """A dot with a sign in the upper right corner."""
        if head not in self._badges:
            return
        sign, role = self._badges[head]
        radius = min(self.length(BADGE), tile.width() / 3)
        middle = tile.topRight() + QPointF(-radius, radius)
        painter.dot(middle, radius / self.theme.scale, QColor(getattr(self.theme, role)))
        around = QRectF(middle.x() - radius, middle.y() - radius, 2 * radius, 2 * radius)
        painter.write(around, sign, self.theme.surface, 8, where=CENTRED)

    def _draw_score(self, painter: Painter, head: Head, tile: QRectF) -> None:
        """The number of a head, its score, and the score as a line."""
        if self._scores is None:
            return
        score = float(self._scores[head])
        below = QRectF(tile.left(), tile.bottom() + 1, tile.width(), self.length(13))
        name, sides = f"{head[0] + 1}·{head[1] + 1}", Qt.AlignmentFlag
        painter.write(below, name, self.theme.text, 10, where=sides.AlignLeft)
        if np.isnan(score):
            return
        painter.write(below, cell_figure(score), self.theme.muted_text, where=sides.AlignRight)
        line = QRectF(below.left(), below.bottom() + 1, tile.width() * min(1.0, score), self.length(2.5))
        painter.fillRect(line, self.theme.accent)

    def index_at(self, place: QPointF) -> Head | None:
        places = self._places(self.width())
        side, x, y = places.side, place.x(), place.y()
        inside = (
            head
            for head, (left, top) in places.ordered
            if left <= x <= left + side and top <= y <= top + side
        )
        return next(inside, None)
