"""What an unrolled encoder hands to its decoder: lines over both pictures, from the one to the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.canvas import Canvas
from lmviz.app.widgets.diagrams.unrolled import UnrolledView
from lmviz.app.widgets.diagrams.unrolled_lines import PALE, TIP, USUAL, way_color
from lmviz.app.widgets.diagrams.unrolled_places import LABEL
from lmviz.app.widgets.diagrams.unrolled_values import BACKWARD, LAYER_GAP
from lmviz.app.widgets.kit.painter import Painter
from lmviz.base.counting import numbered

DOT = 2.5


@dataclass(frozen=True)
class HandedOn:
    """The state of an encoder's `layer` at the `position` where it ends: a decoder's layer begins with it."""

    layer: int
    position: int
    decoder_layer: int


class UnrolledHandover(Canvas):
    """`UnrolledHandover(encoder, decoder, parent)`: `set_ways(handed_on, has_context)`.

    It lies over the two pictures, which stand side by side in `parent`, and answers to no pointer. The last
    states become the first ones. Where there is a context, every position of the decoder reads it: what
    the encoder gathers of all its states, or else its last states.
    """

    def __init__(self, encoder: UnrolledView, decoder: UnrolledView, parent: QWidget) -> None:
        super().__init__(parent)
        self._encoder, self._decoder = encoder, decoder
        self._handed_on: tuple[HandedOn, ...] = ()
        self._has_context = False
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAccessibleName("what the encoder hands to the decoder")
        parent.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """As large as what it lies over."""
        if event.type() == QEvent.Type.Resize and isinstance(watched, QWidget):
            self.setGeometry(watched.rect())
        return super().eventFilter(watched, event)

    def set_ways(self, handed_on: Sequence[HandedOn], *, has_context: bool) -> None:
        """Draw these states, and whether a context is read at every position; nothing without a state."""
        self._handed_on, self._has_context = tuple(handed_on), has_context
        said = [
            f"layer {numbered(each.layer)} begins layer {numbered(each.decoder_layer)}" for each in handed_on
        ]
        context = ["every position reads the context"] if has_context else []
        self.setAccessibleDescription(", ".join([*said, *context]))
        self.update()

    def ways(self) -> list[list[QPointF]]:
        """The corners of each line that leads from a cell of the encoder to one of the decoder."""
        found = []
        for number, item in enumerate(self._handed_on):
            if item.position not in self._encoder.in_sight or 0 not in self._decoder.in_sight:
                continue
            cell = self._cell(self._encoder, item.position, item.layer)
            begun = self._cell(self._decoder, 0, item.decoder_layer)
            trunk, end = self._trunk + self.length(4 * number), QPointF(begun.left(), begun.center().y())
            if self._encoder.layers[item.layer].direction == BACKWARD:
                # It ends at the first word: the line leads back below all words.
                left, low = cell.left() - self.length(8), self._low
                corners = [QPointF(cell.left(), cell.center().y()), QPointF(left, cell.center().y())]
                corners += [QPointF(left, low), QPointF(trunk, low)]
            else:
                corners = [QPointF(cell.right(), cell.center().y()), QPointF(trunk, cell.center().y())]
            found.append([*corners, QPointF(trunk, end.y()), end])
        return found

    def context(self) -> list[QPointF]:
        """The corners of the line that brings the context to every position of the decoder."""
        sight = self._decoder.in_sight
        if not self._has_context or not sight or not self._handed_on or not self._encoder.in_sight:
            return []
        height = self._cell(self._decoder, sight[0], 0).bottom() + self.length(LAYER_GAP / 2)
        last = QPointF(self._cell(self._decoder, sight[-1], 0).center().x(), height)
        rail = self._encoder.gathered
        if rail.isNull():
            ways = self.ways()
            begin = [ways[-1][-2]] if ways else []
        else:
            start = rail.p2() + self._encoder.pos()
            begin = [start, QPointF(self._trunk, start.y())]
        return [*begin, QPointF(begin[-1].x(), height), last] if begin else []

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        if not self._encoder.isVisible() or not self._decoder.isVisible():
            return
        painter.setOpacity(PALE)
        for item, corners in zip(self._handed_on, self.ways(), strict=False):
            direction = self._encoder.layers[item.layer].direction
            color = way_color(self.theme, direction, self.theme.accent)
            self._draw(painter, corners, color)
            painter.head(corners[-2], corners[-1], color, *TIP)
        corners = self.context()
        if corners:
            self._draw(painter, corners, self.theme.value)
            self._draw_joins(painter, corners[-1].y())

    def _draw(self, painter: Painter, corners: Sequence[QPointF], color: QColor) -> None:
        path = QPainterPath(corners[0])
        for corner in corners[1:]:
            path.lineTo(corner)
        painter.stroke(path, color, USUAL)

    def _draw_joins(self, painter: Painter, height: float) -> None:
        """A dot wherever the context joins the word of a position, and its letter at the left."""
        for position in self._decoder.in_sight:
            middle = self._cell(self._decoder, position, 0).center().x()
            painter.dot(QPointF(middle, height), DOT, self.theme.value)
        painter.setOpacity(1.0)
        left, side = self._decoder.x() + self.length(4), self.length(LABEL)
        painter.write(QRectF(left, height - side, side, side), "c", self.theme.muted_text, 11.5)

    def _cell(self, view: UnrolledView, position: int, layer: int) -> QRectF:
        return view.cell_rectangle(position, layer).translated(QPointF(view.pos()))

    @property
    def _trunk(self) -> float:
        """Where lines turn, between the two pictures."""
        return (self._encoder.geometry().right() + self._decoder.x()) / 2 - self.length(2)

    @property
    def _low(self) -> float:
        """Below the words of the encoder."""
        return self._cell(self._encoder, 0, 0).bottom() + self.length(LAYER_GAP + LABEL) + 1
