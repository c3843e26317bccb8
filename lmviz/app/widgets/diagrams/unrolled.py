"""A recurrent network unrolled over its text: one column a position, the same weights in each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QImage, QKeyEvent, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy

from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.widgets.base.growing_canvas import GrowingCanvas, growth_in
from lmviz.app.widgets.base.pixels import draw_pixels
from lmviz.app.widgets.base.words_in_sight import words_in_sight
from lmviz.app.widgets.diagrams.unrolled_lines import UnrolledLines, draw_line, way_color
from lmviz.app.widgets.diagrams.unrolled_places import COLUMN, LABEL, PIXEL, UnrolledPlaces
from lmviz.app.widgets.diagrams.unrolled_values import (
    BACKWARD,
    FORWARD,
    LAYER_GAP,
    UnrolledCell,
    UnrolledLayer,
    grid_of,
    is_reached,
    pair_of,
)
from lmviz.app.widgets.kit.painter import CENTRED, Painter, cut
from lmviz.app.widgets.kit.pointing import ARROWS, Pointed, Words
from lmviz.app.widgets.matrix.cells import Cells, cell_image, color_table
from lmviz.base.counting import numbered

TOKEN_SIZE = 12.0
FAINT = 0.3
SIDES = {FORWARD: "from the\nleft", BACKWARD: "from the\nright"}


class UnrolledView(Pointed[UnrolledCell | None], GrowingCanvas):
    """`UnrolledView()`: tokens below, a cell for each layer and position, predictions above.

    `set_network(tokens, layers, predictions)` draws it, `layers` from the lowest up, `predictions` one
    text for each position; `set_current(position, layer)` lights a cell and the way that led to it.
    Lines of one colour are one weight matrix: from below, from the previous position, to the output. Where
    a direction is given, lines are blue from the left and orange from the right, and what cannot reach the
    lit word's answer is faint; while a word is hovered, what that word cannot reach. Where a layer has a
    wave, a ribbon as wide as the gradient stands in the place of the line from the previous position.
    `set_picture(pixels)` draws the picture that the first states are made of, row by row, at their left.
    `set_readout(function)` gives the hover card's words for an UnrolledCell.
    It takes the width its text needs: place it in a scroll area. In projector mode it takes the width that
    there is and shows the words around the lit one. Arrow keys move the lit cell.
    """

    nowhere = None

    def __init__(self) -> None:
        super().__init__()
        self._tokens: tuple[str, ...] = ()
        self._layers: tuple[UnrolledLayer, ...] = ()
        self._predictions: tuple[str, ...] = ()
        self._picture: tuple[bool, ...] = ()
        self._strips: list[list[QImage]] = []
        self._current = (-1, -1)
        self._places = UnrolledPlaces()
        self._natural = self._places.natural  # the size of everything before it grows
        self._is_read_whole = self._is_gathered = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("the network unrolled over the text")

    @property
    def layers(self) -> tuple[UnrolledLayer, ...]:
        """What is drawn, the lowest layer first."""
        return self._layers

    def set_network(
        self,
        tokens: Sequence[str],
        layers: Sequence[UnrolledLayer],
        predictions: Sequence[str] = (),
        *,
        is_read_whole: bool = False,
        is_gathered: bool = False,
    ) -> None:
        """Draw a network over tokens (position,). What is read whole, as a source is, is nowhere faint.

        Where it `is_gathered`, what is read of all positions leads into one line.
        """
        self._is_read_whole, self._is_gathered = is_read_whole, is_gathered
        self._tokens, self._layers, self._predictions = tuple(tokens), tuple(layers), tuple(predictions)
        self._look()
        if self._hovered is not None and not self._places.has(self._hovered):
            self._hovered = None
        self.renew_card()
        self._describe()
        self._make_strips()
        self.updateGeometry()
        self.update()

    @property
    def in_sight(self) -> range:
        """The positions that are drawn: all, or in projector mode those there is room for."""
        return self._places.in_sight

    @property
    def picture(self) -> tuple[bool, ...]:
        """The pixels that the first states are made of; none where they begin with zeros."""
        return self._picture

    def set_picture(self, pixels: Sequence[bool]) -> None:
        """Draw what the first states are made of (pixel,); nothing where there is none."""
        self._picture = tuple(pixels)
        self._look()
        self.updateGeometry()
        self.update()

    def set_current(self, position: int, layer: int) -> None:
        """Light one cell; −1 for none."""
        self._current = (position, layer)
        self._describe()
        self._look()
        self.update()

    def _describe(self) -> None:
        """Say where the lit cell is, or while there is none what is unrolled over what."""
        (position, layer), layers = self._current, len(self._layers)
        if 0 <= position < len(self._tokens) and 0 <= layer < layers:
            said = f"layer {numbered(layer)}, position {position + 1}, {self._tokens[position]}"
        else:
            said = f"{layers} {'layer' if layers == 1 else 'layers'} over {' '.join(self._tokens)}"
        self.setAccessibleDescription(said)

    def index_at(self, place: QPointF) -> UnrolledCell | None:
        return self._places.at(place)

    def readout(self, index: UnrolledCell | None) -> Words | None:
        return super().readout(index) if index is not None and index.unit >= 0 else None

    def part_rectangle(self, index: UnrolledCell | None) -> QRectF | None:
        return None if index is None else self._places.unit(index)

    @property
    def growth(self) -> float:
        """As far as all positions fit into what there is."""
        natural = self._natural
        return growth_in(min(self.width() / natural.width(), self.height() / natural.height()))

    def cell_rectangle(self, position: int, layer: int) -> QRectF:
        """Where a cell is drawn."""
        return self._places.cell(position, layer)

    def row_rectangle(self, position: int, layer: int, row: int) -> QRectF:
        """Where one value of a cell is drawn."""
        return self._places.row(position, layer, row)

    def adopt_theme(self) -> None:
        self._make_strips()
        self._look()
        super().adopt_theme()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._look()

    def _look(self) -> None:
        """Find the positions that are in sight, and the places of everything."""
        count, first, in_sight = len(self._tokens), self._places.in_sight.start, range(len(self._tokens))
        size, pixels = (self.width(), self.height()), len(self._picture)
        places = UnrolledPlaces(self._layers, count, in_sight, *size, current_theme().scale, pixels)
        self._natural = places.natural
        places = replace(places, scale=self.theme.scale)
        if theme_switch().projector:
            room = self.width() - places.edge
            in_sight = words_in_sight([self.length(COLUMN)] * count, self._current[0], room, first)
            places = replace(places, in_sight=in_sight)
        self._places = places

    def sizeHint(self) -> QSize:
        return self._natural.toSize()

    def minimumSizeHint(self) -> QSize:
        if theme_switch().projector:
            usual = replace(self._places, scale=current_theme().scale)
            return QSize(round(usual.edge + self.usual_length(COLUMN)), self.sizeHint().height())
        return self.sizeHint()

    @property
    def _is_directed(self) -> bool:
        """Whether some of it reads the text from right to left."""
        return any(layer.direction for layer in self._layers)

    def _make_strips(self) -> None:
        """For each value one picture of all positions, each position's units folded into a grid."""
        self._strips = []
        for layer in self._layers:
            images = []
            for row in layer.rows:
                lines, columns = grid_of(row)
                positions, units = row.values.shape
                folded = np.full((positions, lines * columns), np.nan, dtype=np.float32)
                folded[:, :units] = row.values
                wide = folded.reshape(positions, lines, columns).transpose(1, 0, 2).reshape(lines, -1)
                cells = Cells.of(wide, row.scale, row.limit)
                images.append(cell_image(cells.levels, color_table(self.theme, row.scale)))
            self._strips.append(images)

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        start, edge = self._places.in_sight.start, self._places.edge
        first = start + max(0, int((event.rect().left() - edge) // self._places.column) - 1)
        last = start + int((event.rect().right() - edge) // self._places.column) + 2
        lines = UnrolledLines(painter, self._places, self._current)
        for position in range(first, min(self._places.in_sight.stop, last)):
            for layer in range(len(self._layers)):
                painter.setOpacity(self._strength(position, layer))
                lines.draw(position, layer)
            for layer in range(len(self._layers)):
                painter.setOpacity(self._strength(position, layer))
                self._draw_cell(painter, position, layer)
            is_later = not self._is_directed and 0 <= self._current[0] < position
            faded = is_later and not self._is_read_whole
            painter.setOpacity(FAINT if faded else 1.0)
            self._draw_labels(painter, position)
        painter.setOpacity(1.0)
        self._draw_gathering(painter)
        self._draw_edge(painter)
        self._draw_hovered(painter)
        self.draw_focus(painter)

    def _strength(self, position: int, layer: int) -> float:
        """How strongly a cell is drawn."""
        hovered = None if self._hovered is None else self._hovered.position
        if self._is_read_whole and (hovered is None or not self._is_directed):
            return 1.0
        is_near = is_reached(self._layers, (position, layer), self._current[0], hovered)
        return 1.0 if is_near else FAINT

    def _draw_cell(self, painter: Painter, position: int, layer: int) -> None:
        cell, theme = self.cell_rectangle(position, layer), self.theme
        lit = (position, layer) == self._current
        hovered = self._hovered is not None and self._hovered.position == position
        edge = theme.accent if lit else theme.strong_line if hovered else theme.line
        painter.box(cell, theme.accent_wash if lit else theme.surface, edge, 2 if lit else 1, radius=6)
        name = self._layers[layer].name
        ink = theme.text if lit else theme.muted_text
        head = QRectF(cell.left(), cell.top() + self.length(2), cell.width(), self.length(14))
        title = f"{name} · {position + 1}" if name else str(position + 1)
        painter.write(head, title, ink, 10.5, where=CENTRED)
        for row, value in enumerate(self._layers[layer].rows):
            area, image = self.row_rectangle(position, layer, row), self._strips[layer][row]
            columns = image.width() // len(self._tokens)
            painter.draw_part(area, image, QRect(position * columns, 0, columns, image.height()))
            letter = QRectF(cell.left(), area.top(), area.left() - cell.left(), area.height())
            painter.write(letter, value.letter, ink, min(10.0, value.height), where=CENTRED)

    def _draw_hovered(self, painter: Painter) -> None:
        """A frame around the number under the pointer."""
        hovered = self._hovered
        if hovered is None or hovered.unit < 0 or hovered.position not in self.in_sight:
            return
        painter.box(self._places.unit(hovered).adjusted(-1, -1, 1, 1), edge=self.theme.accent, width=1.6)

    def _draw_labels(self, painter: Painter, position: int) -> None:
        theme, column = self.theme, self._places.column
        left = self._places.column_start(position)
        measure = self.metrics(TOKEN_SIZE, token=True)
        ink = theme.accent if position == self._current[0] else theme.text
        bottom = self.cell_rectangle(position, 0).bottom() + self.length(LAYER_GAP)
        token = cut(self._tokens[position], column - self.length(8), measure)
        below = QRectF(left, bottom, column, self.length(LABEL))
        painter.write(below, token, ink, TOKEN_SIZE, token=True, where=CENTRED)
        if position < len(self._predictions):
            top = self.cell_rectangle(position, len(self._layers) - 1).top() - self.length(LAYER_GAP + LABEL)
            area = QRectF(left, top, column - self.length(4), self.length(LABEL))
            painter.fit(area, self._predictions[position], theme.muted_text, 11.5, where=CENTRED)

    @property
    def gathered(self) -> QLineF:
        """The line into which what is read of several positions leads; none where it is not gathered."""
        top, sight = len(self._layers) - 1, self._places.in_sight
        uppermost = self._layers[pair_of(self._layers, top)[0] :] if self._layers else ()
        read = [at for at in sight if any(layer.is_read(at) for layer in uppermost)]
        if not self._is_gathered or not read:
            return QLineF()
        first, last = (self.cell_rectangle(at, top).center().x() for at in (read[0], read[-1]))
        height = self.cell_rectangle(read[0], top).top() - self.length(LAYER_GAP)
        return QLineF(first, height, last, height)

    def _draw_gathering(self, painter: Painter) -> None:
        draw_line(painter, self.theme.value, False, self.gathered.p1(), self.gathered.p2())

    def _draw_edge(self, painter: Painter) -> None:
        if not self._layers or not self._tokens:
            return
        top = self.cell_rectangle(0, len(self._layers) - 1).top() - self.length(LAYER_GAP + LABEL)
        bottom = self.cell_rectangle(0, 0).bottom() + self.length(LAYER_GAP)
        self._draw_sides(painter)
        if self._picture and 0 in self._places.in_sight:
            area = self._places.picture
            draw_pixels(painter, area.topLeft(), self.length(PIXEL), self._picture)
        for name, height in (("y" if self._predictions else "", top), ("x", bottom)):
            area = QRectF(self.length(4), height, self._places.edge, self.length(LABEL))
            more = "…" if self._places.in_sight.start > 0 else ""
            painter.write(area, name + more, self.theme.muted_text, 11.5)

    def _draw_sides(self, painter: Painter) -> None:
        """Which direction each row reads in."""
        painter.setFont(self.theme.font(11, QFont.Weight.Medium))
        for layer, drawn in enumerate(self._layers):
            cell = self.cell_rectangle(0, layer)
            area = QRectF(self.length(4), cell.top(), self._places.edge, cell.height())
            ink = way_color(self.theme, drawn.direction, self.theme.muted_text)
            painter.write(area, SIDES.get(drawn.direction, ""), ink)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        down, across = ARROWS.get(event.key(), (0, 0))
        position, layer = self._current[0] + across, self._current[1] - down
        if event.key() in ARROWS and 0 <= position < len(self._tokens) and 0 <= layer < len(self._layers):
            self.clicked_on(UnrolledCell(position, layer))
        else:
            super().keyPressEvent(event)
