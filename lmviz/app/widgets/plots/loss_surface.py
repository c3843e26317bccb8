"""The loss over two parameters as a field of colour, with the path that training took across it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.kit.painter import AT_RIGHT, Painter
from lmviz.app.widgets.kit.pointing import Pointed, Words
from lmviz.app.widgets.matrix.cells import Cells, cell_image, color_table

SIZE = 11
LEFT, BELOW, RIGHT, ABOVE = 44, 34, 8, 4
BELOW_THERE = Qt.AlignmentFlag.AlignHCenter


class LossSurface(Pointed[tuple[int, int] | None]):
    """`LossSurface()`: `set_surface(first, second, losses, names)`, losses (second, first).

    `set_path(points, place)` draws the way (point, 2) and marks where one stands on it.
    """

    spoken_as = "Chart"

    nowhere = None
    usual, least = (220, 160), (130, 80)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._first, self._second = np.zeros(0), np.zeros(0)
        self._losses = np.zeros((0, 0))
        self._names = ("", "")
        self._path = np.zeros((0, 2))
        self._place = 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("loss over two parameters")

    def set_surface(
        self, first: np.ndarray, second: np.ndarray, losses: np.ndarray, names: Sequence[str]
    ) -> None:
        """Draw another surface; the names are those of its axes."""
        self._first, self._second, self._losses = first, second, losses
        self._names = (names[0], names[1])
        if self._pointer is not None:
            self._hovered = self.index_at(self._pointer)
        self.renew_card()
        self.update()

    def set_path(self, points: np.ndarray, place: int) -> None:
        """The way over the surface."""
        self._path, self._place = points, place
        self.setAccessibleDescription(f"step {place} of {max(0, len(points) - 1)}")
        self.update()

    @property
    def losses(self) -> np.ndarray:
        """What is drawn, (second, first)."""
        return self._losses

    @property
    def extent(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """From where to where the two parameters go on a surface that is drawn."""
        first, second = self._first, self._second
        return (float(first[0]), float(first[-1])), (float(second[0]), float(second[-1]))

    @property
    def path(self) -> np.ndarray:
        """The way, (point, 2)."""
        return self._path

    @property
    def _area(self) -> QRectF:
        labels = [number(value, 1) for value in (*self._second[:1], *self._second[-1:])]
        left = self.room_beside(labels, LEFT, SIZE)
        inner = QRectF(self.rect()).adjusted(left, self.length(ABOVE), 0, 0)
        return inner.adjusted(0, 0, -self.length(RIGHT), -self.length(BELOW))

    def place_of(self, first: float, second: float) -> QPointF:
        """Where two numbers of the parameters are drawn."""
        area, x, y = self._area, _across(first, self._first), _across(second, self._second)
        return QPointF(area.left() + x * area.width(), area.bottom() - y * area.height())

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        if not self._losses.size:
            return
        theme, area = self.theme, self._area
        seen = np.where(np.isfinite(self._losses), self._losses, np.inf)
        shifted = np.where(np.isfinite(seen), self._losses - seen.min(), -np.inf)  # −∞ has no colour
        cells = Cells.of(shifted[::-1].astype(np.float32), "count")
        image = cell_image(cells.levels, color_table(theme, "count"))
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(area, image)
        self._draw_axes(painter, area)
        with painter.clipped(area):
            way = [self.place_of(*point) for point in self._path.tolist()]
            painter.setPen(QPen(theme.key, self.length(2)))
            painter.join(way)
            for place, point in enumerate(way):
                if place == self._place or len(self._path) <= 60:
                    painter.dot(point, 2, theme.key)
            if 0 <= self._place < len(self._path):
                painter.dot(way[self._place], 4.5, theme.surface, theme.key, 2)

    def _draw_axes(self, painter: Painter, area: QRectF) -> None:
        muted, low = self.theme.muted_text, area.bottom() + 2
        painter.box(area, edge=self.theme.line)
        for value in (self._first[0], self._first[-1]):
            said = number(value, 1)
            wide = metrics(SIZE).horizontalAdvance(said) + 2
            x = min(max(self.place_of(value, self._second[0]).x() - wide / 2, 0), self.width() - wide)
            painter.write(QRectF(x, low, wide, 14), said, muted, SIZE, where=BELOW_THERE)
        for value in (self._second[0], self._second[-1]):
            y = min(max(self.place_of(self._first[0], value).y() - 8, 0), self.height() - 16)
            place = QRectF(0, y, area.left() - 4, 16)
            painter.write(place, number(value, 1), where=AT_RIGHT)
        middle = QRectF(area.left(), low + self.length(13), area.width(), self.length(16))
        self.write_cut(painter, middle, self._names[0], muted, SIZE, where=BELOW_THERE)
        beside = QRectF(0, area.center().y() - 8, area.left() - 4, 16)
        self.write_cut(painter, beside, self._names[1], muted, SIZE, where=AT_RIGHT)

    def index_at(self, place: QPointF) -> tuple[int, int] | None:
        """The row and the column of the number under a place."""
        area, (rows, columns) = self._area, self._losses.shape
        if not self._losses.size or not area.contains(place):
            return None
        row = round((area.bottom() - place.y()) / area.height() * (rows - 1))
        return row, round((place.x() - area.left()) / area.width() * (columns - 1))

    def readout(self, index: tuple[int, int] | None) -> Words | None:
        if index is None:
            return None
        row, column = index
        lines = [
            f"{self._names[0]} = {number(float(self._first[column]))}",
            f"{self._names[1]} = {number(float(self._second[row]))}",
        ]
        return f"loss {number(float(self._losses[row, column]), 4)}", lines


def _across(value: float, places: np.ndarray) -> float:
    """How far along the axis a value lies: the outermost places are the middles of the outermost cells."""
    share = (value - float(places[0])) / float(places[-1] - places[0])
    return (0.5 + share * (len(places) - 1)) / len(places)
