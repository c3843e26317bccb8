"""A recurrent network unrolled over its text: one column a position, the same weights in each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.canvas import Canvas, metrics
from lmviz.app.widgets.matrix.cells import Cells, cell_image, color_table

COLUMN = 104
CELL_WIDTH, CELL_HEIGHT = 72, 44
LAYER_GAP = 22
EDGE = 34
LABEL = 20
TOKEN_SIZE = 12.0
ASPECT = 2.4
FUTURE = 0.3
KEYS: dict[int, tuple[int, int]] = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, 1),
    Qt.Key.Key_Down: (0, -1),
}


@dataclass(frozen=True)
class UnrolledLayer:
    """A layer's states: `values` (position, unit) on a `scale`, and the name to write in its cells."""

    name: str
    values: np.ndarray
    scale: str = "signed"
    limit: float = 1.0


class UnrolledView(Canvas):
    """`UnrolledView()`: tokens below, a cell for each layer and position, predictions above.

    `set_network(tokens, layers, predictions)` draws it, `layers` from the lowest up, `predictions` one
    text for each position; `set_current(position, layer)` lights a cell and the way that led to it.
    Lines of one colour are one weight matrix: from below, from the previous position, to the output.
    Signals: `cell_clicked(int, int)` and `cell_hovered(int, int)` (position, layer; −1, −1 on leaving).
    It takes the width its text needs: place it in a scroll area. Arrow keys move the lit cell.
    """

    cell_clicked = Signal(int, int)
    cell_hovered = Signal(int, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tokens: tuple[str, ...] = ()
        self._layers: tuple[UnrolledLayer, ...] = ()
        self._predictions: tuple[str, ...] = ()
        self._strips: list[QImage] = []
        self._grid = (1, 1)
        self._current = (-1, -1)
        self._hovered = (-1, -1)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("the network unrolled over the text")

    def set_network(
        self, tokens: Sequence[str], layers: Sequence[UnrolledLayer], predictions: Sequence[str] = ()
    ) -> None:
        """Draw a network over tokens (position,)."""
        self._tokens, self._layers, self._predictions = tuple(tokens), tuple(layers), tuple(predictions)
        self._hovered = (-1, -1)
        self._make_strips()
        self.updateGeometry()
        self.update()

    def set_current(self, position: int, layer: int) -> None:
        """Light one cell; −1 for none."""
        self._current = (position, layer)
        inside = 0 <= position < len(self._tokens) and 0 <= layer < len(self._layers)
        where = f"layer {layer + 1}, position {position + 1}, {self._tokens[position]}" if inside else ""
        self.setAccessibleDescription(where)
        self.update()

    def cell_rectangle(self, position: int, layer: int) -> QRectF:
        """Where a cell is drawn."""
        middle = self.length(EDGE) + (position + 0.5) * self.length(COLUMN)
        step = self.length(CELL_HEIGHT + LAYER_GAP)
        top = self.length(LABEL + LAYER_GAP) + (len(self._layers) - 1 - layer) * step + self._slack()
        width, height = self.length(CELL_WIDTH), self.length(CELL_HEIGHT)
        return QRectF(middle - width / 2, top, width, height)

    def adopt_theme(self) -> None:
        self._make_strips()
        super().adopt_theme()

    def sizeHint(self) -> QSize:
        layers = max(1, len(self._layers))
        height = 2 * (LABEL + LAYER_GAP) + layers * CELL_HEIGHT + (layers - 1) * LAYER_GAP
        width = EDGE + max(1, len(self._tokens)) * COLUMN
        return QSize(round(self.length(width)), round(self.length(height)))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def _slack(self) -> float:
        """Half of the height that is left over."""
        return max(0.0, (self.height() - self.sizeHint().height()) / 2)

    def _make_strips(self) -> None:
        """For each layer one picture of all positions, each position's units folded into rows."""
        self._strips = []
        for layer in self._layers:
            positions, units = layer.values.shape
            columns = min(units, math.ceil(math.sqrt(units * ASPECT)))
            rows = math.ceil(units / columns)
            folded = np.full((positions, rows * columns), np.nan, dtype=np.float32)
            folded[:, :units] = layer.values
            wide = folded.reshape(positions, rows, columns).transpose(1, 0, 2).reshape(rows, -1)
            cells = Cells.of(wide, layer.scale, layer.limit)
            self._strips.append(cell_image(cells.levels, color_table(self.theme, layer.scale)))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = self.begin()
        column = self.length(COLUMN)
        first = max(0, int((event.rect().left() - self.length(EDGE)) // column) - 1)
        last = min(len(self._tokens), int((event.rect().right() - self.length(EDGE)) // column) + 2)
        for position in range(first, last):
            painter.setOpacity(self._strength(position))
            self._draw_lines(painter, position)
            for layer in range(len(self._layers)):
                self._draw_cell(painter, position, layer)
            self._draw_labels(painter, position)
        painter.setOpacity(1.0)
        self._draw_edge(painter)
        self.draw_focus(painter)

    def _strength(self, position: int) -> float:
        return FUTURE if 0 <= self._current[0] < position else 1.0

    def _line(self, painter: QPainter, color: QColor, lit: bool, start: QPointF, end: QPointF) -> None:
        color = QColor(color)
        color.setAlphaF(1.0 if lit else 0.45)
        painter.setPen(QPen(color, self.length(2.6 if lit else 1.4)))
        painter.drawLine(QLineF(start, end))

    def _draw_lines(self, painter: QPainter, position: int) -> None:
        theme, top = self.theme, len(self._layers) - 1
        for layer in range(len(self._layers)):
            cell = self.cell_rectangle(position, layer)
            middle, lit = cell.center(), (position, layer) == self._current
            below = (
                self.cell_rectangle(position, layer - 1).top()
                if layer
                else cell.bottom() + self.length(LAYER_GAP)
            )
            self._line(
                painter, theme.query, lit, QPointF(middle.x(), below), QPointF(middle.x(), cell.bottom())
            )
            before = (
                self.cell_rectangle(position - 1, layer).right()
                if position
                else cell.left() - self.length(18)
            )
            self._line(
                painter, theme.accent, lit, QPointF(before, middle.y()), QPointF(cell.left(), middle.y())
            )
        if top >= 0:
            cell = self.cell_rectangle(position, top)
            above = QPointF(cell.center().x(), cell.top() - self.length(LAYER_GAP))
            self._line(painter, theme.value, False, QPointF(cell.center().x(), cell.top()), above)

    def _draw_cell(self, painter: QPainter, position: int, layer: int) -> None:
        cell, theme = self.cell_rectangle(position, layer), self.theme
        lit, hovered = (position, layer) == self._current, (position, layer) == self._hovered
        painter.setBrush(theme.accent_wash if lit else theme.surface)
        edge = theme.accent if lit else theme.strong_line if hovered else theme.line
        painter.setPen(QPen(edge, self.length(2 if lit else 1)))
        painter.drawRoundedRect(cell, self.length(6), self.length(6))
        name = self._layers[layer].name
        painter.setPen(theme.text if lit else theme.muted_text)
        painter.setFont(theme.font(10.5))
        head = QRectF(cell.left(), cell.top() + self.length(2), cell.width(), self.length(14))
        painter.drawText(head, Qt.AlignmentFlag.AlignCenter, f"{name} {position + 1}")
        strip = self._strips[layer]
        columns = strip.width() / len(self._tokens)
        source = QRectF(position * columns, 0, columns, strip.height())
        margin = self.length(6)
        painter.drawImage(cell.adjusted(margin, self.length(17), -margin, -margin), strip, source)

    def _draw_labels(self, painter: QPainter, position: int) -> None:
        theme, column = self.theme, self.length(COLUMN)
        left = self.length(EDGE) + position * column
        measure = metrics(TOKEN_SIZE, token=True)
        painter.setFont(theme.token_font(TOKEN_SIZE))
        painter.setPen(theme.accent if position == self._current[0] else theme.text)
        bottom = self.cell_rectangle(position, 0).bottom() + self.length(LAYER_GAP)
        token = measure.elidedText(
            self._tokens[position], Qt.TextElideMode.ElideRight, column - self.length(8)
        )
        painter.drawText(
            QRectF(left, bottom, column, self.length(LABEL)), Qt.AlignmentFlag.AlignCenter, token
        )
        if position < len(self._predictions):
            painter.setFont(theme.font(11.5))
            painter.setPen(theme.muted_text)
            top = self.cell_rectangle(position, len(self._layers) - 1).top() - self.length(LAYER_GAP + LABEL)
            area = QRectF(left, top, column, self.length(LABEL))
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, self._predictions[position])

    def _draw_edge(self, painter: QPainter) -> None:
        if not self._layers or not self._tokens:
            return
        painter.setFont(self.theme.font(11.5))
        painter.setPen(self.theme.muted_text)
        top = self.cell_rectangle(0, len(self._layers) - 1).top() - self.length(LAYER_GAP + LABEL)
        bottom = self.cell_rectangle(0, 0).bottom() + self.length(LAYER_GAP)
        for name, height in (("y", top), ("x", bottom)):
            area = QRectF(self.length(4), height, self.length(EDGE), self.length(LABEL))
            painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, name)

    def _cell_at(self, place: QPointF) -> tuple[int, int]:
        position = int((place.x() - self.length(EDGE)) // self.length(COLUMN))
        if 0 <= position < len(self._tokens):
            for layer in range(len(self._layers)):
                if self.cell_rectangle(position, layer).contains(place):
                    return position, layer
        return -1, -1

    def _hover(self, cell: tuple[int, int]) -> None:
        if cell != self._hovered:
            self._hovered = cell
            self.update()
            self.cell_hovered.emit(*cell)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self._cell_at(event.position()))

    def leaveEvent(self, event: object) -> None:
        self._hover((-1, -1))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        cell = self._cell_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and cell[0] >= 0:
            self.cell_clicked.emit(*cell)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        across, up = KEYS.get(event.key(), (0, 0))
        position, layer = self._current[0] + across, self._current[1] + up
        if (across or up) and 0 <= position < len(self._tokens) and 0 <= layer < len(self._layers):
            self.cell_clicked.emit(position, layer)
        else:
            super().keyPressEvent(event)
