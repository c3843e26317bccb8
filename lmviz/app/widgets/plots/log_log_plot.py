"""A falling curve over two logarithmic axes: how often the word of each rank occurs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pyqtgraph
from PySide6.QtCore import QPointF, QSize, Signal
from PySide6.QtWidgets import QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.figures import count
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.kit.axes import PointableAxes

MARK = 10  # pixels at scale 1 across
EDGE = 0.02  # of the axes, so that nothing at their ends is cut
POINTS = 600  # evenly spaced on a logarithmic axis: what lies between two of them is below a pixel


class LogLogPlot(PointableAxes):
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
        self._current = -1
        plot = self.getPlotItem()
        plot.setContentsMargins(0, 6, 12, 0)
        self._curve = plot.plot(antialias=True)
        self._marks = pyqtgraph.ScatterPlotItem()
        plot.addItem(self._marks, ignoreBounds=True)
        plot.setLogMode(x=True, y=True)
        self.setAccessibleName(f"{y_name} over {x_name}")
        self.adopt_theme()

    def set_values(self, values: np.ndarray, names: Sequence[str] = ()) -> None:
        """Draw values (rank,), all positive; `names` say in words what each is."""
        self._values, self._names = np.asarray(values, dtype=np.float64), names
        last = max(1, len(self._values))
        ranks = np.unique(np.geomspace(1, last, min(last, POINTS)).round().astype(np.int64))
        ranks = ranks[ranks <= len(self._values)]
        self._curve.setData(ranks, np.maximum(self._values[ranks - 1], 1.0))
        largest = max(float(self._values.max(initial=1)), 10.0)
        across, up = max(1.0, math.log10(last)), math.log10(largest)
        self.box.setRange(xRange=(0, across), yRange=(0, up), padding=EDGE)
        self._current = -1
        self._mark()
        ends = [self.readout(index) for index in sorted({0, len(values) - 1})] if len(values) else []
        self.setAccessibleDescription(" to ".join(", ".join([title, *lines]) for title, lines in ends))
        self.point_again()

    def set_current(self, index: int) -> None:
        """Mark a point; −1 for none."""
        self._current = index
        self._mark()

    def adopt_theme(self) -> None:
        super().adopt_theme()
        theme = current_theme()
        # Cosmetic pens, which pyqtgraph needs, are measured in device pixels.
        self._curve.setPen(pyqtgraph.mkPen(theme.accent, width=2 * theme.scale * self.devicePixelRatioF()))
        self._marks.setBrush(theme.accent)
        self._marks.setPen(pyqtgraph.mkPen(theme.surface, width=1.5 * theme.scale * self.devicePixelRatioF()))
        self._marks.setSize(MARK * theme.scale)

    def sizeHint(self) -> QSize:
        return QSize(260, 180) * current_theme().scale

    def minimumSizeHint(self) -> QSize:
        return QSize(140, 110) * current_theme().scale

    def point(self, index: int) -> tuple[float, float]:
        """Where a point stands on the axes: the logarithms of its rank and of its value."""
        return math.log10(index + 1), math.log10(max(self._values[index], 1.0))

    def index_at(self, place: QPointF) -> int:
        if not len(self._values):
            return -1
        return int(np.clip(round(10 ** place.x()) - 1, 0, len(self._values) - 1))

    def readout(self, index: int) -> tuple[str, Sequence[str]]:
        rank = f"{self._x_name} {count(index + 1)}"
        title = self._names[index] if index < len(self._names) else rank
        return title, [rank, f"{self._y_name} {count(self._values[index])}"]

    def pointed_at(self, index: int) -> None:
        self._mark()
        if index < 0:
            HoverCard.leave(self)
        else:
            HoverCard.beside(self, self.place_of(*self.point(index)), *self.readout(index))
        self.point_hovered.emit(index)

    def clicked_on(self, index: int) -> None:
        self.point_clicked.emit(index)

    def _mark(self) -> None:
        marked = {index for index in (self._current, self.hovered) if 0 <= index < len(self._values)}
        self._marks.setData(pos=[self.point(index) for index in sorted(marked)])
