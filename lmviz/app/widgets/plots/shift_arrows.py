"""Shares that went from one number to another: a ring, an arrow to a dot, and the change in points."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.figures import brief_percentage, percentage, signed_figure
from lmviz.app.widgets.base.growing_canvas import growth_in
from lmviz.app.widgets.kit.painter import CENTRED, Painter
from lmviz.app.widgets.kit.pointing import Words
from lmviz.app.widgets.kit.rows import across
from lmviz.app.widgets.plots.bars import LabelledBars

ROW, GAP, AXIS, SIZE = 24, 10, 20, 12
DOT = 4.5
SMALL = 0.01
"""Where no share changed by so much, changes have two decimals."""

TICKS = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0)
"""Shares along the axis, which is a square root, so that one in a hundred is seen."""


class ShiftArrows(LabelledBars):
    """`ShiftArrows()`: `set_shifts(labels, before, after)`, shares (row,), those that rose first.

    Between those that rose and those that fell is a gap; the first of either is bold.
    """

    usual_size = (360, 320)
    usual, least = (360, 12 * ROW + AXIS), (200, 3 * ROW)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._before, self._after = np.zeros(0), np.zeros(0)
        self.setAccessibleName("probabilities that rose and fell")
        self.set_readout(self._words)

    def set_shifts(
        self,
        labels: Sequence[str],
        before: Sequence[float] | np.ndarray,
        after: Sequence[float] | np.ndarray,
    ) -> None:
        """Show shares as they were and as they are."""
        self._labels = tuple(labels)
        self._before = np.asarray(before, dtype=np.float64)
        self._after = np.asarray(after, dtype=np.float64)
        self.show_count(len(self._labels))

    @property
    def texts(self) -> tuple[str, ...]:
        """The change of each row in points of a hundred, such as "+48.7"."""
        changes = self._after - self._before
        digits = 1 if np.abs(changes).max(initial=0.0) >= SMALL else 2
        return tuple(signed_figure(100 * change, digits) for change in changes)

    def description(self) -> str:
        return ", ".join(f"{label} {text}" for label, text in zip(self._labels[:6], self.texts, strict=False))

    def fitting_growth(self) -> float:
        """As far as all rows fit."""
        needed = self.usual_length(ROW * len(self._labels) + GAP + AXIS)
        return min(super().fitting_growth(), growth_in(self.height() / max(1.0, needed)))

    def part_rectangle(self, index: int) -> QRectF:
        """The row of a word."""
        fell = int(np.argmax(self._after < self._before)) if (self._after < self._before).any() else index + 1
        top = index * self.length(ROW) + (self.length(GAP) if 0 < fell <= index else 0.0)
        return QRectF(0, top, self.width(), self.length(ROW))

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        if not self._labels:
            return
        label_end = self.label_width(self._labels, 0.34) + self.length(4)
        right = self.width() - self.widest(self.texts, SIZE, bold=True) - self.length(12)
        start, full = label_end + self.length(12), max(self.length(20), right - label_end - self.length(24))
        most = max(float(self._before.max()), float(self._after.max()), 1e-4)
        bottom = min(self.part_rectangle(len(self._labels) - 1).bottom(), self.height() - self.length(AXIS))
        self._draw_axis(painter, start, full, most, bottom)
        for index in range(len(self._labels)):
            row = self.part_rectangle(index)
            if row.bottom() > bottom + 1:
                break
            self._draw_row(painter, index, row, label_end, (start, full, most))
        self.draw_focus(painter)

    def _draw_axis(self, painter: Painter, start: float, full: float, most: float, bottom: float) -> None:
        for tick in TICKS:
            if tick > most:
                continue
            x = start + full * (tick / most) ** 0.5
            painter.line(QPointF(x, 0), QPointF(x, bottom), self.theme.line)
            is_last = tick == max(one for one in TICKS if one <= most)
            said = f"{brief_percentage(tick)} %" if is_last else brief_percentage(tick)
            area = QRectF(x - self.length(24), bottom, self.length(48), self.length(AXIS))
            painter.write(area, said, self.theme.muted_text, 10.5, where=CENTRED)

    def _draw_row(
        self, painter: Painter, index: int, row: QRectF, label_end: float, axis: tuple[float, float, float]
    ) -> None:
        start, full, most = axis
        rose = self._after[index] >= self._before[index]
        ink = self.theme.rose if rose else self.theme.fell
        is_first = index == 0 or (not rose and self._after[index - 1] >= self._before[index - 1])
        if index == self.hovered:
            painter.box(row, self.theme.hover, radius=5)
        self.write_label(painter, across(row, 0, label_end), self._labels[index], bold=is_first)
        y = row.center().y()
        xs = [start + full * (share / most) ** 0.5 for share in (self._before[index], self._after[index])]
        painter.line(QPointF(xs[0], y), QPointF(xs[1], y), ink, 2.0)
        painter.head(QPointF(xs[0], y), QPointF(xs[1], y), ink, 8, 4)
        painter.dot(QPointF(xs[0], y), DOT, self.theme.surface, ink, 1.6)
        painter.dot(QPointF(xs[1], y), DOT, ink)
        self.write_figure(painter, row, self.texts[index], ink, bold=is_first)

    def _words(self, index: int) -> Words:
        if not 0 <= index < len(self._labels):
            return "", ()
        was, now = percentage(float(self._before[index])), percentage(float(self._after[index]))
        return self._labels[index], (f"{was} → {now}", f"{self.texts[index]} points")
