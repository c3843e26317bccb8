"""A falling curve over two logarithmic axes: how often the word of each rank occurs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.figures import count, short
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.base.pointable import Pointable

SIZE = 10.5
LEFT, BOTTOM, TOP, RIGHT = 40, 24, 8, 10


class LogLogPlot(Pointable):
    """`LogLogPlot(x_name, y_name)`: positive numbers over their rank, which counts from 1.

    `set_values(values, names=())` draws values (rank,); `set_current(rank_index)` marks a point.
    Signals: `point_hovered(int)` (−1 on leaving) and `point_clicked(int)`, indices from 0.
    """

    point_hovered = Signal(int)
    point_clicked = Signal(int)

    def __init__(self, x_name: str, y_name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._x_name, self._y_name = x_name, y_name
        self._values = np.zeros(0)
        self._names: Sequence[str] = ()
        self._drawn = np.zeros(0, dtype=np.int64)
        self._decades = (1.0, 1.0)  # the logarithms at the far ends of the axes
        self._current = -1
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(f"{y_name} over {x_name}")

    def set_values(self, values: np.ndarray, names: Sequence[str] = ()) -> None:
        """Draw values (rank,), all positive; `names` say in words what each is."""
        self._values, self._names = np.asarray(values, dtype=np.float64), names
        # Evenly spaced ranks on a logarithmic axis: what lies between two of them is below a pixel.
        last = max(1, len(self._values))
        places = np.geomspace(1, last, min(last, 600)).round().astype(np.int64) - 1
        self._drawn = np.unique(places[places < len(self._values)])
        largest = max(float(self._values.max(initial=1)), 10.0)
        self._decades = max(1.0, math.log10(last)), math.log10(largest)
        self._current = self._hovered = -1
        self.update()

    def set_current(self, index: int) -> None:
        """Mark a point; −1 for none."""
        self._current = index
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(self.length(260)), round(self.length(180)))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(self.length(140)), round(self.length(110)))

    @property
    def _area(self) -> QRectF:
        left, bottom, top, right = (self.length(edge) for edge in (LEFT, BOTTOM, TOP, RIGHT))
        return QRectF(
            left, top, max(1.0, self.width() - left - right), max(1.0, self.height() - top - bottom)
        )

    def _point(self, x: float, y: float) -> QPointF:
        area, (across, up) = self._area, self._decades
        return QPointF(
            area.left() + math.log10(x) / across * area.width(),
            area.bottom() - math.log10(y) / up * area.height(),
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = self.begin()
        self._draw_grid(painter)
        points = [self._point(index + 1, max(self._values[index], 1.0)) for index in self._drawn]
        painter.setPen(QPen(self.theme.accent, self.length(2)))
        painter.drawPolyline(QPolygonF(points))
        for index in {self._current, self._hovered} - {-1}:
            if index < len(self._values):
                painter.setBrush(self.theme.accent)
                painter.setPen(QPen(self.theme.surface, self.length(1.5)))
                painter.drawEllipse(
                    self._point(index + 1, self._values[index]), self.length(5), self.length(5)
                )

    def _draw_grid(self, painter: QPainter) -> None:
        area, (across, up) = self._area, self._decades
        painter.setFont(self.theme.font(SIZE))
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for power in range(int(up) + 1):
            height = self._point(1, 10.0**power).y()
            painter.setPen(self.theme.line)
            painter.drawLine(QPointF(area.left(), height), QPointF(area.right(), height))
            painter.setPen(self.theme.muted_text)
            label = QRectF(0, height - self.length(8), area.left() - self.length(6), self.length(16))
            painter.drawText(label, right, short(10.0**power))
        for power in range(int(across) + 1):
            place = self._point(10.0**power, 1).x()
            label = QRectF(
                place - self.length(30), area.bottom() + self.length(4), self.length(60), self.length(16)
            )
            painter.drawText(label, Qt.AlignmentFlag.AlignHCenter, short(10.0**power))

    def index_at(self, place: QPointF) -> int:
        area = self._area
        if not len(self._values) or not area.contains(place):
            return -1
        rank = 10 ** ((place.x() - area.left()) / area.width() * self._decades[0])
        return int(np.clip(round(rank) - 1, 0, len(self._values) - 1))

    def pointed_at(self, index: int) -> None:
        if index < 0:
            HoverCard.leave(self)
        else:
            title = self._names[index] if index < len(self._names) else f"{self._x_name} {count(index + 1)}"
            lines = [f"{self._x_name} {count(index + 1)}", f"{self._y_name} {count(self._values[index])}"]
            place = self._point(index + 1, self._values[index])
            HoverCard.beside(self, place.toPoint(), title, lines)
        self.point_hovered.emit(index)

    def clicked_on(self, index: int) -> None:
        self.point_clicked.emit(index)
