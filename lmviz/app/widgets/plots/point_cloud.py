"""Points at any two numbers each, with both axes from zero."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPaintEvent
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.canvas import once
from lmviz.app.widgets.base.figures import plain
from lmviz.app.widgets.kit.painter import AT_LEFT, AT_RIGHT, CENTRED, Painter
from lmviz.app.widgets.kit.pointing import ACROSS, Pointable
from lmviz.app.widgets.plots.dot_rows import round_ticks
from lmviz.looks.ink import Ink

DOT, RING = 4.0, 6.0
LEFT, BOTTOM, TOP, RIGHT = 34, 34, 18, 12


class PointCloud(Pointable):
    """`PointCloud()`: `set_points(x, y, inks)`, (point,) each; `set_names(x, y)`; `ring(point)`, −1 none.

    A dashed line is where both numbers are the same.
    """

    usual, least = (260, 230), (140, 110)
    arrows, points_by_key = ACROSS, True
    takes_clicks = True

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._points = np.zeros((0, 2))
        self._inks: tuple[Ink, ...] = ()
        self._names = ("", "")
        self._ringed = -1
        self.setAccessibleName("points")

    def set_names(self, x: str, y: str) -> None:
        """What stands along the axes."""
        self._names = (x, y)
        self.setAccessibleName(f"{y} over {x}")
        self.update()

    def set_points(self, x: np.ndarray, y: np.ndarray, inks: Sequence[Ink] = ()) -> None:
        """Show other points; those that are NaN are left out."""
        self._points = np.column_stack([x, y]).astype(np.float64)
        self._inks = tuple(inks)
        self.show_count(len(self._points))
        self.draw_again()

    def ring(self, point: int) -> None:
        """Ring one."""
        if point != self._ringed:
            self._ringed = point
            self.update()

    def description(self) -> str:
        return f"{int(np.isfinite(self._points).all(axis=1).sum())} points"

    @once
    def _ends(self) -> tuple[float, float]:
        known = self._points[np.isfinite(self._points).all(axis=1)]
        low, high = min(0.0, known.min(initial=0.0)), max(0.0, known.max(initial=0.0))
        return (low, high) if high > low else (low, low + 1.0)

    def _place(self, x: float, y: float) -> QPointF:
        low, high = self._ends()
        left, right = self.length(LEFT), self.width() - self.length(RIGHT)
        top, bottom = self.length(TOP), self.height() - self.length(BOTTOM)
        return QPointF(
            left + (x - low) / (high - low) * (right - left),
            bottom - (y - low) / (high - low) * (bottom - top),
        )

    @once
    def _centres(self) -> np.ndarray:
        """Where the points are, (point, 2) in pixels; NaN for those that are not shown."""
        low, high = self._ends()
        first, last = self._place(low, low), self._place(high, high)
        share = (self._points - low) / (high - low)
        shown = np.isfinite(self._points).all(axis=1, keepdims=True)
        begin, span = np.array([first.x(), first.y()]), np.array([last.x() - first.x(), last.y() - first.y()])
        return np.where(shown, begin + share * span, np.nan)

    def index_at(self, place: QPointF) -> int:
        if not np.isfinite(self._points).all(axis=1).any():
            return -1
        distances = np.square(self._centres() - (place.x(), place.y())).sum(axis=1)
        nearest = int(np.nanargmin(distances))
        return nearest if distances[nearest] < self.length(2.5 * DOT) ** 2 else -1

    def part_rectangle(self, index: int) -> QRectF | None:
        x, y = self._points[index]
        if not (np.isfinite(x) and np.isfinite(y)):
            return None
        at, size = self._place(x, y), self.length(DOT)
        return QRectF(at.x() - size, at.y() - size, 2 * size, 2 * size)

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        if not len(self._points):
            return
        low, high = self._ends()
        theme, bottom = self.theme, self.height() - self.length(BOTTOM)
        for tick in round_ticks(low, high):
            x, y = self._place(tick, low).x(), self._place(low, tick).y()
            ink = theme.strong_line if tick == 0 else theme.line
            painter.line(self._place(tick, low), self._place(tick, high), ink)
            painter.line(self._place(low, tick), self._place(high, tick), ink)
            wide, line = self.length(40), self.length(14)
            painter.write(
                QRectF(x - wide / 2, bottom, wide, line), plain(tick), theme.muted_text, 10, where=CENTRED
            )
            painter.write(
                QRectF(0, y - line / 2, self.length(LEFT - 6), line),
                plain(tick),
                theme.muted_text,
                10,
                where=AT_RIGHT,
            )
        painter.line(self._place(low, low), self._place(high, high), theme.muted_text)
        for index, (x, y) in enumerate(self._points):
            if np.isfinite(x) and np.isfinite(y) and index not in (self._ringed, self.hovered):
                ink = QColor(theme.ink(self._inks[index] if self._inks else "accent"))
                ink.setAlphaF(0.7)
                painter.dot(self._place(x, y), DOT, ink)
        for index in {self._ringed, self.hovered} - {-1}:
            if index < len(self._points) and np.isfinite(self._points[index]).all():
                ink = theme.ink(self._inks[index] if self._inks else "accent")
                painter.dot(self._place(*self._points[index]), RING, ink, theme.text, 1.8)
        above = QRectF(0, 0, self.width(), self.length(TOP))
        self.write_cut(painter, above, self._names[1], theme.muted_text, 11, where=AT_LEFT)
        below = QRectF(0, self.height() - self.length(16), self.width(), self.length(16))
        self.write_cut(painter, below, self._names[0], theme.muted_text, 11, where=AT_RIGHT)
        self.draw_focus(painter)
