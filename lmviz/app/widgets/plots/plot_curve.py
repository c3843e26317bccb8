"""A curve of a plot: its points, and how it is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyqtgraph
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.plots.quiet_plot import QuietPlot


@dataclass(frozen=True, eq=False)
class PlotCurve:
    """A named curve through (point,) x, ascending, and y; NaN interrupts it.

    `role` is a role of the theme or a colour, `width` is in pixels at scale 1.
    """

    name: str
    x: Sequence[float] | np.ndarray
    y: Sequence[float] | np.ndarray
    role: str | QColor = "training"
    width: float = 2.0
    dashed: bool = False


class DrawnCurve:
    """A curve that stands in a plot, as the item that draws it. Setting what it already shows costs nothing.

    Points that share a column of pixels are reduced to their smallest and largest, so that no peak is lost
    however long the curve.
    """

    def __init__(self, view: QuietPlot, curve: PlotCurve) -> None:
        self._view = view
        self.item: pyqtgraph.PlotDataItem = view.getPlotItem().plot(antialias=True, connect="finite")
        self.item.setDownsampling(auto=True, method="peak")
        self.item.setClipToView(True)
        # Smooth wide lines as one path take Qt seconds where a curve is noise; as segments, milliseconds.
        self.item.curve.setSegmentedLineMode("on")
        self.role, self.width, self.dashed = curve.role, curve.width, curve.dashed
        self.x = self.y = np.zeros(0)
        self.set(curve)
        self.adopt_theme()

    @property
    def color(self) -> QColor:
        """Its colour in the current theme."""
        return self.role if isinstance(self.role, QColor) else getattr(current_theme(), self.role)

    @property
    def is_visible(self) -> bool:
        """Whether it is drawn: a click on its name hides it."""
        return self.item.isVisible()

    def set(self, curve: PlotCurve) -> bool:
        """Show other points, or the same in another way; False where nothing changes."""
        drawn = (curve.role, curve.width, curve.dashed)
        looks_the_same = drawn == (self.role, self.width, self.dashed)
        if not looks_the_same:
            self.role, self.width, self.dashed = drawn
            self.adopt_theme()
        x, y = np.asarray(curve.x, dtype=np.float64), np.asarray(curve.y, dtype=np.float64)
        is_the_same = np.array_equal(x, self.x) and np.array_equal(y, self.y, equal_nan=True)
        if not is_the_same:
            self.x, self.y = x, y
            self.item.setData(x, y)
        return not (looks_the_same and is_the_same)

    def adopt_theme(self) -> None:
        """Take over the theme's colour and scale."""
        pen = self._view.thin_pen(self.color, self.width)
        pen.setStyle(Qt.PenStyle.DashLine if self.dashed else Qt.PenStyle.SolidLine)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        self.item.setPen(pen)
