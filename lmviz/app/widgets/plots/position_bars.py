"""Parts of a whole along a text: a bar for each position, and all of them stacked into one bar below."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from lmviz.app.look.color_maps import mix
from lmviz.app.widgets.base.canvas import once
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.widgets.plots.position_curve import OverPositions

HEIGHT, LEAST, STACK, GAP, MARGIN = 62, 34, 11, 4, 2  # pixels at scale 1


class PositionBars(OverPositions):
    """`PositionBars()`: `set_parts(parts, names=(), kept=None)`, (position,); they may be negative.

    What is not `kept`, (position,) bool, is grey. Below, the parts lie end to end: those above zero from
    the left, and those below zero back from there, so that the mark stands at what they add up to.
    """

    usual, least = (150, HEIGHT), (60, LEAST)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("parts of a sum", parent)
        self._kept = np.zeros(0, dtype=bool)

    @property
    def kept(self) -> np.ndarray:
        """Which parts are in colour, (position,) bool."""
        return self._kept

    @property
    def total(self) -> float:
        """What the parts add up to."""
        return float(self._values.sum())

    def set_parts(self, parts: np.ndarray, names: Sequence[str] = (), kept: np.ndarray | None = None) -> None:
        """Show parts, named by their tokens."""
        self._kept = np.ones(len(parts), dtype=bool) if kept is None else kept
        self.show_values(parts, names)

    def part_rectangle(self, index: int) -> QRectF:
        """Where a part's bar is drawn, from the line at zero."""
        across, value = self._across, float(self._values[index])
        zero, reach = self._height_of(0.0), self._height_of(value)
        left = self.length(MARGIN) + index * across
        return QRectF(left, min(zero, reach), across, abs(reach - zero))

    def stretch(self, position: int) -> QRectF:
        """Where a part lies in the stack."""
        start, end = self._stack()[:, position].tolist()
        wide, value = self.width() - 2 * self.length(MARGIN), float(self._values[position])
        top = self.height() - self.length(STACK)
        inset = 0.0 if value >= 0 else self.length(STACK) * 0.6
        return QRectF(
            self.length(MARGIN) + start * wide, top + inset, (end - start) * wide, self.length(STACK) - inset
        )

    @once
    def _stack(self) -> np.ndarray:
        """Where each part begins and ends in the stack, as shares of it, (2, part)."""
        above, below = np.clip(self._values, 0, None), np.clip(-self._values, 0, None)
        sizes, forward = above + below, np.cumsum(above) - above
        starts = np.where(self._values >= 0, forward, above.sum() - np.cumsum(below))
        whole = float(above.sum()) or 1.0
        return np.clip(np.stack([starts, starts + sizes]) / whole, 0.0, None)

    def index_at(self, place: QPointF) -> int:
        if place.y() >= self.height() - self.length(STACK):
            share = (place.x() - self.length(MARGIN)) / max(1.0, self.width() - 2 * self.length(MARGIN))
            starts, ends = self._stack()
            under = np.flatnonzero((starts <= share) & (share <= ends) & (starts < ends))
            inside = (at for at in under.tolist() if self.stretch(at).contains(place))
            return next(inside, -1)
        index = int((place.x() - self.length(MARGIN)) // self._across)
        return index if 0 <= index < len(self._values) else -1

    @property
    def _across(self) -> float:
        return max(1.0, (self.width() - 2 * self.length(MARGIN)) / max(1, len(self._values)))

    @property
    @once
    def _limits(self) -> tuple[float, float]:
        low, high = float(self._values.min(initial=0.0)), float(self._values.max(initial=0.0))
        return (low, high) if high > low else (0.0, 1.0)

    def _height_of(self, value: float) -> float:
        low, high = self._limits
        room = self.height() - self.length(STACK + GAP + 1)
        return 1 + room * (high - value) / (high - low)

    def description(self) -> str:
        inside = self._current >= 0
        return super().description() if inside else f"{number(self.total)} of {self._count} parts"

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        if not len(self._values):
            return
        foot = self.height() - self.length(STACK + GAP)
        for index in {self._current, self.hovered} & {*range(self._count)}:
            column = QRectF(self.length(MARGIN) + index * self._across, 0, self._across, foot)
            painter.box(column, mix(self.theme.surface, self.theme.accent, 0.15))
        gap = min(1.0, 0.15 * self._across)
        for index in range(len(self._values)):
            painter.box(self.part_rectangle(index).adjusted(gap / 2, 0, -gap / 2, 0), self._color(index))
            self._draw_stretch(painter, index)
        zero = round(self._height_of(0.0)) + 0.5
        painter.line(QPointF(0, zero), QPointF(self.width(), zero), QPen(self.theme.line, 1))
        self._draw_total(painter)
        self.draw_focus(painter)

    def _draw_stretch(self, painter: Painter, index: int) -> None:
        area = self.stretch(index)
        painter.box(area, self._color(index))
        if area.width() > 3:  # narrower ones would be nothing but borders
            painter.line(area.topRight(), area.bottomRight(), QPen(self.theme.surface, 1))

    def _draw_total(self, painter: Painter) -> None:
        """Where the sum stands, if some parts point back."""
        above = float(np.clip(self._values, 0, None).sum())
        if not above or (self._values >= 0).all():
            return
        wide = self.width() - 2 * self.length(MARGIN)
        across = self.length(MARGIN) + max(0.0, self.total / above) * wide
        top = self.height() - self.length(STACK)
        start, end = QPointF(across, top - self.length(2)), QPointF(across, self.height())
        painter.line(start, end, self.theme.text, 1.6)

    def _color(self, index: int) -> QColor:
        if not self._kept[index]:
            return self.theme.strong_line
        color = self.theme.key if self._values[index] >= 0 else self.theme.query
        return color if index in (self._current, self.hovered) else mix(self.theme.surface, color, 0.75)
