"""A small curve of one number over a text, such as a unit's value at each of its positions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.widgets.kit.pointing import ACROSS, Pointable, Words

HEIGHT = 60
MARGIN = 6


class OverPositions(Pointable):
    """One number for each position of a text; subclasses draw them, and `set_current(position)` marks one.

    Left and Right move the mark as a click does.
    """

    spoken_as = "Chart"

    arrows, marks_clicked = ACROSS, True

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._values = np.zeros(0)
        self._names: tuple[str, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.setAccessibleName(name)

    def show_values(self, values: Sequence[float] | np.ndarray, names: Sequence[str]) -> None:
        """These (position,) are drawn from now on, named by their tokens."""
        self._values, self._names = np.asarray(values, dtype=np.float64), tuple(names)
        self.show_count(len(self._values))

    def readout(self, index: int) -> Words:
        name = f"“{self._names[index]}”" if index < len(self._names) else str(index + 1)
        return f"{name} {number(float(self._values[index]))}", ()

    def description(self) -> str:
        return self.readout(self._current)[0] if self._current >= 0 else f"{self._count} positions"


class PositionCurve(OverPositions):
    """`PositionCurve()`: `set_values(values, names=(), limits=None)`, (position,), NaN where there is none.

    `set_threshold(value)` draws a line across.
    """

    usual, least = (150, HEIGHT), (60, 24)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("curve", parent)
        self._limits = (-1.0, 1.0)
        self._threshold: float | None = None

    def set_values(
        self,
        values: Sequence[float] | np.ndarray,
        names: Sequence[str] = (),
        limits: tuple[float, float] | None = None,
    ) -> None:
        """Show values, named by their tokens; `limits` are the lowest and highest drawn, zero included."""
        finite = np.asarray(values, dtype=np.float64)[np.isfinite(values)]
        low, high = limits or (min(0.0, finite.min(initial=0)), max(0.0, finite.max(initial=0)))
        self._limits = (low, high) if high > low else (low - 1.0, high + 1.0)
        self.show_values(values, names)

    def set_threshold(self, threshold: float | None) -> None:
        """A line across at a value; None for none."""
        self._threshold = threshold
        self.update()

    def point(self, position: int) -> QPointF:
        """Where a position's value is drawn."""
        margin = self.length(MARGIN)
        across = (self.width() - 2 * margin) / max(1, len(self._values) - 1)
        return QPointF(margin + position * across, self._height_of(float(self._values[position])))

    def _height_of(self, value: float) -> float:
        low, high = self._limits
        margin = self.length(MARGIN)
        return margin + (self.height() - 2 * margin) * (high - value) / (high - low)

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        theme = self.theme
        self._draw_level(painter, 0.0, theme.line, Qt.PenStyle.SolidLine)
        if self._threshold is not None:
            self._draw_level(painter, self._threshold, theme.muted_text, Qt.PenStyle.DashLine)
        color = theme.accent
        painter.curve(self._values, self.point, color, 1.8)
        for position, fill in ((self._hovered, theme.surface), (self._current, color)):
            if 0 <= position < len(self._values) and np.isfinite(self._values[position]):
                painter.dot(self.point(position), 3.2, fill, color, 1.8)
        self.draw_focus(painter)

    def _draw_level(self, painter: Painter, value: float, color: QColor, style: Qt.PenStyle) -> None:
        height = round(self._height_of(value)) + 0.5
        painter.line(QPointF(0, height), QPointF(self.width(), height), QPen(color, 1, style))

    def index_at(self, place: QPointF) -> int:
        if not len(self._values):
            return -1
        margin = self.length(MARGIN)
        share = (place.x() - margin) / max(1.0, self.width() - 2 * margin)
        return int(np.clip(round(share * (len(self._values) - 1)), 0, len(self._values) - 1))
