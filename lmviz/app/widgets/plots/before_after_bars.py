"""Words whose probability has changed: a ghost bar for before, a bar for after, and both numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QColor, QPaintEvent
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.figures import bare_percentage, percentage
from lmviz.app.widgets.base.growing_canvas import growth_in
from lmviz.app.widgets.kit.painter import AT_RIGHT, Painter
from lmviz.app.widgets.kit.rows import across
from lmviz.app.widgets.plots.bars import LabelledBars

ROW, FIRST_ROW, BETWEEN = 27, 40, 22
LABEL_SIZE, FIRST_SIZE = 12.0, 14.0
MOST_LABEL = 0.3
SAME = 1.5
"""Scales that differ by less are one."""


class BeforeAfterBars(LabelledBars):
    """`BeforeAfterBars()`: `set_words(labels, before, after, lost=False)`, probabilities (word,).

    With `lost` the first word stands apart, larger: it lost most. The others share a scale of their own
    where theirs would be too small, and the line between says how much larger it is.
    `rows_in(size)` says how many there is room for in a size.
    """

    usual_size = (260, 300)
    usual, least = (280, FIRST_ROW + BETWEEN + 6 * ROW), (110, FIRST_ROW + ROW)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._before, self._after = np.zeros(0), np.zeros(0)
        self._texts: tuple[str, ...] = ()
        self._lost = False
        self.setAccessibleName("probabilities before and after the change")

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
        self._texts = tuple(
            f"{bare_percentage(old)} → {bare_percentage(new)} %"
            for old, new in zip(self._before, self._after, strict=True)
        )
        self._lost = lost and bool(self._labels)
        self.show_count(len(self._labels))

    def description(self) -> str:
        pairs = zip(self._labels[:5], self.texts, strict=False)
        return ", ".join(f"{label} {text}" for label, text in pairs)

    @property
    def texts(self) -> tuple[str, ...]:
        """The numbers beside each word, such as "92.3 → 3.1 %"."""
        return self._texts

    @property
    def enlargement(self) -> float:
        """How many times larger the others are drawn than the word that lost most."""
        first = max(self._largest(0, 1), self._largest(1)) if self._lost else self._largest(0)
        others = self._largest(1) if self._lost else first
        ratio = first / others if others > 0 else 1.0
        return ratio if ratio >= SAME else 1.0

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

    def part_rectangle(self, index: int) -> QRectF:
        """The row of a word."""
        if self._is_first(index):
            return QRectF(0, 0, self.width(), self.length(FIRST_ROW))
        top = self.length(FIRST_ROW + BETWEEN) if self._lost else 0.0
        row = self.length(ROW)
        return QRectF(0, top + (index - self._lost) * row, self.width(), row)

    def _is_first(self, index: int) -> bool:
        """Whether a word stands apart."""
        return self._lost and index == 0

    def _columns(self) -> tuple[float, float, float]:
        """Where labels end, how wide a full bar is, and the size of the figures of the first word.

        They can be larger than the others' where that leaves room for bars.
        """
        lost = int(self._lost)
        widest = max(
            self.widest(self._labels, LABEL_SIZE, token=True),
            self.widest(self._labels[:lost], FIRST_SIZE, token=True, bold=True),
        )
        label_end = min(widest, self.width() * MOST_LABEL) + self.length(2)
        beside, size = self.widest(self.texts, LABEL_SIZE), LABEL_SIZE
        first = self.widest(self.texts[:lost], FIRST_SIZE, bold=True)
        if self.width() - label_end - first > self.length(90):
            beside, size = max(beside, first), FIRST_SIZE
        full = self.width() - label_end - beside - self.length(18)
        return label_end, max(self.length(16), full), size

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        if not self._labels:
            return
        columns, larger = self._columns(), self.enlargement
        largest = max(self._largest(0), 1e-300)
        for index in range(len(self._labels)):
            if self.part_rectangle(index).bottom() > self.height() + 1:
                break
            self._draw_row(painter, index, columns, (1.0 if self._is_first(index) else larger) / largest)
        if self._lost and len(self._labels) > 1:
            self._draw_between(painter, columns[0] + self.length(8), largest / larger)
        self.draw_focus(painter)

    def _draw_row(
        self, painter: Painter, index: int, columns: tuple[float, float, float], per_value: float
    ) -> None:
        (label_end, full, first_size), theme = columns, self.theme
        row, first = self.part_rectangle(index), self._is_first(index)
        if first or index == self.hovered:
            wash = QColor(theme.key)
            wash.setAlphaF(0.1)
            painter.box(row, theme.hover if index == self.hovered else wash, radius=5)
        before, after = (min(1.0, part[index] * per_value) * full for part in (self._before, self._after))
        bars, ink = across(row, label_end + self.length(8), row.right()), theme.key if first else theme.accent
        self.draw_pair(painter, bars, 13 if first else 8, (before, after), ink)
        size = FIRST_SIZE if first else LABEL_SIZE
        self.write_label(painter, across(row, 0, label_end), self._labels[index], size=size, bold=first)
        ink, size = (theme.key, first_size) if first else (theme.muted_text, LABEL_SIZE)
        self.write_figure(painter, row, self.texts[index], ink, size, bold=first)

    def _draw_between(self, painter: Painter, start: float, full: float) -> None:
        """Say how the scale of the others differs from that of the first."""
        theme, top, line = self.theme, self.length(FIRST_ROW), self.length(BETWEEN)
        y = top + line - self.length(3)
        painter.line(QPointF(start, y), QPointF(self.width(), y), theme.line)
        if self.enlargement == 1.0:
            return
        said = f"the others, {self.enlargement:.0f} times larger: full width is {percentage(full)}"
        area = QRectF(0, top, self.width() - self.length(4), line - self.length(3))
        self.write_cut(painter, area, said, theme.muted_text, 10.5, where=AT_RIGHT)
