"""A falling curve over two logarithmic axes: how often the word of each rank occurs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.figures import count
from lmviz.app.widgets.kit.axes import PointableAxes
from lmviz.app.widgets.kit.pointing import Words

MARK = 10  # pixels at scale 1 across
EDGE = 0.02  # of the axes, so that nothing at their ends is cut
POINTS = 600  # evenly spaced on a logarithmic axis: what lies between two of them is below a pixel


class LogLogPlot(PointableAxes):
    """`LogLogPlot(x_name, y_name)`: positive numbers over their rank, which counts from 1.

    `set_values(values, names=())` draws values (rank,); `set_current(rank_index)` marks a point.
    A part is a point, from 0. Arrow keys move what is pointed at, and Enter clicks it.
    """

    points_by_key = True
    usual, least = (260, 180), (140, 110)

    def __init__(self, x_name: str, y_name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._x_name, self._y_name = x_name, y_name
        self._values = np.zeros(0)
        self._names: Sequence[str] = ()
        self.sheet.setContentsMargins(0, 6, 12, 0)
        self._curve = self.add_curve(antialias=True)
        self.set_logarithmic(x=True, y=True)
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
        ends = [self.readout(index) for index in sorted({0, len(values) - 1})] if len(values) else []
        self.setAccessibleDescription(" to ".join(", ".join([title, *lines]) for title, lines in ends))
        self._current = -1
        self.show_count(len(values))

    def adopt_theme(self) -> None:
        super().adopt_theme()
        theme = current_theme()
        self._curve.setPen(self.thin_pen(theme.accent, 2))
        self.marks.setBrush(theme.accent)
        self.marks.setPen(self.thin_pen(theme.surface, 1.5))
        self.marks.setSize(MARK * theme.scale)

    def point(self, index: int) -> tuple[float, float]:
        """Where a point stands on the axes: the logarithms of its rank and of its value."""
        return math.log10(index + 1), math.log10(max(self._values[index], 1.0))

    def index_at(self, place: QPointF) -> int:
        return min(max(round(10 ** place.x()) - 1, 0), len(self._values) - 1)

    def readout(self, index: int) -> Words:
        rank = f"{self._x_name} {count(index + 1)}"
        title = self._names[index] if index < len(self._names) else rank
        return title, [rank, f"{self._y_name} {count(self._values[index])}"]
