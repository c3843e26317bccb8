"""Labelled horizontal bars: a distribution's likeliest tokens, or any other small list of sizes."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Signal
from PySide6.QtGui import QColor, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.figures import percentage
from lmviz.app.widgets.base.growing_canvas import GrowingCanvas, growth_in
from lmviz.app.widgets.kit.painter import AT_RIGHT, Painter, cut
from lmviz.app.widgets.kit.pointing import DOWN, Pointable
from lmviz.app.widgets.matrix.crossfade import Crossfade

ROW = 23
BAR = 13
LABEL_SIZE = 12
MOST_LABEL = 0.34
LEAST_BAR, LEAST_LABEL = 10, 24  # pixels at scale 1


class PointableBars(Pointable):
    """Signals: `bar_hovered(int)` (−1 when the pointer leaves), `bar_clicked(int)` (also by Enter).

    Up and Down move what is hovered, until the focus leaves. Subclasses keep the labels.
    """

    spoken_as = "Chart"

    bar_hovered = Signal(int)
    bar_clicked = Signal(int)
    arrows, points_by_key = DOWN, True

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._labels: tuple[str, ...] = ()

    def pointed_at(self, index: int) -> None:
        self.bar_hovered.emit(index)

    def clicked_on(self, index: int) -> None:
        self.bar_clicked.emit(index)


class BarsView(PointableBars, GrowingCanvas):
    """`BarsView()`: bars with a label on the left and the value written on the right.

    Where not all have room, the last line says how many more there are. In a large window they are drawn
    larger: `rows_in(size)` says how many there is room for then.

    `set_bars(labels, values, texts=None, notes=None, highlighted=(), faded=(), limit=None, crossfade=False)`
    shows them; `set_current(index)` marks one; `set_color(color)` is that of the bars, None the accent.
    Signals: `bar_hovered(int)` (−1 when the pointer leaves), `bar_clicked(int)` (also by Enter).
    Up and Down move the mark.
    """

    usual_size = (260, 300)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._values = np.zeros(0)
        self._texts: tuple[str, ...] = ()
        self._notes: tuple[str, ...] = ()
        self._highlighted: frozenset[int] = frozenset()
        self._faded: frozenset[int] = frozenset()
        self._limit: float | None = None
        self._color: QColor | None = None
        self._crossfade: Crossfade[dict[str, tuple[int, float]]] = Crossfade(self)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.setAccessibleName("bars")

    def set_bars(
        self,
        labels: Sequence[str],
        values: Sequence[float] | np.ndarray,
        *,
        texts: Sequence[str] | None = None,
        notes: Sequence[str] = (),
        highlighted: Collection[int] = (),
        faded: Collection[int] = (),
        limit: float | None = None,
        crossfade: bool = False,
    ) -> None:
        """Show bars; all sequences are (bar,).

        `texts` are written beside the bars (percentages when None), `notes` at the right edge (such
        as logits). `limit` is the value of a bar of full width, the largest value when None. With
        `crossfade` bars grow or shrink from what they were, and words move to their new places.
        """
        self._crossfade.end()
        if crossfade and self._labels:
            self._crossfade.begin({name: (row, self._values[row]) for row, name in enumerate(self._labels)})
        self._labels = tuple(labels)
        self._values = np.asarray(values, dtype=np.float64)
        self._texts = tuple(texts) if texts is not None else tuple(percentage(v) for v in self._values)
        self._notes = tuple(notes)
        self._highlighted, self._faded = frozenset(highlighted), frozenset(faded)
        self._limit = limit
        self.show_count(len(self._labels))

    def set_color(self, color: QColor | None) -> None:
        """Draw the bars in a colour, such as that of a model; in the accent where it is None."""
        if color != self._color:
            self._color = color
            self.update()

    def sizeHint(self) -> QSize:
        rows = max(1, len(self._labels))
        return QSize(round(self.usual_length(260)), round(self.usual_length(ROW * rows)))

    def minimumSizeHint(self) -> QSize:
        rows = min(3, max(1, len(self._labels)))
        return QSize(round(self.usual_length(110)), round(self.usual_length(ROW * rows)))

    def amount(self) -> int:
        """The number of bars."""
        return len(self._labels)

    def fitting_growth(self) -> float:
        """As far as all bars fit that fit in the usual size."""
        needed = self.usual_length(ROW * max(1, len(self._labels)))
        return min(super().fitting_growth(), growth_in(self.height() / needed))

    def rows_in(self, size: QSize) -> int:
        """How many bars there is room for in a size, drawn as large as they are there."""
        return int(size.height() / (self.usual_length(ROW) * self.growth_at(size)))

    @property
    def left_out(self) -> int:
        """How many bars have no room."""
        return len(self._labels) - self._bars_with_room

    @property
    def _bars_with_room(self) -> int:
        """How many bars are drawn, whole; where there are more, the last line says so."""
        lines = max(1, int(self.height() / self._row + 0.2))
        return len(self._labels) if lines >= len(self._labels) else max(1, lines - 1)

    @property
    def _row(self) -> float:
        return self.length(ROW)

    def _top(self, index: int) -> float:
        """Where the row of a bar begins, while it moves too; a new one comes from below."""
        before, place = self._crossfade.before, float(index)
        if before is not None:
            was = before[self._labels[index]][0] if self._labels[index] in before else len(self._labels)
            place = was + (index - was) * self._crossfade.share
        return place * self._row

    def _length(self, index: int) -> float:
        """The value a bar is drawn for, while it grows or shrinks too."""
        before, value = self._crossfade.before, float(self._values[index])
        if before is None:
            return value
        was = before.get(self._labels[index], (0, 0.0))[1]
        return was + (value - was) * self._crossfade.share

    def description(self) -> str:
        shown = [f"{label} {text}" for label, text in zip(self._labels, self._texts, strict=True)]
        return shown[self._current] if self._current >= 0 else ", ".join(shown[:5])

    def _columns(self) -> tuple[float, float, float]:
        """Where labels end, where bars begin, and how wide a full bar is.

        If the width is small, bars become shorter, then labels: numbers are never cut.
        """
        measure, written = self.metrics(LABEL_SIZE, token=True), self.metrics(LABEL_SIZE)
        widest = max((measure.horizontalAdvance(label) for label in self._labels), default=0)
        label_end = min(max(widest, self.length(40)), self.width() * MOST_LABEL) + self.length(4)
        beside = max((written.horizontalAdvance(text) for text in self._texts), default=0)
        noted = max((written.horizontalAdvance(note) for note in self._notes), default=0)
        spare = beside + noted + self.length(24 if self._notes else 12)
        gap, least = self.length(8), self.length(LEAST_BAR)
        lack = label_end + gap + least + spare - self.width()
        label_end = max(min(label_end, self.length(LEAST_LABEL)), label_end - max(0.0, lack))
        start = label_end + gap
        return label_end, start, max(least, self.width() - start - spare)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the rows that there is room for; none of them is cut through."""
        painter = self.begin()
        label_end, start, full = self._columns()
        row = self._row
        first = max(0, int(event.rect().top() // row))
        last = min(self._bars_with_room, int(event.rect().bottom() // row) + 1)
        drawn = [self._length(index) for index in range(len(self._labels))]
        largest = self._limit or max(*drawn, 1e-300) if drawn else 1.0
        self._draw_marks(painter, row)
        self._draw_bars(painter, range(first, last), start, full / largest)
        self._draw_texts(painter, range(first, last), label_end, start, full / largest)
        if self.left_out:
            place = QRectF(start, self._bars_with_room * row, self.width() - start, row)
            painter.write(place, f"and {self.left_out} more", self.theme.faint_text)
        self.draw_focus(painter)

    def _draw_marks(self, painter: Painter, row: float) -> None:
        for index, color in ((self.hovered, self.theme.hover), (self._current, self.theme.accent_wash)):
            if 0 <= index < self._bars_with_room:
                painter.box(QRectF(0, index * row, self.width(), row), color, radius=4)

    def _fill(self, index: int) -> QColor:
        usual = QColor(self.theme.accent if self._color is None else self._color)
        color = QColor(self.theme.validation) if index in self._highlighted else usual
        color.setAlphaF(0.25 if index in self._faded else 0.86 if color == usual else 1.0)
        return color

    def _draw_bars(self, painter: Painter, shown: range, start: float, per_value: float) -> None:
        row, height = self._row, self.length(BAR)
        for index in shown:
            middle = self._top(index) + 0.5 * row
            width = self._length(index) * per_value
            if width > 0:
                width = max(width, self.length(1))
            area = QRectF(start, middle - height / 2, width, height)
            painter.box(area, self._fill(index), radius=2.5)

    def _draw_texts(
        self, painter: Painter, shown: range, label_end: float, start: float, per_value: float
    ) -> None:
        row, theme = self._row, self.theme
        measure = self.metrics(LABEL_SIZE, token=True)
        painter.setFont(theme.token_font(LABEL_SIZE))
        for index in shown:
            label, ink = cut(self._labels[index], label_end, measure), theme.text
            ink = theme.faint_text if index in self._faded else ink
            painter.write(QRectF(0, self._top(index), label_end, row), label, ink, where=AT_RIGHT)
        painter.setFont(theme.font(LABEL_SIZE))
        painter.setPen(theme.muted_text)
        for index in shown:
            place = start + max(self._length(index) * per_value, 1) + self.length(6)
            painter.write(QRectF(place, self._top(index), self.width() - place, row), self._texts[index])
        for index in shown if self._notes else ():
            area = QRectF(0, self._top(index), self.width() - self.length(4), row)
            painter.write(area, self._notes[index], where=AT_RIGHT)

    def index_at(self, place: QPointF) -> int:
        index = int(place.y() // self._row)
        return index if 0 <= index < self._bars_with_room else -1
