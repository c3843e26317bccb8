"""Words whose probability has changed: a ghost bar for before, a bar for after, and both numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.figures import plain
from lmviz.app.widgets.base.growing_canvas import GrowingCanvas, growth_in
from lmviz.app.widgets.kit.painter import AT_RIGHT, Painter, cut
from lmviz.app.widgets.plots.bars import PointableBars

ROW, FIRST_ROW, BETWEEN = 27, 40, 22
LABEL_SIZE, FIRST_SIZE = 12.0, 14.0
MOST_LABEL = 0.3
SAME = 1.5
"""Scales that differ by less are one."""


class BeforeAfterBars(PointableBars, GrowingCanvas):
    """`BeforeAfterBars()`: `set_words(labels, before, after, lost=False)`, probabilities (word,).

    With `lost` the first word stands apart, larger: it lost most. The others share a scale of their own
    where theirs would be too small, and the line between says how much larger it is.
    Signals: `bar_hovered(int)` (−1 on leaving), `bar_clicked(int)` (also by Enter). Up and Down move the
    mark. In a large window they are drawn larger: `rows_in(size)` says how many there is room for then.
    """

    usual_size = (260, 300)

    usual, least = (280, FIRST_ROW + BETWEEN + 6 * ROW), (110, FIRST_ROW + ROW)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._before, self._after = np.zeros(0), np.zeros(0)
        self._lost = False
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("words before and after the change")

    def set_words(
        self,
        labels: Sequence[str],
        before: Sequence[float] | np.ndarray,
        after: Sequence[float] | np.ndarray,
        *,
        lost: bool = False,
    ) -> None:
        """Show words, the one that lost most first where there is one."""
        self._labels = tuple(labels)
        self._before = np.asarray(before, dtype=np.float64)
        self._after = np.asarray(after, dtype=np.float64)
        self._lost = lost and bool(self._labels)
        self.show_count(len(self._labels))

    def description(self) -> str:
        pairs = zip(self._labels[:5], self.texts, strict=False)
        return ", ".join(f"{label} {text}" for label, text in pairs)

    @property
    def texts(self) -> tuple[str, ...]:
        """The numbers beside each word, such as "92.3 → 3.1 %"."""
        pairs = zip(self._before, self._after, strict=True)
        return tuple(f"{_figure(before)} → {_figure(after)} %" for before, after in pairs)

    @property
    def enlargement(self) -> float:
        """How many times larger the others are drawn than the word that lost most."""
        first = max(self._largest(0, 1), self._largest(1)) if self._lost else self._largest(0)
        others = self._largest(1) if self._lost else first
        ratio = first / others if others > 0 else 1.0
        return ratio if ratio >= SAME else 1.0

    def amount(self) -> int:
        """The number of words."""
        return len(self._labels)

    def fitting_growth(self) -> float:
        """As far as all words fit that fit in the usual size."""
        needed = self.usual_length(FIRST_ROW + BETWEEN + ROW * max(0, len(self._labels) - 1))
        return min(super().fitting_growth(), growth_in(self.height() / needed))

    def rows_in(self, size: QSize) -> int:
        """How many words there is room for in a size, drawn as large as they are there."""
        unit = self.usual_length(1) * self.growth_at(size)
        return 1 + max(0, int((size.height() / unit - FIRST_ROW - BETWEEN) / ROW))

    def _largest(self, first: int, last: int | None = None) -> float:
        both = (self._before[first:last], self._after[first:last])
        return max((float(values.max(initial=0.0)) for values in both), default=0.0)

    def _place(self, index: int) -> QRectF:
        """The row of a word."""
        if self._lost and index == 0:
            return QRectF(0, 0, self.width(), self.length(FIRST_ROW))
        top = self.length(FIRST_ROW + BETWEEN) if self._lost else 0.0
        row = self.length(ROW)
        return QRectF(0, top + (index - self._lost) * row, self.width(), row)

    def _columns(self) -> tuple[float, float, float]:
        """Where labels end, where bars begin, and how wide a full one is."""
        measure = self.metrics(LABEL_SIZE, token=True)
        bold = self.metrics(FIRST_SIZE, token=True, bold=True)
        widest = max((measure.horizontalAdvance(label) for label in self._labels), default=0.0)
        if self._lost:
            widest = max(widest, bold.horizontalAdvance(self._labels[0]))
        label_end = min(widest, self.width() * MOST_LABEL) + self.length(2)
        written = self.metrics(LABEL_SIZE)
        beside = max((written.horizontalAdvance(text) for text in self.texts), default=0.0)
        if self._lost:
            first = self.metrics(FIRST_SIZE, bold=True).horizontalAdvance(self.texts[0])
            beside = max(beside, first if self._stands_wide(label_end, first) else beside)
        start = label_end + self.length(8)
        return label_end, start, max(self.length(16), self.width() - start - beside - self.length(10))

    def _stands_wide(self, label_end: float, beside: float) -> bool:
        """Whether the first word's numbers can be larger than the others'."""
        return self.width() - label_end - beside > self.length(90)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = self.begin()
        if not self._labels:
            return
        columns, larger = self._columns(), self.enlargement
        full = max(self._largest(0), 1e-300)
        for index in range(len(self._labels)):
            place = self._place(index)
            if place.bottom() > self.height() + 1:
                break
            first = self._lost and index == 0
            self._draw_row(painter, index, place, columns, (1.0 if first else larger) / full)
        if self._lost and len(self._labels) > 1:
            self._draw_between(painter, columns[1], full / larger)
        self.draw_focus(painter)

    def _draw_row(
        self,
        painter: Painter,
        index: int,
        place: QRectF,
        columns: tuple[float, float, float],
        per_value: float,
    ) -> None:
        label_end, start, full = columns
        theme, first = self.theme, self._lost and index == 0
        if first or index == self.hovered:
            wash = QColor(theme.key)
            wash.setAlphaF(0.1)
            painter.box(place, theme.hover if index == self.hovered else wash, radius=5)
        height = self.length(13 if first else 8)
        top = place.center().y() - height - self.length(0.5)
        before, after = (
            min(1.0, value * per_value) * full for value in (self._before[index], self._after[index])
        )
        painter.ghost(QRectF(start, top, before, height - self.length(1)))
        width = max(after, self.length(1)) if self._after[index] > 0 else 0.0
        below = QRectF(start, top + height + self.length(1), width, height - self.length(1))
        painter.box(below, theme.key if first else theme.accent, radius=2.5)
        self._write(painter, index, place, label_end)

    def _write(self, painter: Painter, index: int, place: QRectF, label_end: float) -> None:
        theme, first = self.theme, self._lost and index == 0
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        size, weight = (FIRST_SIZE, QFont.Weight.DemiBold) if first else (LABEL_SIZE, QFont.Weight.Normal)
        painter.setFont(theme.token_font(size, weight))
        measure = self.metrics(size, token=True, bold=first)
        label = cut(self._labels[index], label_end, measure)
        painter.write(QRectF(0, place.top(), label_end, place.height()), label, theme.text, where=AT_RIGHT)
        text = self.texts[index]
        wide = first and self._stands_wide(
            label_end, self.metrics(FIRST_SIZE, bold=True).horizontalAdvance(text)
        )
        painter.setFont(theme.font(FIRST_SIZE if wide else LABEL_SIZE, weight))
        painter.setPen(theme.key if first else theme.muted_text)
        painter.drawText(place.adjusted(0, 0, -self.length(4), 0), right, text)

    def _draw_between(self, painter: Painter, start: float, full: float) -> None:
        """Say how the scale of the others differs from that of the first."""
        theme, top, line = self.theme, self.length(FIRST_ROW), self.length(BETWEEN)
        y = top + line - self.length(3)
        painter.line(QPointF(start, y), QPointF(self.width(), y), theme.line)
        if self.enlargement == 1.0:
            return
        said = f"the others, {self.enlargement:.0f} times larger: full width is {plain(100 * full, 2)} %"
        area = QRectF(0, top, self.width() - self.length(4), line - self.length(3))
        shown = cut(said, round(area.width()), self.metrics(10.5))
        painter.write(area, shown, theme.muted_text, 10.5, where=AT_RIGHT)

    def index_at(self, place: QPointF) -> int:
        found = (index for index in range(len(self._labels)) if self._place(index).contains(place))
        return next(found, -1)


def _figure(share: float) -> str:
    """A probability in per cent without the sign, with one decimal; small ones as a bound."""
    return f"{100 * share:.1f}" if share >= 0.0005 or share == 0 else "< 0.1"
