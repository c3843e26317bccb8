"""A gradient that goes back through a text: a ribbon for each model, as wide as what arrives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy

from lmviz.app.look.color_maps import mix
from lmviz.app.widgets.base.canvas import fitted, metrics
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.kit.painter import AT_LEFT, AT_RIGHT, CENTRED, Painter, cut
from lmviz.app.widgets.kit.pointing import Pointable, Words
from lmviz.app.widgets.matrix.cells import Cells

NAME, RIGHT, ABOVE, BELOW = 140, 12, 17, 19  # pixels at scale 1 around the cells
ROW, LEAST_ROW = 46, 30  # pixels at scale 1 of a model's row
MOST_CELL = 15  # pixels at scale 1 that a state is wide
SMALL = 11
SMALLER = (0, 1, 2)  # by how much type shrinks before words are cut


@dataclass(frozen=True, eq=False)
class WaveRow:
    """One model: `name` and `note` at the left, and where its gradient arrives.

    `gradients` (position, unit) colour the states, and `sizes` (position,) are their norms beside that of
    the last state, where the ribbon begins.
    """

    name: str
    note: str
    color: QColor
    gradients: np.ndarray
    sizes: np.ndarray


class GradientWave(Pointable):
    """`GradientWave()`: states along a text, and the gradient that comes back through them.

    `set_rows(rows, tokens)` shows models that read the same tokens; `set_reached(steps)` draws the first
    steps back alone, None all of them; `set_truncation(steps)` shades what truncation would leave out;
    `set_current(position)` marks one. Signal: `reached_changed()`. Left goes a step further back,
    Right one less.
    """

    reached_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._rows: tuple[WaveRow, ...] = ()
        self._tokens: tuple[str, ...] = ()
        self._reached: int | None = None
        self._truncation: int | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.setAccessibleName("gradient through time")

    @property
    def reached(self) -> int | None:
        """How many steps back are drawn; None for all."""
        return self._reached

    @property
    def steps(self) -> int:
        """How many steps back there are at most."""
        return max((_last(row) for row in self._rows), default=0)

    def set_rows(self, rows: Sequence[WaveRow], tokens: Sequence[str]) -> None:
        """Show models over the tokens that all of them read."""
        self._rows, self._tokens = tuple(rows), tuple(tokens)
        self.show_count(len(tokens))

    def description(self) -> str:
        arrived = (
            f"{row.name}, {row.note}: {number(float(row.sizes[0]), 4)} arrives"
            for row in self._rows
            if len(row.sizes)
        )
        return ", ".join(arrived)

    def set_reached(self, steps: int | None) -> None:
        """Draw so many steps back from the last state; None for all."""
        wanted = None if steps is None or steps >= self.steps else max(0, steps)
        if wanted != self._reached:
            self._reached = wanted
            self.reached_changed.emit()
            self.update()

    def step_back(self) -> None:
        """Draw a step more; from all of them, begin anew."""
        self.set_reached(0 if self._reached is None else self._reached + 1)

    def set_truncation(self, steps: int | None) -> None:
        """Shade what lies further back than so many states; None for nothing."""
        self._truncation = steps
        self.update()

    def cell(self, row: int, position: int) -> QRectF:
        """Where a state is drawn."""
        left, across = self.length(NAME), self._across
        height = self._row_height
        width = min(across * 0.62, self.length(MOST_CELL))
        middle = left + (position + 0.5) * across
        top = self.length(ABOVE) + row * height + height * 0.14
        return QRectF(middle - width / 2, top, width, height * 0.72)

    def index_at(self, place: QPointF) -> int:
        """The position at a place; −1 where there is none."""
        position = int((place.x() - self.length(NAME)) // self._across) if self._tokens else -1
        return position if 0 <= position < len(self._tokens) else -1

    def part_rectangle(self, index: int) -> QRectF:
        return self.cell(len(self._rows) - 1, index)

    def readout(self, index: int) -> Words:
        sizes = [(row.name, number(float(row.sizes[index]), 4)) for row in self._rows]
        lines = [f"{name}  × {size} of the last state's" for name, size in sizes]
        return f"gradient at “{self._tokens[index]}”", lines

    def sizeHint(self) -> QSize:
        rows = max(1, len(self._rows))
        return QSize(round(self.length(500)), round(self.length(ABOVE + rows * ROW + BELOW)))

    def minimumSizeHint(self) -> QSize:
        rows = max(1, len(self._rows))
        return QSize(round(self.length(240)), round(self.length(ABOVE + rows * LEAST_ROW + BELOW)))

    @property
    def _across(self) -> float:
        return max(1.0, (self.width() - self.length(NAME + RIGHT)) / max(1, len(self._tokens)))

    @property
    def _row_height(self) -> float:
        return max(1.0, (self.height() - self.length(ABOVE + BELOW)) / max(1, len(self._rows)))

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        largest = max((float(row.sizes.max(initial=1.0)) for row in self._rows), default=1.0)
        self._draw_truncation(painter)
        self._draw_mark(painter)
        for place, row in enumerate(self._rows):
            self._draw_name(painter, place, row)
            self._draw_ribbon(painter, place, row, largest)
            self._draw_states(painter, place, row)
        self._draw_tokens(painter)
        self.draw_focus(painter)

    def _first(self, row: WaveRow) -> int:
        """The earliest position that is drawn as reached."""
        return 0 if self._reached is None else max(0, _last(row) - self._reached)

    def _draw_truncation(self, painter: Painter) -> None:
        cut = self.steps + 1 - (self._truncation or 0)
        if self._truncation is None or cut <= 0 or not self._rows:
            return
        left, top = self.length(NAME), self.length(ABOVE)
        border = left + cut * self._across
        height = self.height() - self.length(ABOVE + BELOW)
        painter.fillRect(QRectF(left, top, border - left, height), self.theme.hover)
        dashed = QPen(self.theme.muted_text, 1, Qt.PenStyle.DashLine)
        painter.line(QPointF(border, 2), QPointF(border, top + height), dashed)
        said = f"beyond τ = {self._truncation}: truncated away"
        fits = metrics(SMALL).horizontalAdvance(said) < border - self.length(6)
        place = QRectF(0, 0, border, top) if fits else QRectF(border, 0, self.width() - border, top)
        place = place.adjusted(self.length(6), 0, -self.length(6), 0)
        painter.write(place, said, size=SMALL, where=AT_RIGHT if fits else AT_LEFT)

    def _draw_mark(self, painter: Painter) -> None:
        if not 0 <= self._current < len(self._tokens):
            return
        left = self.length(NAME) + self._current * self._across
        area = QRectF(left, self.length(ABOVE), self._across, self.height() - self.length(ABOVE))
        painter.fillRect(area, mix(self.theme.surface, self.theme.key, 0.12))

    def _draw_name(self, painter: Painter, place: int, row: WaveRow) -> None:
        top = self.length(ABOVE) + place * self._row_height
        half = self._row_height / 2
        width = self.length(NAME - 14)
        for text, size, color, above, bold in (
            (row.name, 12.5, self.theme.text, top, True),
            (row.note, SMALL, self.theme.muted_text, top + half, False),
        ):
            shown, size = fitted(text, width, [size - less for less in SMALLER], bold=bold)
            edge = Qt.AlignmentFlag.AlignBottom if bold else Qt.AlignmentFlag.AlignTop
            painter.write(QRectF(0, above, width, half), shown, color, size, bold=bold, where=edge)

    def _draw_ribbon(self, painter: Painter, place: int, row: WaveRow, largest: float) -> None:
        """From the last state to the left; between two states as wide as what reaches the left one."""
        first, last = self._first(row), _last(row)
        if last < 0:
            return
        full = self._row_height * 0.62 / largest
        color = QColor(self.theme.key)
        color.setAlphaF(0.34)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        upper, lower = [], []
        for position in range(last, first - 1, -1):
            middle = self.cell(place, position).center()
            half = float(row.sizes[position]) * full / 2
            upper.append(QPointF(middle.x(), middle.y() - half))
            lower.append(QPointF(middle.x(), middle.y() + half))
        painter.drawPolygon([*upper, *reversed(lower)])
        if float(row.sizes[first]) * full >= 1:  # else thinner than a line can be, but there
            start, end = (self.cell(place, position).center() for position in (last, first))
            painter.line(start, end, self.theme.key, 1)

    def _draw_states(self, painter: Painter, place: int, row: WaveRow) -> None:
        first, last = self._first(row), _last(row)
        limit = float(np.abs(row.gradients).max(initial=0)) or 1.0
        cells = Cells.of(row.gradients, "signed", limit)
        for position in range(len(self._tokens)):
            area = self.cell(place, position)
            edge = QPen(self.theme.accent if position == last else self.theme.strong_line, 1)
            is_reached = first <= position <= last
            if is_reached:
                self._draw_column(painter, area, Cells(cells.values[position][:, None], "signed", limit))
            painter.box(area, None if is_reached else self.theme.surface, edge, radius=2)

    def _draw_column(self, painter: Painter, area: QRectF, column: Cells) -> None:
        """A state's units from above to below; where there is no room for all, the strongest of some."""
        room = max(1, int(area.height() // 2))
        together = -(-len(column.values) // room)
        levels = column.pooled(together, 1)[:, 0]
        colors, height = self.theme.signed_map, area.height() / len(levels)
        for place, level in enumerate(levels):
            red, green, blue, _ = (int(part) for part in colors[level])
            cell = QRectF(area.left(), area.top() + place * height, area.width(), height + 0.5)
            painter.fillRect(cell, QColor(red, green, blue))

    def _draw_tokens(self, painter: Painter) -> None:
        """All tokens where each has room, else those that are marked or pointed at, and every so many."""
        measure = metrics(SMALL, token=True)
        widest = max((measure.horizontalAdvance(token) for token in self._tokens), default=0)
        every = max(1, int(np.ceil((min(widest, self.length(64)) + self.length(6)) / self._across)))
        marked = [place for place in (self._current, self.hovered) if 0 <= place < len(self._tokens)]
        top = self.height() - self.length(BELOW)
        for position, token in enumerate(self._tokens):
            near = any(abs(position - other) < every for other in marked if other != position)
            if position not in marked and (near or (len(self._tokens) - 1 - position) % every):
                continue
            width = every * self._across
            middle = self.length(NAME) + (position + 0.5) * self._across
            text = cut(token, width, measure)
            ink = self.theme.key if position in marked else self.theme.muted_text
            left = min(middle - width / 2, self.width() - measure.horizontalAdvance(text) / 2 - width / 2)
            place = QRectF(left, top, width, self.length(BELOW))
            painter.write(place, text, ink, SMALL, token=True, where=CENTRED)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Left:
            self.step_back()
        elif event.key() == Qt.Key.Key_Right:
            self.set_reached((self.steps if self._reached is None else self._reached) - 1)
        else:
            super().keyPressEvent(event)


def _last(row: WaveRow) -> int:
    """The last position that the gradient reaches, where it comes from; −1 where there is none."""
    reached = np.flatnonzero(row.sizes)
    return int(reached[-1]) if len(reached) else -1
