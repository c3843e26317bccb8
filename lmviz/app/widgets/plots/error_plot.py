"""The error of a slope over ε, both logarithmic, with the ε that is chosen."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.arrows import ACROSS, along
from lmviz.app.widgets.base.canvas import Canvas, metrics
from lmviz.app.widgets.kit.painter import AT_RIGHT, Painter

SIZE = 11
LEFT, BELOW, ABOVE, RIGHT = 46, 26, 16, 20
LOWEST = 1e-17  # where an error of 0 is drawn


class ErrorPlot(Canvas):
    """`ErrorPlot()`: `set_curves({name: (point, 2)})`, ε and error; the first is drawn strong.

    `set_epsilon(value)` marks one. Signal `epsilon_chosen(float)` by click, drag, or Left and Right.
    """

    epsilon_chosen = Signal(float)

    usual, least = (260, 150), (150, 90)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._curves: dict[str, np.ndarray] = {}
        self._epsilon = 1e-5
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("error over ε")

    def set_curves(self, curves: dict[str, np.ndarray]) -> None:
        """Draw other curves."""
        self._curves = {name: np.asarray(points) for name, points in curves.items() if len(points)}
        self.update()

    def set_epsilon(self, epsilon: float) -> None:
        """Mark the ε that is chosen."""
        self._epsilon = epsilon
        self.setAccessibleDescription(f"ε = {epsilon:.0e}")
        self.update()

    @property
    def curves(self) -> dict[str, np.ndarray]:
        """What is drawn."""
        return dict(self._curves)

    @property
    def _area(self) -> QRectF:
        sides = (self.length(LEFT), self.length(ABOVE), -self.length(RIGHT), -self.length(BELOW))
        return QRectF(self.rect()).adjusted(*sides)

    @property
    def _range(self) -> tuple[float, float, float, float]:
        """The least and largest exponent of ε, and those of the error."""
        points = np.concatenate(list(self._curves.values())) if self._curves else np.array([[1e-5, 1e-11]])
        errors = np.log10(np.clip(points[:, 1][np.isfinite(points[:, 1])], LOWEST, 1e9))
        exponents = np.log10(points[:, 0])
        low, high = math.floor(float(errors.min(initial=-8))), math.ceil(float(errors.max(initial=-8)))
        return float(exponents.min()), float(exponents.max()), low, max(high, low + 1)

    def place_of(self, epsilon: float, error: float) -> QPointF:
        """Where a point is drawn."""
        area, (first, last, low, high) = self._area, self._range
        x = (math.log10(epsilon) - first) / max(last - first, 1e-9)
        y = (math.log10(min(max(error, LOWEST), 1e9)) - low) / (high - low) if math.isfinite(error) else 1.0
        return QPointF(area.left() + x * area.width(), area.bottom() - y * area.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = self.begin(), self.theme
        self._draw_axes(painter)
        for place, points in reversed(list(enumerate(self._curves.values()))):
            color = theme.accent if place == 0 else theme.strong_line
            painter.setPen(QPen(color, self.length(2 if place == 0 else 1.4)))
            painter.drawPolyline(QPolygonF(self._seen(points)))
        for place, (name, points) in enumerate(self._curves.items()):
            if seen := self._seen(points):
                self._draw_name(painter, name, seen, theme.accent if place == 0 else theme.muted_text)
        self._draw_chosen(painter)
        self.draw_focus(painter)

    def _draw_name(self, painter: Painter, name: str, curve: list[QPointF], color: QColor) -> None:
        shown, place = self._named(name, curve)
        painter.write(place, shown, color, SIZE)

    def name_places(self) -> dict[str, QRectF]:
        """What is written beside the curves, and where."""
        curves = ((name, self._seen(points)) for name, points in self._curves.items())
        return dict(self._named(name, seen) for name, seen in curves if seen)

    def _seen(self, points: np.ndarray) -> list[QPointF]:
        return [self.place_of(*point) for point in points.tolist() if math.isfinite(point[1])]

    def _named(self, name: str, curve: list[QPointF]) -> tuple[str, QRectF]:
        """A curve's name and its place; where there is no room, only its first part."""
        place = self._name_place(name, curve)
        short = name.partition(",")[0]
        if place.right() > self.width() and short != name:
            return self._named(short, curve)
        place.moveLeft(min(place.left(), self.width() - place.width()))
        return name, place

    def _name_place(self, name: str, curve: list[QPointF]) -> QRectF:
        """Below the beginning of a curve; of one that falls at once, to its right."""
        measure, start = metrics(SIZE), curve[0] + QPointF(self.length(6), self.length(2))
        width, height = measure.horizontalAdvance(name), measure.height()
        lowest = max(point.y() for point in curve if point.x() <= start.x() + width)
        if lowest - curve[0].y() > height:
            passed = next((point for point in curve if point.y() > start.y() + height), curve[-1])
            start.setX(max(start.x(), passed.x() + self.length(2)))
        else:
            start.setY(lowest + self.length(2))
        return QRectF(start.x(), start.y(), width + 2, height)

    def _draw_axes(self, painter: Painter) -> None:
        theme, area = self.theme, self._area
        first, last, low, high = self._range
        painter.setFont(theme.font(SIZE))
        step = max(1, round((high - low) / 4))
        for exponent in range(int(low), int(high) + 1, step):
            y = self.place_of(10.0**first, 10.0**exponent).y()
            painter.line(QPointF(area.left(), y), QPointF(area.right(), y), theme.line)
            place = QRectF(0, y - 8, area.left() - self.length(5), 16)
            painter.write(place, f"1e{exponent}".replace("-", "−"), theme.muted_text, where=AT_RIGHT)
        for exponent in range(math.ceil(first), math.floor(last) + 1, 4):
            x = self.place_of(10.0**exponent, 1.0).x()
            place = QRectF(x - 30, area.bottom() + self.length(8), 60, self.length(16))
            painter.drawText(place, Qt.AlignmentFlag.AlignHCenter, f"1e{exponent}".replace("-", "−"))

    def _draw_chosen(self, painter: Painter) -> None:
        if not self._curves:
            return
        theme, area = self.theme, self._area
        points = next(iter(self._curves.values()))
        at = int(np.argmin(np.abs(np.log10(points[:, 0]) - math.log10(self._epsilon))))
        place = self.place_of(*points[at].tolist())
        painter.line(QPointF(place.x(), area.top()), QPointF(place.x(), area.bottom()), QPen(theme.accent, 1))
        painter.dot(place, 4.5, theme.surface, theme.accent, 2)
        painter.setFont(theme.font(SIZE))
        said = f"ε = {self._epsilon:.0e}, error {points[at, 1]:.0e}".replace("-", "−")
        width = self.length(170)
        x = min(max(place.x() - width / 2, 0), self.width() - width)
        painter.drawText(QRectF(x, 0, width, self.length(15)), Qt.AlignmentFlag.AlignHCenter, said)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._choose(event.position().x())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._choose(event.position().x())

    def _choose(self, x: float) -> None:
        if not self._curves:
            return
        points = next(iter(self._curves.values()))
        nearest = min(points[:, 0].tolist(), key=lambda epsilon: abs(self.place_of(epsilon, 1.0).x() - x))
        self.epsilon_chosen.emit(nearest)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        choices = next(iter(self._curves.values()))[:, 0].tolist() if self._curves else []
        apart = [abs(math.log10(choice / self._epsilon)) for choice in choices]
        wanted = along(ACROSS, event.key(), apart.index(min(apart)) if apart else -1, len(choices))
        if wanted is not None:
            self.epsilon_chosen.emit(choices[wanted])
        else:
            super().keyPressEvent(event)
