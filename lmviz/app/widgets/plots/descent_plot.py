"""The loss after one step over its rate, with the straight line that the gradient predicts."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.canvas import Canvas
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.kit.painter import Painter

SIZE = 11
LEFT, BELOW, ABOVE, RIGHT = 42, 20, 10, 14


class DescentPlot(Canvas):
    """`DescentPlot()`: `set_curve(rates, losses, line, rate)`; `line` is (rate,), where the gradient alone
    would lead."""

    usual, least = (220, 130), (110, 70)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rates, self._losses, self._line = np.zeros(0), np.zeros(0), np.zeros(0)
        self._rate = 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("loss after one step over its rate")

    def set_curve(self, rates: np.ndarray, losses: np.ndarray, line: np.ndarray, rate: float) -> None:
        """Draw other losses; all are (rate,)."""
        self._rates, self._losses, self._line, self._rate = rates, losses, line, rate
        self.update()

    @property
    def losses(self) -> np.ndarray:
        """What is drawn, (rate,)."""
        return self._losses

    def _place(self, rate: float, loss: float) -> QPointF:
        area = self._area
        low, high = self._range
        x = (rate - self._rates[0]) / max(self._rates[-1] - self._rates[0], 1e-12)
        y = (loss - low) / max(high - low, 1e-12)
        return QPointF(area.left() + x * area.width(), area.bottom() - min(max(y, -0.2), 1.2) * area.height())

    @property
    def _area(self) -> QRectF:
        labels = [number(value, 3) for value in self._ticks]
        sides = (
            self.room_beside(labels, LEFT, SIZE),
            self.length(ABOVE),
            -self.length(RIGHT),
            -self.length(BELOW),
        )
        return QRectF(self.rect()).adjusted(*sides)

    @property
    def _ticks(self) -> list[float]:
        low, high = self._range
        return np.linspace(low, high, 4)[1:-1].tolist()

    @property
    def _range(self) -> tuple[float, float]:
        seen = self._losses[np.isfinite(self._losses)]
        if not len(seen):
            return 0.0, 1.0
        low, high = float(seen.min()), float(seen.max())
        room = max(high - low, 1e-9) * 0.12
        return low - room, high + room

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = self.begin(), self.theme
        if not len(self._rates):
            return
        area, (low, _) = self._area, self._range
        painter.setFont(theme.font(SIZE))
        for value in self._ticks:
            y = self._place(self._rates[0], value).y()
            painter.line(QPointF(area.left(), y), QPointF(area.right(), y), theme.line)
            painter.setPen(theme.muted_text)
            right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(QRectF(0, y - 8, area.left() - 5, 16), right, number(value, 3))
        for rate in np.linspace(self._rates[0], self._rates[-1], 3).tolist():
            place = QRectF(self._place(rate, low).x() - 30, area.bottom() + 2, 60, self.length(16))
            painter.drawText(place, Qt.AlignmentFlag.AlignHCenter, f"{rate:.2g}".replace("-", "−"))
        painter.setClipRect(area.adjusted(-6, -6, 6, 6))
        self._draw_curve(painter, self._line, QPen(theme.muted_text, 1.2, Qt.PenStyle.DashLine))
        self._draw_curve(painter, self._losses, QPen(theme.accent, self.length(2)))
        self._draw_point(painter, 0.0, hollow=False)
        self._draw_point(painter, self._rate, hollow=True)

    def _draw_curve(self, painter: Painter, losses: np.ndarray, pen: QPen) -> None:
        painter.setPen(pen)
        points = zip(self._rates.tolist(), losses.tolist(), strict=True)
        seen = [self._place(rate, loss) for rate, loss in points if math.isfinite(loss)]
        painter.drawPolyline(QPolygonF(seen))

    def _draw_point(self, painter: Painter, rate: float, *, hollow: bool) -> None:
        theme = self.theme
        loss = float(np.interp(rate, self._rates, self._losses))
        if not math.isfinite(loss):
            return
        painter.setPen(QPen(theme.accent if hollow else theme.muted_text, self.length(2)))
        painter.setBrush(theme.surface if hollow else theme.muted_text)
        painter.drawEllipse(self._place(rate, loss), self.length(4), self.length(4))
