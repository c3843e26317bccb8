"""The ways that numbers take through an unrolled network: up from layer to layer, and along the text."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QPainter

from lmviz.app.look.roles import Theme
from lmviz.app.widgets.base.canvas import Canvas
from lmviz.app.widgets.diagrams.unrolled_lines import (
    LAYER_GAP,
    draw_around,
    draw_head,
    draw_line,
    draw_ribbon,
)
from lmviz.app.widgets.diagrams.unrolled_places import UnrolledPlaces
from lmviz.app.widgets.diagrams.unrolled_reach import pair_of
from lmviz.app.widgets.diagrams.unrolled_values import BACKWARD, FORWARD, HEAD


def way_color(theme: Theme, direction: str, usual: QColor) -> QColor:
    """Blue from the left, orange from the right; where there is one direction, what is usual."""
    return {FORWARD: theme.query, BACKWARD: theme.key}.get(direction, usual)


@dataclass(frozen=True, eq=False)
class UnrolledLines:
    """Draws the lines of a cell on a canvas; those of the cell at `lit` (position, layer) are strong."""

    canvas: Canvas
    painter: QPainter
    places: UnrolledPlaces
    lit: tuple[int, int]

    def draw(self, position: int, layer: int) -> None:
        """The lines that lead to a cell, and those from it to the output or to both directions above."""
        canvas, painter, places = self.canvas, self.painter, self.places
        theme, top, gap = canvas.theme, len(places.layers) - 1, canvas.length(LAYER_GAP)
        cell, (base, summit) = places.cell(position, layer), pair_of(places.layers, layer)
        middle, lit = cell.center(), (position, layer) == self.lit
        below = places.cell(position, base - 1).top() if base else places.cell(position, base).bottom() + gap
        start, end = QPointF(middle.x(), below), QPointF(middle.x(), cell.bottom())
        if layer == base:
            draw_line(canvas, painter, self._color(layer, theme.query), lit, start, end)
        else:
            draw_around(canvas, painter, self._color(layer, theme.query), lit, start, end, cell.left())
        self._draw_recurrence(position, layer)
        out, above = QPointF(middle.x(), cell.top()), QPointF(middle.x(), 0)
        above.setY(places.cell(position, summit).top() - gap)
        if summit == top and not places.layers[layer].is_read(position):
            return
        if layer < summit:
            draw_around(canvas, painter, self._color(layer, theme.value), lit, out, above, cell.right())
        elif summit == top:
            draw_line(canvas, painter, self._color(layer, theme.value), False, out, above)

    def _draw_recurrence(self, position: int, layer: int) -> None:
        """The line from the state before: of the direction from right to left it is the one on the right."""
        canvas, painter, places = self.canvas, self.painter, self.places
        cell, drawn = places.cell(position, layer), places.layers[layer]
        way, middle, lit = drawn.direction, cell.center().y(), (position, layer) == self.lit
        stub = canvas.length(18)
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
            room = cell.height() - canvas.length(HEAD)
            draw_ribbon(canvas, painter, QPointF(before, middle), QPointF(here, middle), sizes, room)
            return
        ink = self._color(layer, canvas.theme.accent)
        draw_line(canvas, painter, ink, lit, QPointF(before, middle), QPointF(here, middle))
        if way:
            draw_head(canvas, painter, QPointF(here, middle), 1 if way == FORWARD else -1)

    def _draw_first_state(self, end: QPointF, *, lit: bool) -> None:
        """The line by which the picture enters a layer."""
        picture = self.places.picture
        start = QPointF(picture.right() + self.canvas.length(2), picture.center().y())
        draw_line(self.canvas, self.painter, self.canvas.theme.key, lit, start, end)
        if start.y() == end.y():
            draw_head(self.canvas, self.painter, end, 1)

    def _color(self, layer: int, usual: QColor) -> QColor:
        return way_color(self.canvas.theme, self.places.layers[layer].direction, usual)
