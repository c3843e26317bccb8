"""A small curve of one number over a text, such as a unit's value at each of its positions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.arrows import ACROSS, along
from lmviz.app.widgets.base.canvas import Canvas
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.plots.broken_path import broken_path

HEIGHT = 60
MARGIN = 6


class PositionCurve(Canvas):
    """`PositionCurve()`: `set_values(values, names=(), limits=None)`, (position,), NaN where there is none.

    `set_threshold(value)` draws a line across, `set_current(position)` and `set_hovered(position)` mark
    positions. Signals: `position_hovered(int)` (−1 on leaving), `position_clicked(int)`.
    Left and Right move the mark.
    """

    position_hovered = Signal(int)
    position_clicked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._values = np.zeros(0)
        self._names: tuple[str, ...] = ()
        self._limits = (-1.0, 1.0)
        self._threshold: float | None = None
        self._current = self._hovered = -1
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.setAccessibleName("curve")

    def set_values(
        self,
        values: Sequence[float] | np.ndarray,
        names: Sequence[str] = (),
        limits: tuple[float, float] | None = None,
    ) -> None:
        """Show values, named by their tokens; `limits` are the lowest and highest drawn, zero included."""
        self._values = np.asarray(values, dtype=np.float64)
        self._names = tuple(names)
        finite = self._values[np.isfinite(self._values)]
        low, high = limits or (min(0.0, finite.min(initial=0)), max(0.0, finite.max(initial=0)))
        self._limits = (low, high) if high > low else (low - 1.0, high + 1.0)
        self._current = min(self._current, len(self._values) - 1)
        self._hovered = min(self._hovered, len(self._values) - 1)
        HoverCard.renew(self, partial(self._say, self._hovered) if self._hovered >= 0 else None)
        self._describe()
        self.update()

    def set_threshold(self, threshold: float | None) -> None:
        """A line across at a value; None for none."""
        self._threshold = threshold
        self.update()

    def set_current(self, position: int) -> None:
        """Mark the chosen position; −1 for none."""
        self._current = position
        self._describe()
        self.update()

    def set_hovered(self, position: int) -> None:
        """Show a position as hovered elsewhere, without a signal; −1 for none."""
        if position != self._hovered:
            self._hovered = position
            self.update()

    def point(self, position: int) -> QPointF:
        """Where a position's value is drawn."""
        margin = self.length(MARGIN)
        across = (self.width() - 2 * margin) / max(1, len(self._values) - 1)
        return QPointF(margin + position * across, self._height_of(float(self._values[position])))

    def sizeHint(self) -> QSize:
        return QSize(round(self.length(150)), round(self.length(HEIGHT)))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(self.length(60)), round(self.length(24)))

    def _height_of(self, value: float) -> float:
        low, high = self._limits
        margin = self.length(MARGIN)
        return margin + (self.height() - 2 * margin) * (high - value) / (high - low)

    def _describe(self) -> None:
        inside = 0 <= self._current < len(self._values)
        text = self._readout(self._current) if inside else f"{len(self._values)} positions"
        self.setAccessibleDescription(text)

    def _readout(self, position: int) -> str:
        name = f"“{self._names[position]}”" if position < len(self._names) else str(position + 1)
        return f"{name} {number(float(self._values[position]))}"

    def _say(self, position: int) -> tuple[str, Sequence[str]]:
        return self._readout(position), ()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = self.begin()
        theme = self.theme
        self._draw_level(painter, 0.0, theme.line, Qt.PenStyle.SolidLine)
        if self._threshold is not None:
            self._draw_level(painter, self._threshold, theme.muted_text, Qt.PenStyle.DashLine)
        color = theme.accent
        painter.setPen(QPen(color, self.length(1.8), Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        painter.drawPath(broken_path(self._values, self.point))
        for position, fill in ((self._hovered, theme.surface), (self._current, color)):
            if 0 <= position < len(self._values) and np.isfinite(self._values[position]):
                painter.setPen(QPen(color, self.length(1.8)))
                painter.setBrush(fill)
                painter.drawEllipse(self.point(position), self.length(3.2), self.length(3.2))
        self.draw_focus(painter)

    def _draw_level(self, painter: QPainter, value: float, color: QColor, style: Qt.PenStyle) -> None:
        height = round(self._height_of(value)) + 0.5
        painter.setPen(QPen(color, 1, style))
        painter.drawLine(QPointF(0, height), QPointF(self.width(), height))

    def _position_at(self, place: QPointF) -> int:
        if not len(self._values):
            return -1
        margin = self.length(MARGIN)
        share = (place.x() - margin) / max(1.0, self.width() - 2 * margin)
        return int(np.clip(round(share * (len(self._values) - 1)), 0, len(self._values) - 1))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        position = self._position_at(event.position())
        changed = position != self._hovered
        self.set_hovered(position)
        if position >= 0:
            HoverCard.beside(self, event.position().toPoint(), *self._say(position))
        if changed:
            self.position_hovered.emit(position)

    def leaveEvent(self, event: QEvent) -> None:
        HoverCard.leave(self)
        if self._hovered >= 0:
            self.set_hovered(-1)
            self.position_hovered.emit(-1)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._choose(self._position_at(event.position()))

    def _choose(self, position: int) -> None:
        if position >= 0:
            self.set_current(position)
            self.position_clicked.emit(position)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        wanted = along(ACROSS, event.key(), self._current, len(self._values))
        if wanted is not None:
            self._choose(wanted)
        else:
            super().keyPressEvent(event)
