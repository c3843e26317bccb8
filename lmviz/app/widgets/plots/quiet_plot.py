"""The base of plots by pyqtgraph: plain axes, no zoom, no panning, no menu."""

from __future__ import annotations

import pyqtgraph
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QPen
from PySide6.QtWidgets import QWidget

from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.widgets.plots.plot_axes import ANYTHING, QuietAxis


class QuietPlot(pyqtgraph.PlotWidget):
    """`QuietPlot()`: `axes` by side, `box` is what the items lie in.

    Subclasses override `adopt_theme` for the colours of what they draw.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        axes = {side: QuietAxis(side) for side in ("left", "bottom")}
        super().__init__(parent, background=None, axisItems=axes, enableMenu=False)
        self.axes = axes
        self.box: pyqtgraph.ViewBox = self.getViewBox()
        for part in (self, self.viewport()):
            part.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        # What moves while it is being painted leaves pieces behind where only parts are painted again.
        self.setViewportUpdateMode(self.ViewportUpdateMode.FullViewportUpdate)
        plot = self.getPlotItem()
        plot.hideButtons()
        plot.setMouseEnabled(x=False, y=False)
        axes["left"].setGrid(255)
        axes["left"].setZValue(-1000)  # its lines lie under the curves
        theme_switch().theme_changed.connect(self.adopt_theme)
        QuietPlot.adopt_theme(self)

    def set_possible(self, y: tuple[float, float], x: tuple[float, float] = ANYTHING) -> None:
        """The least and the most that a value can be: no number of an axis lies beyond."""
        self.axes["left"].set_possible(*y)
        self.axes["bottom"].set_possible(*x)

    def adopt_theme(self) -> None:
        """Take over colours and type."""
        for axis in self.axes.values():
            axis.adopt_theme(current_theme())

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self.adopt_theme()
        return super().event(event)

    def place_of(self, x: float, y: float) -> QPoint:
        """Where a point lies in the viewport; x and y as the axes count, logarithms on a logarithmic one."""
        return self.mapFromScene(self.box.mapViewToScene(QPointF(x, y)))

    def thin_pen(self, color: QColor, width: float) -> QPen:
        """A pen of so many pixels at scale 1, however the axes are stretched."""
        # Cosmetic pens, which pyqtgraph needs, are measured in device pixels.
        pen = QPen(color, width * current_theme().scale * self.devicePixelRatioF())
        pen.setCosmetic(True)
        return pen
