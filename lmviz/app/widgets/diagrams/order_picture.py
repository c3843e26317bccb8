"""The last of a few words attends to all of them: their weights as bars, in one order and in another."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QColor, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy

from lmviz.app.look.color_maps import mix
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.base.growing_canvas import GrowingCanvas
from lmviz.app.widgets.kit.painter import CENTRED, Painter
from lmviz.base.counting import numbered

NAME, CHIP, FIGURE, LINE, GAP = 76, 24, 17, 22, 8
LEAST_BAR, USUAL_BAR, MOST_BAR = 14, 18, 160


@dataclass(frozen=True)
class OrderLine:
    """One order of the words: `names` (position,), `weights` (layer, position), `output` (channel,)."""

    title: str
    names: Sequence[str]
    weights: np.ndarray
    output: str
    moved: Collection[int] = ()


class OrderPicture(GrowingCanvas):
    """`OrderPicture()`: `set_lines(lines)`, one below the other; the words that changed places are orange."""

    usual_size = (330, 230)

    def __init__(self) -> None:
        super().__init__()
        self._lines: tuple[OrderLine, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("attention of the last word, before and after the exchange")

    @property
    def lines(self) -> tuple[OrderLine, ...]:
        """What is drawn."""
        return self._lines

    def set_lines(self, lines: Sequence[OrderLine]) -> None:
        """Draw other orders."""
        self._lines = tuple(lines)
        self.setAccessibleDescription("; ".join(f"{line.title}: {line.output}" for line in lines))
        self.updateGeometry()
        self.update()

    def _height(self, line: OrderLine, bar: float) -> float:
        """What a line takes whose bars can be so high, in pixels at scale 1."""
        return CHIP + len(line.weights) * (FIGURE + bar) + LINE + GAP

    def _hint(self, bar: float) -> int:
        return round(self.usual_length(sum(self._height(line, bar) for line in self._lines)))

    @property
    def _bar(self) -> float:
        """How high bars can be, in pixels at scale 1."""
        bars = sum(len(line.weights) for line in self._lines)
        spare = self.height() / self.theme.scale - sum(self._height(line, 0) for line in self._lines)
        return min(max(spare / max(1, bars), LEAST_BAR), MOST_BAR)

    def sizeHint(self) -> QSize:
        return QSize(round(self.usual_length(330)), self._hint(USUAL_BAR))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(self.usual_length(200)), self._hint(LEAST_BAR))

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        top = 0.0
        for line in self._lines:
            self._draw(painter, line, top)
            top += self.length(self._height(line, self._bar))

    def _draw(self, painter: Painter, line: OrderLine, top: float) -> None:
        theme, left = self.theme, self.length(NAME)
        column = (self.width() - left) / max(1, len(line.names))
        painter.write(QRectF(0, top, left, self.length(CHIP)), line.title, theme.text, 12, bold=True)
        for at, name in enumerate(line.names):
            usual = theme.query if at == len(line.names) - 1 else theme.text
            color = theme.key if at in line.moved else usual
            chip = QRectF(left + at * column + 3, top + 1, column - 6, self.length(CHIP) - 2)
            painter.box(chip, mix(theme.surface, color, 0.14), radius=4)
            painter.write(chip, name, color, 13, bold=True, token=True, where=CENTRED)
        row = top + self.length(CHIP)
        for layer, weights in enumerate(line.weights):
            said = "weights" if len(line.weights) == 1 else f"layer {numbered(layer)}"
            height = self.length(FIGURE + self._bar)
            painter.write(QRectF(0, row, left, height), said, theme.muted_text, 11)
            for at, weight in enumerate(weights.tolist()):
                color = theme.key if at in line.moved else theme.accent
                self._draw_weight(painter, weight, QRectF(left + at * column, row, column, height), color)
            row += height
        last = line.names[-1]
        below = QRectF(0, row, left, self.length(LINE))
        painter.write(below, f"give {last[:1]}′{last[1:]}", theme.muted_text, 11)
        output = QRectF(left + 6, row, self.width() - left - 6, self.length(LINE))
        size = next((size for size in (14, 13, 12, 11) if self._fits(line.output, size, output.width())), 10)
        painter.write(output, line.output, theme.text, size, bold=True, token=True)

    def _draw_weight(self, painter: Painter, weight: float, place: QRectF, color: QColor) -> None:
        room = place.height() - self.length(FIGURE) - 4
        base = place.bottom() - self.length(FIGURE)
        width = min(self.length(26), 0.7 * place.width())
        bar = max(weight * room, 1.0) if weight else 0.0
        painter.box(QRectF(place.center().x() - width / 2, base - bar, width, bar), color)
        ends = QPointF(place.left() + 3, base), QPointF(place.right() - 3, base)
        painter.line(*ends, QPen(self.theme.line, 1))
        figure = QRectF(place.left(), base, place.width(), self.length(FIGURE))
        painter.write(figure, number(weight, 3), self.theme.text, 11, where=CENTRED)

    def _fits(self, text: str, size: float, room: float) -> bool:
        return self.metrics(size, token=True, bold=True).horizontalAdvance(text) <= room
