"""Signed parts of a sum, one below the other: each from a line of zero, or where the one before has ended."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QColor, QPaintEvent
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.figures import signed_figure
from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.widgets.kit.row_parts import AlongRow
from lmviz.app.widgets.kit.rows import across, in_the_middle
from lmviz.app.widgets.plots.bars import LabelledBars

ROW, BAR, SIZE = 22, 12, 12
PIXEL = 1.0  # the least width of a bar
LEAST_ROW = 15  # pixels at scale 1: lower, and words are drawn over one another
MORE = -1  # in the place of the index of a bar, for those that have no room
NUMBER = "+00.00"
MOST_LABEL, MOST_NOTE = 0.34, 0.2  # of the width


class SignedBars(LabelledBars):
    """`SignedBars()`: a label on the left, a word beside it, a bar, and the number on the right.

    `set_bars(labels, values, notes=(), faded=(), hatched=(), running=False)` shows them; with `running` each
    bar begins where the one before has ended, and the last, which is bold, from zero: it is their
    sum. Those for which there is no room are one bar, with the sum of their values.
    `set_current(index)` marks one.
    """

    usual_size = (360, 320)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._values = np.zeros(0)
        self._notes: tuple[str, ...] = ()
        self._faded: frozenset[int] = frozenset()
        self._hatched: frozenset[int] = frozenset()
        self._running = False
        self.setAccessibleName(name)

    @property
    def labels(self) -> tuple[str, ...]:
        """What the bars are called."""
        return self._labels

    @property
    def values(self) -> np.ndarray:
        """Their numbers, (bar,)."""
        return self._values

    def set_bars(
        self,
        labels: Sequence[str],
        values: Sequence[float] | np.ndarray,
        *,
        notes: Sequence[str] = (),
        faded: Collection[int] = (),
        hatched: Collection[int] = (),
        running: bool = False,
    ) -> None:
        """Show bars; `notes` are words beside the labels, `faded` those bars that stand for many.

        What is `hatched` is not explained.
        """
        self._labels = tuple(labels)
        self._values = np.asarray(values, dtype=np.float64)
        self._notes = tuple(notes)
        self._faded, self._running = frozenset(faded), running
        self._hatched = frozenset(hatched)
        shown = zip(self._labels[:6], self._values[:6], strict=True)
        self.setAccessibleDescription(", ".join(f"{label} {signed_figure(value)}" for label, value in shown))
        self.show_count(len(self._labels))

    def sizeHint(self) -> QSize:
        return self._sized(320, ROW * max(1, self._count))

    def minimumSizeHint(self) -> QSize:
        return self._sized(200, ROW * min(5, max(1, self._count)))

    def index_at(self, place: QPointF) -> int:
        at, rows = int(place.y() // self._row), self._rows
        return rows[at] if 0 <= at < len(rows) else -1

    @property
    def _rows(self) -> list[int]:
        """The index of the bar in each row."""
        count, room = len(self._labels), max(3, int(self.height() // self.length(LEAST_ROW)))
        last = [count - 1] if self._running else []
        return [*range(count)] if count <= room else [*range(room - 1 - len(last)), MORE, *last]

    @property
    def _row(self) -> float:
        """The height of a row: all of them have to fit."""
        return min(self.length(ROW), self.height() / max(1, len(self._rows)))

    def _drawn(self) -> np.ndarray:
        """The value in each row."""
        rows, end = self._rows, len(self._values) - self._running
        without_room = self._values[rows.index(MORE) : end].sum() if MORE in rows else 0.0
        return np.array([without_room if index == MORE else self._values[index] for index in rows])

    def _spans(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where the bar of each row begins and ends, in values."""
        if not self._running or len(values) < 2:
            return np.zeros_like(values), values
        ends = np.concatenate([np.cumsum(values[:-1]), values[-1:]])
        begins = np.concatenate([[0.0], ends[:-2], [0.0]])
        return begins, ends

    def _columns(self) -> tuple[float, float, QRectF]:
        """Where labels end, where notes end, and where bars are drawn."""
        label = min(self.widest(self._labels, SIZE, bold=True) + self.length(4), MOST_LABEL * self.width())
        word = self.label_width(self._notes, MOST_NOTE) + self.length(10)
        note = label + (word if self._notes else 0)
        left, right = note + self.length(12), self.widest([NUMBER], SIZE, bold=True) + self.length(8)
        bars = QRectF(left, 0, max(1.0, self.width() - right - left), self._row * len(self._rows))
        return label, note, bars

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        if not len(self._values):
            return
        label, note, bars = self._columns()
        rows, values = self._rows, self._drawn()
        begins, ends = self._spans(values)
        low, high = min(0.0, begins.min(), ends.min()), max(0.0, begins.max(), ends.max())
        stretch = AlongRow(low, max(high, low + 1e-300), bars.left(), bars.right())
        zero, thick = stretch.at(0.0), min(BAR, 0.7 * self._row / self.theme.scale)
        painter.line(QPointF(zero, 0), QPointF(zero, bars.height()), self.theme.line)
        self.draw_marks(painter)
        for at, (index, begin, end) in enumerate(zip(rows, begins, ends, strict=True)):
            row = QRectF(0, at * self._row, self.width(), self._row)
            self._write(painter, index, float(values[at]), row, label, note)
            if index in self._hatched:
                bar = stretch.between(row, begin, end, PIXEL)
                painter.hatch(in_the_middle(bar, self.length(thick)), self.theme.muted_text)
            else:
                ink = self._color(index, float(values[at]))
                self.draw_signed_bar(painter, row, stretch, (begin, end), thick, ink, least=PIXEL)
        if self._running:
            above = (len(rows) - 1) * self._row
            painter.line(QPointF(0, above), QPointF(self.width(), above), self.theme.line)
        self.draw_focus(painter)

    def part_rectangle(self, index: int) -> QRectF | None:
        rows = self._rows
        return QRectF(0, rows.index(index) * self._row, self.width(), self._row) if index in rows else None

    def _is_sum(self, index: int) -> bool:
        return self._running and index == len(self._values) - 1

    def _write(
        self, painter: Painter, index: int, value: float, row: QRectF, label: float, note: float
    ) -> None:
        theme, bold = self.theme, self._is_sum(index) or index == self._current != MORE
        ink = theme.muted_text if index in self._faded or index == MORE else theme.text
        more = len(self._labels) - len(self._rows) + 1
        words = f"{more} more" if index == MORE else self._labels[index]
        self.write_label(painter, across(row, 0, label), words, ink, bold=bold, token=False)
        ink = theme.accent if self._is_sum(index) else theme.text
        self.write_figure(painter, row, signed_figure(value), ink, bold=bold, margin=2)
        if MORE < index < len(self._notes):
            place = across(row, label + self.length(10), note)
            self.write_cut(painter, place, self._notes[index], theme.key, SIZE, token=True)

    def _color(self, index: int, value: float) -> QColor:
        if self._is_sum(index):
            return self.theme.accent
        if index in self._faded or index == MORE:
            return self.theme.faint_text
        return self.theme.signed(value)
