"""A tiny curve of the loss."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtGui import QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.canvas import Canvas
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.kit.painter import Painter

POINTS = 64


class Sparkline(Canvas):
    """`set_values(values)`: values (point,), of which up to 64 means are drawn."""

    spoken_as = "Chart"

    usual = least = (86, 24)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._points = np.zeros(0)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("loss curve")

    def set_values(self, values: np.ndarray) -> None:
        """Draw values, (point,); those that are not finite are left out."""
        values = values[np.isfinite(values)]
        edges = np.linspace(0, len(values), min(len(values), POINTS) + 1).astype(int)
        self._points = np.add.reduceat(values, edges[:-1]) / np.diff(edges) if len(values) else values
        said = f"from {number(values[0], 2)} to {number(values[-1], 2)}" if len(values) else ""
        self.setAccessibleDescription(said)
        self.update()

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        if len(self._points) < 2:
            return
        low, high = self._points.min(), self._points.max()
        heights = (self._points - low) / (high - low if high > low else 1.0)
        across = np.linspace(1, self.width() - 1, len(heights))
        down = (self.height() - 3) * (1 - heights) + 1.5
        painter.setPen(QPen(self.theme.training, self.length(1.5)))
        painter.drawPolyline(QPolygonF([QPointF(x, y) for x, y in zip(across, down, strict=True)]))
