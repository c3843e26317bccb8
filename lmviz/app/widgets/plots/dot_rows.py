"""Rows of dots along one axis: each dot is one of many, and none lies on another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPaintEvent
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.canvas import once
from lmviz.app.widgets.base.figures import number, plain
from lmviz.app.widgets.kit.painter import CENTRED, Painter
from lmviz.app.widgets.kit.pointing import ACROSS
from lmviz.app.widgets.kit.row_parts import AlongRow, RowParts
from lmviz.looks.parts import DotRow

DOT, RING = 4.0, 5.5
LABELS, SIDE, AXIS = 0.2, 10, 22
TICKS = 6


class DotRows(RowParts):
    """`DotRows()`: `set_rows(rows)`, of `DotRow`s; `set_current(dot)` rings one, −1 none.

    A dot is a number from 0 on, through all rows; `numbers` are what it stands for. Zero is always on the
    axis.
    """

    usual, least = (420, 150), (200, 70)
    arrows, points_by_key = ACROSS, True
    takes_clicks = True

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[DotRow, ...] = ()
        self.numbers: tuple[int, ...] = ()
        self._ringed = -1
        self.setAccessibleName("dots")

    def set_rows(self, rows: Sequence[DotRow]) -> None:
        """Show other rows."""
        self._rows = tuple(rows)
        self.numbers = tuple(number for row in self._rows for number in row.numbers)
        self.show_count(len(self.numbers))
        self.draw_again()

    def ring(self, stands_for: int) -> None:
        """Ring the dots that stand for something; −1 for none."""
        if stands_for != self._ringed:
            self._ringed = stands_for
            self.update()

    def description(self) -> str:
        return ", ".join(
            f"{row.label}: {len(row.values)} dots, mean {number(float(np.mean(row.values)))}"
            for row in self._rows
            if len(row.values)
        )

    @property
    def _scale(self) -> AlongRow:
        values = np.concatenate([np.asarray(row.values, dtype=float) for row in self._rows] or [np.zeros(0)])
        low, high = min(0.0, values.min(initial=0.0)), max(0.0, values.max(initial=0.0))
        if high - low <= 0:
            high = low + 1.0
        margin = self.length(SIDE + DOT)
        return AlongRow(low, high, self.width() * LABELS + margin, self.width() - margin)

    def _lane(self, row: int) -> tuple[float, float]:
        """Top and bottom of a row."""
        height = (self.height() - self.length(AXIS)) / max(1, len(self._rows))
        return row * height, (row + 1) * height

    @once
    def _places(self) -> np.ndarray:
        """(dot, 2) The middle of each dot: as near to the middle of its row as those before leave room."""
        scale, found = self._scale, []
        radius = self.length(DOT)
        for at, row in enumerate(self._rows):
            top, bottom = self._lane(at)
            middle, half = (top + bottom) / 2, max(1.0, (bottom - top) / 2 - radius)
            step = 2 * radius
            steps = [0.0] + [
                sign * level * step for level in range(1, int(half // step) + 1) for sign in (1, -1)
            ]
            placed: dict[int, list[tuple[float, float]]] = {}
            for value in row.values:
                x = scale.at(float(value))
                box = int(x // step)
                near = [place for key in (box - 1, box, box + 1) for place in placed.get(key, ())]
                y = next(
                    (
                        offset
                        for offset in steps
                        if all((x - px) ** 2 + (offset - py) ** 2 >= (1.9 * radius) ** 2 for px, py in near)
                    ),
                    0.0,
                )
                placed.setdefault(box, []).append((x, y))
                found.append((x, middle + y))
        return np.array(found, dtype=np.float64).reshape(-1, 2)

    def index_at(self, place: QPointF) -> int:
        places = self._places()
        if not len(places):
            return -1
        distances = ((places - (place.x(), place.y())) ** 2).sum(axis=1)
        nearest = int(distances.argmin())
        return nearest if distances[nearest] <= self.length(2.5 * DOT) ** 2 else -1

    def part_rectangle(self, index: int) -> QRectF:
        x, y = self._places()[index]
        size = self.length(DOT)
        return QRectF(x - size, y - size, 2 * size, 2 * size)

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        if not self._rows:
            return
        scale, places = self._scale, self._places()
        bottom = self.height() - self.length(AXIS)
        for tick in round_ticks(scale.low, scale.high):
            x = scale.at(tick)
            ink = self.theme.strong_line if tick == 0 else self.theme.line
            painter.line(QPointF(x, 0), QPointF(x, bottom), ink)
            area = QRectF(x - self.length(30), bottom, self.length(60), self.length(AXIS))
            painter.write(area, plain(tick), self.theme.muted_text, 10.5, where=CENTRED)
        first = 0
        for at, row in enumerate(self._rows):
            self._draw_row(painter, at, row, scale, places[first : first + len(row.values)], first)
            first += len(row.values)
        self.draw_focus(painter)

    def _draw_row(
        self, painter: Painter, at: int, row: DotRow, scale: AlongRow, places: np.ndarray, first: int
    ) -> None:
        top, bottom = self._lane(at)
        ink = self.theme.ink(row.ink)
        wash = QColor(ink)
        wash.setAlphaF(0.13)
        inset = self.length(4)
        if row.band is not None:
            left, right = map(scale.at, row.band)
            painter.box(QRectF(left, top + inset, right - left, bottom - top - 2 * inset), wash, radius=3)
        label = QRectF(0, top, self.width() * LABELS, bottom - top)
        lines = row.label.split("\n")
        height = self.length(16)
        for line, words in enumerate(lines):
            area = QRectF(
                label.left(),
                label.center().y() + (line - len(lines) / 2) * height,
                label.width(),
                height,
            )
            words_ink = self.theme.text if line == 0 else self.theme.muted_text
            self.write_label(painter, area, words, words_ink, 11.5, bold=line == 0, token=False)
        pale = QColor(ink)
        pale.setAlphaF(0.75)
        for index, (x, y) in enumerate(places):
            is_ringed = row.numbers[index] == self._ringed or first + index == self.hovered
            if not is_ringed:
                painter.dot(QPointF(x, y), DOT, pale)
        if len(row.values):
            mean = scale.at(float(np.mean(row.values)))
            painter.line(QPointF(mean, top + inset), QPointF(mean, bottom - inset), ink, 2.0)
        for index, (x, y) in enumerate(places):
            if row.numbers[index] == self._ringed or first + index == self.hovered:
                painter.dot(QPointF(x, y), RING, ink, self.theme.text, 1.8)


def round_ticks(low: float, high: float) -> list[float]:
    """Round numbers from one end to the other, zero among them."""
    rough = (high - low) / TICKS
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(size * power for size in (1, 2, 2.5, 5, 10) if size * power >= rough)
    return [round(at * step, 10) for at in range(int(np.ceil(low / step)), int(np.floor(high / step)) + 1)]
