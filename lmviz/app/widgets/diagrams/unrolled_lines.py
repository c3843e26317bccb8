"""The lines of an unrolled network: up from layer to layer, along the text, and the heads of arrows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainterPath

from lmviz.app.look.color_maps import mix
from lmviz.app.look.roles import Theme
from lmviz.app.widgets.diagrams.unrolled_places import UnrolledPlaces
from lmviz.app.widgets.diagrams.unrolled_values import BACKWARD, FORWARD, HEAD, LAYER_GAP, pair_of
from lmviz.app.widgets.kit.painter import Painter

LIT, USUAL = 2.6, 1.4  # widths
PALE = 0.45
TIP = 8, 4  # the head of an arrow: how long it is, and half its width
RIBBON = 0.35  # how strong the colour of a gradient's ribbon is


def way_color(theme: Theme, direction: str, usual: QColor) -> QColor:
    """Blue from the left, orange from the right; where there is one direction, what is usual."""
    return {FORWARD: theme.query, BACKWARD: theme.key}.get(direction, usual)


@dataclass(frozen=True, eq=False)
class UnrolledLines:
    """Draws the lines of a cell; those of the cell at `lit` (position, layer) are strong."""

    painter: Painter
    places: UnrolledPlaces
    lit: tuple[int, int]

    def draw(self, position: int, layer: int) -> None:
        """The lines that lead to a cell, and those from it to the output or to both directions above."""
        painter, places, theme = self.painter, self.places, self.painter.theme
        top, gap = len(places.layers) - 1, LAYER_GAP * theme.scale
        cell, (base, summit) = places.cell(position, layer), pair_of(places.layers, layer)
        middle, lit = cell.center(), (position, layer) == self.lit
        below = places.cell(position, base - 1).top() if base else places.cell(position, base).bottom() + gap
        start, end = QPointF(middle.x(), below), QPointF(middle.x(), cell.bottom())
        if layer == base:
            draw_line(painter, self._color(layer, theme.query), lit, start, end)
        else:
            _draw_around(painter, self._color(layer, theme.query), lit, start, end, cell.left())
        self._draw_recurrence(position, layer)
        out, above = QPointF(middle.x(), cell.top()), QPointF(middle.x(), 0)
        above.setY(places.cell(position, summit).top() - gap)
        if summit == top and not places.layers[layer].is_read(position):
            return
        if layer < summit:
            _draw_around(painter, self._color(layer, theme.value), lit, out, above, cell.right())
        elif summit == top:
            draw_line(painter, self._color(layer, theme.value), False, out, above)

    def _draw_recurrence(self, position: int, layer: int) -> None:
        """The line from the state before: of the direction from right to left it is the one on the right."""
        painter, places, theme = self.painter, self.places, self.painter.theme
        cell, drawn = places.cell(position, layer), places.layers[layer]
        way, middle, lit = drawn.direction, cell.center().y(), (position, layer) == self.lit
        stub = 18 * theme.scale
        if way == BACKWARD:
            last = position == places.count - 1
            before = cell.right() + stub if last else places.cell(position + 1, layer).left()
            here = cell.right()
        else:
            if places.pixels and not position:
                self._draw_first_state(QPointF(cell.left(), middle), lit=lit)
                return
            before = places.cell(position - 1, layer).right() if position else cell.left() - stub
            here = cell.left()
        wave = drawn.wave
        if wave is not None:
            other = position + (1 if way == BACKWARD else -1)
            sizes = [float(wave[at]) if 0 <= at < len(wave) else 0.0 for at in (other, position)]
            room = cell.height() - HEAD * theme.scale
            _draw_ribbon(painter, QPointF(before, middle), QPointF(here, middle), sizes, room)
            return
        ink = self._color(layer, theme.accent)
        draw_line(painter, ink, lit, QPointF(before, middle), QPointF(here, middle))
        if way:
            ends = QPointF(before, middle), QPointF(here, middle)
            painter.head(*ends, _look(ink, lit)[0], *TIP)

    def _draw_first_state(self, end: QPointF, *, lit: bool) -> None:
        """The line by which the picture enters a layer."""
        picture = self.places.picture
        theme = self.painter.theme
        start = QPointF(picture.right() + 2 * theme.scale, picture.center().y())
        draw_line(self.painter, theme.key, lit, start, end)
        if start.y() == end.y():
            self.painter.head(start, end, _look(theme.key, lit)[0], *TIP)

    def _color(self, layer: int, usual: QColor) -> QColor:
        return way_color(self.painter.theme, self.places.layers[layer].direction, usual)


def draw_line(painter: Painter, color: QColor, lit: bool, start: QPointF, end: QPointF) -> None:
    """A straight line, which is strong where it leads to what is lit."""
    painter.line(start, end, *_look(color, lit))


def _draw_around(
    painter: Painter, color: QColor, lit: bool, start: QPointF, end: QPointF, side: float
) -> None:
    """A line that goes around a cell, past one of its sides."""
    scale = painter.theme.scale
    beyond = side + math.copysign(9 * scale, side - start.x())
    bend = LAYER_GAP * scale * 0.9
    path = QPainterPath(start)
    path.cubicTo(beyond, start.y() - 0.2 * bend, beyond, start.y(), beyond, start.y() - bend)
    path.lineTo(beyond, end.y() + bend)
    path.cubicTo(beyond, end.y(), beyond, end.y() + 0.2 * bend, end.x(), end.y())
    painter.stroke(path, *_look(color, lit))


def _draw_ribbon(painter: Painter, start: QPointF, end: QPointF, sizes: Sequence[float], room: float) -> None:
    """A gradient that goes back from `end` to `start`: as wide as its `sizes` there, up to `room`."""
    theme = painter.theme
    halves = [QPointF(0, max(0.4 * theme.scale, size * room / 2)) for size in sizes]
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(mix(theme.surface, theme.key, RIBBON))
    painter.drawPolygon([start - halves[0], end - halves[1], end + halves[1], start + halves[0]])
    if sizes[0] > 0:
        painter.head(end, start, theme.key, *TIP)


def _look(color: QColor, lit: bool) -> tuple[QColor, float]:
    """The colour of a line, and its width."""
    color = QColor(color)
    color.setAlphaF(1.0 if lit else PALE)
    return color, LIT if lit else USUAL
