"""The norm of the gradient over the size of the batch, both logarithmic, beside that of noise alone."""

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
LEFT, BELOW, ABOVE, RIGHT = 44, 34, 8, 76
MARGIN = 1.25  # above and below the norms, as a factor
STEPS = (1, 2, 5)


class BatchNoisePlot(Canvas):
    """`BatchNoisePlot()`: `set_norms(sizes, norms, expected, noise)`, all (size,).

    The measured norms are points, what is expected is a line, and what noise alone would leave is dashed.

    `set_scale(size)` marks the batch size at which noise and signal are equal, infinity for none.
    """

    usual, least = (280, 170), (180, 90)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sizes = self._norms = self._expected = self._noise = np.zeros(0)
        self._scale = math.inf
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("norm of the gradient over the size of the batch")

    def set_norms(
        self, sizes: np.ndarray, norms: np.ndarray, expected: np.ndarray, noise: np.ndarray
    ) -> None:
        """Draw other norms."""
        self._sizes, self._norms, self._expected, self._noise = sizes, norms, expected, noise
        pairs = zip(sizes.tolist(), norms.tolist(), strict=True)
        self.setAccessibleDescription("; ".join(f"{size}: {number(norm)}" for size, norm in pairs))
        self.update()

    def set_scale(self, size: float) -> None:
        """Mark the batch size at which noise and signal are equal."""
        self._scale = size
        self.update()

    @property
    def points(self) -> np.ndarray:
        """The measured norms, (size, 2): batch size and norm."""
        return np.column_stack([self._sizes, self._norms])

    @property
    def _area(self) -> QRectF:
        sides = (self.length(LEFT), self.length(ABOVE), -self.length(RIGHT), -self.length(BELOW))
        return QRectF(self.rect()).adjusted(*sides)

    @property
    def _range(self) -> tuple[float, float, float]:
        """The logarithms of the largest size, and of the lowest and highest norm that are drawn."""
        if not len(self._norms):
            return math.log10(64), -1.0, 0.0
        both = np.concatenate([self._norms, self._expected, self._noise])
        both = both[both > 0]
        low, high = float(both.min(initial=1)) / MARGIN, float(both.max(initial=1e-12)) * MARGIN
        return max(math.log10(self._sizes[-1]), 0.3), math.log10(min(low, high / 4)), math.log10(high)

    def place_of(self, size: float, norm: float) -> QPointF:
        """Where a point is drawn."""
        area, (last, low, high) = self._area, self._range
        x = math.log10(size) / last
        y = (math.log10(max(norm, 1e-12)) - low) / (high - low)
        return QPointF(area.left() + x * area.width(), area.bottom() - y * area.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = self.begin(), self.theme
        painter.setFont(theme.font(SIZE))
        self._draw_axes(painter)
        if not len(self._norms):
            return
        self._draw_scale(painter)
        dashed = QPen(theme.strong_line, self.length(1.4), Qt.PenStyle.DashLine)
        self._draw_line(painter, self._noise, dashed)
        self._draw_line(painter, self._expected, QPen(theme.accent, self.length(1.8)))
        painter.setPen(QPen(theme.accent, self.length(1.6)))
        painter.setBrush(theme.surface)
        for size, norm in self.points.tolist():
            painter.drawEllipse(self.place_of(size, norm), self.length(3.6), self.length(3.6))
        self._draw_names(painter)

    def _draw_axes(self, painter: Painter) -> None:
        theme, area = self.theme, self._area
        last, low, high = self._range
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for exponent in range(math.floor(low), math.ceil(high) + 1):
            for step in STEPS:
                norm = step * 10.0**exponent
                if not low <= math.log10(norm) <= high:
                    continue
                y = self.place_of(1, norm).y()
                painter.line(QPointF(area.left(), y), QPointF(area.right(), y), theme.line)
                painter.setPen(theme.muted_text)
                painter.drawText(QRectF(0, y - 8, area.left() - self.length(6), 16), right, f"{norm:.4g}")
        painter.setPen(theme.muted_text)
        row = self.length(15)
        for power in range(int(last / math.log10(2) + 1e-6) + 1):
            x = self.place_of(2**power, 1).x()
            place = QRectF(x - 30, area.bottom() + self.length(3), 60, row)
            painter.drawText(place, Qt.AlignmentFlag.AlignHCenter, str(2**power))
        below = QRectF(area.left(), area.bottom() + self.length(3) + row, area.width(), row)
        painter.drawText(below, Qt.AlignmentFlag.AlignHCenter, "examples in a batch")

    def _draw_line(self, painter: Painter, values: np.ndarray, pen: QPen) -> None:
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        pairs = zip(self._sizes.tolist(), values.tolist(), strict=True)
        painter.drawPolyline(QPolygonF([self.place_of(size, value) for size, value in pairs]))

    def _draw_scale(self, painter: Painter) -> None:
        """A line where noise and signal are equal, if that lies in sight."""
        if not 1 <= self._scale <= self._sizes[-1]:
            return
        area, x = self._area, self.place_of(self._scale, 1).x()
        painter.setPen(QPen(self.theme.key, self.length(1.2), Qt.PenStyle.DotLine))
        painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
        painter.setPen(self.theme.key)
        width = self.length(110)
        left = min(x + self.length(5), self.width() - width)
        painter.drawText(QRectF(left, area.top(), width, self.length(16)), 0, "noise = signal")

    def _draw_names(self, painter: Painter) -> None:
        """The names of both lines at their ends, apart from each other."""
        last = float(self._sizes[-1])
        mean, noise = (self.place_of(last, float(line[-1])) for line in (self._expected, self._noise))
        apart = self.length(14)
        if noise.y() - mean.y() < apart:
            noise.setY(mean.y() + apart)
        for place, name, color in (
            (mean, "measured", self.theme.accent),
            (noise, "noise, 1/√B", self.theme.muted_text),
        ):
            area = QRectF(place.x() + self.length(8), place.y() - self.length(8), self.length(RIGHT), 16)
            painter.write(area, name, color)
