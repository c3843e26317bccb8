"""Named curves over one axis, each axis linear or logarithmic, with a place on it that can be chosen."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.canvas import Canvas, metrics
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.kit.painter import AT_RIGHT, Painter

SIZE = 11.5
BELOW, ABOVE, RIGHT = 20, 20, 12
ROW = 15  # pixels from one word at the end of a curve to the next
ROOM = 0.04  # of an axis, beyond the points


@dataclass(frozen=True, eq=False)
class NamedCurve:
    """A curve: `points` (point, 2), ascending in x. `dots` marks each, `dashed` draws a fit.

    `color` is a role of the theme, or the number of a series.

    `said` is written at its end, for which there has to be `room` at the right of the plot, or above its
    beginning where it is `said_first`.
    """

    name: str
    color: str | int
    points: np.ndarray
    dots: bool = False
    dashed: bool = False
    said: str = ""
    said_first: bool = False


class CurvesPlot(Canvas):
    """`CurvesPlot(x_name, y_name, logarithmic=(False, False))`: `set_curves(curves)`, `set_mark(x)`.

    `words` write an amount on the axes and in the hover card. Signal `place_chosen(float)`: the x of the
    nearest point, by click or drag.
    """

    place_chosen = Signal(float)

    usual, least = (280, 170), (190, 100)

    def __init__(
        self,
        x_name: str,
        y_name: str,
        *,
        logarithmic: tuple[bool, bool] = (False, False),
        words: tuple[Callable[[float], str], Callable[[float], str]] = (str, str),
        room: float = RIGHT,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._names, self._logarithmic, self._words, self._room = (x_name, y_name), logarithmic, words, room
        self._curves: tuple[NamedCurve, ...] = ()
        self._mark: float | None = None
        self._hovered: float | None = None
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(f"{y_name} over {x_name}")

    @property
    def curves(self) -> tuple[NamedCurve, ...]:
        """What is drawn."""
        return self._curves

    def set_curves(self, curves: Sequence[NamedCurve]) -> None:
        """Draw other curves."""
        self._curves = tuple(curve for curve in curves if len(curve.points))
        self.update()

    def set_mark(self, x: float | None) -> None:
        """Mark a place on the x axis."""
        self._mark = x
        self.update()

    @property
    def _area(self) -> QRectF:
        measure = metrics(SIZE)
        left = max(measure.horizontalAdvance(self._words[1](value)) for value in self._ticks(1))
        sides = (left + self.length(8), self.length(ABOVE), -self.length(self._room), -self.length(BELOW))
        return QRectF(self.rect()).adjusted(*sides)

    def _range(self, axis: int) -> tuple[float, float]:
        """The ends of an axis; of a logarithmic one in powers of ten."""
        values = np.concatenate([curve.points[:, axis] for curve in self._curves])
        if self._logarithmic[axis]:
            values = np.log10(values[values > 0])
            low, high = float(values.min()), float(values.max())
            extra = max(ROOM * (high - low), 0.02)
            return low - extra, high + extra
        low = min(0.0, float(values.min())) if axis else float(values.min())
        return low, max(float(values.max()), low + 1e-9)

    def place_of(self, x: float, y: float) -> QPointF:
        """Where a point is drawn."""
        area, shares = self._area, []
        for axis, value in enumerate((x, y)):
            low, high = self._range(axis)
            value = math.log10(value) if self._logarithmic[axis] else value
            shares.append((value - low) / (high - low))
        return QPointF(area.left() + shares[0] * area.width(), area.bottom() - shares[1] * area.height())

    def _ticks(self, axis: int) -> list[float]:
        low, high = self._range(axis)
        if self._logarithmic[axis]:
            if high - low > 1.2:
                whole = range(math.ceil(low), math.floor(high) + 1)
                return [10.0**exponent for exponent in whole][:: max(1, math.ceil(len(whole) / 5))]
            return [10.0 ** (low + (high - low) * share) for share in (0.1, 0.5, 0.9)]
        step = (high - low) / 4
        unit = 10 ** math.floor(math.log10(step))
        step = next(unit * nice for nice in (1, 2, 5, 10) if unit * nice >= step)
        first = math.ceil(low / step) * step
        return [first + step * n for n in range(int((high - first) / step + 1e-9) + 1)]

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = self.begin()
        if not self._curves:
            return
        self._draw_axes(painter)
        for chosen, color in ((self._hovered, self.theme.strong_line), (self._mark, self.theme.accent)):
            if chosen is not None:
                x = self.place_of(chosen, self._curves[0].points[-1, 1]).x()
                painter.line(QPointF(x, self._area.top()), QPointF(x, self._area.bottom()), QPen(color, 1))
        for curve in self._curves:
            self._draw_curve(painter, curve)
        self._write_names(painter)

    def _draw_axes(self, painter: Painter) -> None:
        theme, area, high = self.theme, self._area, self.length(16)
        painter.setFont(theme.font(SIZE))
        first = self._curves[0].points[0]
        for value in self._ticks(1):
            y = self.place_of(first[0], value).y()
            painter.line(QPointF(area.left(), y), QPointF(area.right(), y), theme.line)
            place = QRectF(0, y - high / 2, area.left() - self.length(6), high)
            painter.write(place, self._words[1](value), theme.muted_text, where=AT_RIGHT)
        for value in self._ticks(0):
            x = self.place_of(value, first[1]).x()
            place = QRectF(x - self.length(40), area.bottom() + self.length(2), self.length(80), high)
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, self._words[0](value))
        above = QRectF(0, 0, area.right(), high)
        painter.drawText(above, Qt.AlignmentFlag.AlignRight, f"{self._names[0]} →")
        painter.drawText(above, Qt.AlignmentFlag.AlignLeft, self._names[1])

    def _draw_curve(self, painter: Painter, curve: NamedCurve) -> None:
        color = self._color_of(curve)
        pen = QPen(color, self.length(1.4 if curve.dashed else 2))
        if curve.dashed:
            pen.setDashPattern([4, 3])
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        places = [self.place_of(x, y) for x, y in curve.points.tolist()]
        painter.drawPolyline(QPolygonF(places))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        for place in places if curve.dots else ():
            painter.drawEllipse(place, self.length(3), self.length(3))
        if self._mark is not None and not curve.dashed:
            nearest = int(np.abs(curve.points[:, 0] - self._mark).argmin())
            painter.dot(places[nearest], 4, self.theme.surface, color, 2)

    def _write_names(self, painter: Painter) -> None:
        """At the ends of curves, pushed apart where they would lie on one another; or above beginnings."""
        painter.setFont(self.theme.font(SIZE))
        row, free = self.length(ROW), -math.inf
        places = {
            curve: self.place_of(*curve.points[0 if curve.said_first else -1]) for curve in self._curves
        }
        for curve in sorted(self._curves, key=lambda curve: places[curve].y()):
            place, wide = places[curve], metrics(SIZE).horizontalAdvance(curve.said) + 4
            if not curve.said:
                continue
            if curve.said_first:
                area = QRectF(place.x() - self.length(4), place.y() - row - self.length(4), wide, row)
            else:
                top = max(place.y() - row / 2, free)
                free = top + row
                area = QRectF(min(place.x() + self.length(7), self.width() - wide), top, wide, row)
            painter.write(area, curve.said, self._color_of(curve))

    def _color_of(self, curve: NamedCurve) -> QColor:
        if isinstance(curve.color, int):
            return self.theme.series_color(curve.color)
        color: QColor = getattr(self.theme, curve.color)
        return color

    def _nearest(self, place: QPointF) -> float | None:
        """The x of the point that is drawn nearest to a place, across."""
        found = [
            (abs(self.place_of(x, y).x() - place.x()), x)
            for curve in self._curves
            if not curve.dashed
            for x, y in curve.points.tolist()
        ]
        return min(found)[1] if found and self._area.adjusted(-8, -8, 8, 8).contains(place) else None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        x = self._nearest(event.position())
        if event.buttons() & Qt.MouseButton.LeftButton and x is not None:
            self.place_chosen.emit(x)
        self._hovered = x
        self.update()
        if x is None:
            HoverCard.leave(self)
            return
        lines = [
            f"{curve.name} {self._words[1](y)}"
            for curve in self._curves
            for at, y in curve.points.tolist()
            if at == x and not curve.dashed
        ]
        place = QPointF(event.position().x(), event.position().y() + self.length(16)).toPoint()
        HoverCard.beside(self, place, f"{self._names[0]} {self._words[0](x)}", lines)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        x = self._nearest(event.position())
        if event.button() == Qt.MouseButton.LeftButton and x is not None:
            self.place_chosen.emit(x)

    def leaveEvent(self, event: QEvent) -> None:
        self._hovered = None
        HoverCard.leave(self)
        self.update()
