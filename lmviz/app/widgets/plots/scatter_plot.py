"""Points of two shares each: how well an estimate goes along with what was measured."""

from __future__ import annotations

import numpy as np
import pyqtgraph
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPen
from PySide6.QtWidgets import QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.kit.axes import DASHED, PointableAxes
from lmviz.app.widgets.kit.pointing import Words

POINT, RING = 6, 11  # pixels at scale 1 across
EDGE = 0.1  # of the axes, so that no point at their ends is cut


class ScatterPlot(PointableAxes):
    """`ScatterPlot(x_name, y_name)`: shares over shares, in per cent, with a line where both are the same.

    `set_points(x, y)`, (point,) each, leaves out those that are NaN; `set_current(index)` marks one, −1 none.
    `set_readout(function)` says what the hover card does. Arrow keys point at others, and Enter clicks one.
    """

    points_by_key = True
    usual, least = (150, 180), (130, 80)

    def __init__(self, x_name: str, y_name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._points = np.zeros((0, 2))
        self.sheet.setContentsMargins(0, 6, 10, 0)
        self._same, self._dots = pyqtgraph.InfiniteLine(angle=45), pyqtgraph.ScatterPlotItem()
        for item in (self._same, self._dots):
            self.add(item)
        self.axes["left"].set_unit("%")
        self.setAccessibleName(f"{y_name} over {x_name}")
        self.adopt_theme()

    @property
    def points(self) -> np.ndarray:
        """(point, 2) What is drawn, in per cent: x and y."""
        return self._points

    def set_points(self, x: np.ndarray, y: np.ndarray) -> None:
        """Draw other points."""
        self._points = 100 * np.column_stack([x, y]).astype(np.float64)
        known = self._points[np.isfinite(self._points).all(axis=1)]
        ends = min(0.0, known.min(initial=0.0)), max(100.0, known.max(initial=0.0))
        self.box.setRange(xRange=ends, yRange=ends, padding=EDGE)
        self._dots.setData(pos=known)
        said = ""
        if len(known):
            (left, low), (right, high) = known.min(0), known.max(0)
            said = (
                f"{len(known)} points, {number(low, 1)} to {number(high, 1)} %"
                f" over {number(left, 1)} to {number(right, 1)} %"
            )
        self.setAccessibleDescription(said)
        self.show_count(len(self._points))

    def adopt_theme(self) -> None:
        super().adopt_theme()
        theme = current_theme()
        color = QColor(theme.accent)
        color.setAlphaF(0.55)  # where many points lie, it is darker
        self._dots.setBrush(color)
        self._dots.setPen(QPen(Qt.PenStyle.NoPen))
        self._dots.setSize(POINT * theme.scale)
        self.marks.setBrush(theme.surface)
        self.marks.setPen(self.thin_pen(theme.text, 2))
        self.marks.setSize(RING * theme.scale)
        self._same.setPen(self.thin_pen(theme.muted_text, 1, DASHED))

    def point(self, index: int) -> tuple[float, float]:
        x, y = self._points[index].tolist()
        return x, y

    def index_at(self, place: QPointF) -> int:
        distances = ((self._points - (place.x(), place.y())) ** 2).sum(axis=1)
        return -1 if not np.isfinite(distances).any() else int(np.nanargmin(distances))

    def readout(self, index: int) -> Words:
        return ("", ()) if self._readout is None else self._readout(index)
