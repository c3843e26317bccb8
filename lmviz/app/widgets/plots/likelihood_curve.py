"""The log likelihood over the share of one word, and where one stands on it."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.canvas import Canvas, metrics
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.kit.painter import Painter, cut
from lmviz.app.widgets.plots.broken_path import broken_path

SIZE = 11
BELOW, LEFT = 20, 8


class LikelihoodCurve(Canvas):
    """`LikelihoodCurve()`: `set_curve(name, shares, likelihoods, share, likelihood, best, low)`.

    The height of the plot goes from `low` to `best`, the same whichever word is drawn.
    """

    usual, least = (220, 140), (80, 60)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = ""
        self._shares, self._likelihoods = np.zeros(0), np.zeros(0)
        self._share = self._likelihood = self._best = self._low = 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("log likelihood over the share of one word")

    def set_curve(
        self,
        name: str,
        shares: np.ndarray,
        likelihoods: np.ndarray,
        *,
        share: float,
        likelihood: float,
        best: float,
        low: float,
    ) -> None:
        """Draw likelihoods (place,) over shares (place,), and the point where one stands."""
        self._name, self._shares, self._likelihoods = name, shares, likelihoods
        self._share, self._likelihood, self._best, self._low = share, likelihood, best, low
        self.setAccessibleDescription(f"{number(likelihood, 4)} at p({name}) = {number(share)}")
        self.update()

    def _place(self, share: float, likelihood: float) -> QPointF:
        area = self._area
        span = max(self._best - self._low, 1e-9)
        return QPointF(
            area.left() + share * area.width(), area.top() + (self._best - likelihood) / span * area.height()
        )

    @property
    def _area(self) -> QRectF:
        margin = self.length(LEFT)
        return QRectF(self.rect()).adjusted(margin, self.length(18), -margin, -self.length(BELOW))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = self.begin()
        if not len(self._shares):
            return
        theme, area = self.theme, self._area
        painter.setFont(theme.font(SIZE))
        best = self._place(0, self._best).y()
        painter.setPen(QPen(theme.strong_line, 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(area.left(), best), QPointF(area.right(), best))
        painter.line(area.bottomLeft(), area.bottomRight(), QPen(theme.line, 1))
        high = f"the most, {number(self._best, 4)}"
        painter.write(QRectF(area.left(), 0, area.width(), self.length(18)), high, theme.muted_text)
        self._draw_axis(painter, area)
        painter.setClipRect(area.adjusted(-self.length(LEFT), -3, self.length(LEFT), 0))
        painter.setPen(QPen(theme.accent, self.length(2)))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(
            broken_path(
                self._likelihoods, lambda at: self._place(float(self._shares[at]), self._likelihoods[at])
            )
        )
        if self._likelihood >= self._low:
            point = self._place(self._share, self._likelihood)
            painter.dot(point, 5, theme.accent, theme.surface, 1.5)

    def _draw_axis(self, painter: Painter, area: QRectF) -> None:
        below = QRectF(area.left(), area.bottom() + 2, area.width(), self.length(BELOW) - 2)
        painter.drawText(below, Qt.AlignmentFlag.AlignLeft, "0")
        painter.drawText(below, Qt.AlignmentFlag.AlignRight, "1")
        name = cut(f"p({self._name})", below.width() - self.length(30), metrics(SIZE))
        painter.drawText(below, Qt.AlignmentFlag.AlignHCenter, name)
