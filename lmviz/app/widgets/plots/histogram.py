"""A histogram of thin columns; each shows its range and count on hover."""

from __future__ import annotations

import numpy as np
import pyqtgraph
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QWidget

from lmviz.app.look.color_maps import mix
from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.figures import count
from lmviz.app.widgets.kit.axes import PointableAxes
from lmviz.app.widgets.kit.pointing import Words

COLUMN = 0.9  # of the room between two edges
HALF_A_LABEL = 30  # pixels on the right, for the number at the end and its unit


class Histogram(PointableAxes):
    """`Histogram(what, unit)`: such as "documents" by "tokens".

    `set_columns(edges, counts)` draws counts (column,) between edges (column + 1,).
    """

    usual, least = (260, 90), (120, 64)

    def __init__(self, what: str, unit: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._what, self._unit = what, unit
        self._edges, self._counts = np.zeros(1), np.zeros(0)
        self._filled = np.zeros(0, dtype=np.int64)
        self.sheet.setContentsMargins(0, 2, HALF_A_LABEL, 0)
        for axis in self.axes.values():  # there is none while there is nothing to count
            axis.hide()
        self.axes["bottom"].set_unit(unit)
        self._columns = pyqtgraph.BarGraphItem(x=[], height=[], width=1)
        self.add(self._columns, is_fitted=True)
        self.setAccessibleName(f"{what} by {unit}")

    def set_columns(self, edges: np.ndarray, counts: np.ndarray) -> None:
        """Draw counts (column,) of what lies between edges (column + 1,), whole numbers, upper ends out."""
        self._edges, self._counts = np.asarray(edges), np.asarray(counts)
        self._filled = np.flatnonzero(self._counts)
        lefts, widths = self._edges[self._filled], np.diff(self._edges)[self._filled]
        self._columns.setOpts(x0=lefts, width=widths * COLUMN, y0=0, height=self._counts[self._filled])
        self.axes["bottom"].setVisible(len(self._counts) > 0)
        if len(self._counts):
            self.box.setRange(
                xRange=(self._edges[0], self._edges[-1]), yRange=(0, max(1, self._counts.max())), padding=0
            )
        title, lines = self.readout(int(self._counts.argmax())) if len(self._counts) else ("", ())
        self.setAccessibleDescription(" ".join(["the most:", title, *lines]) if title else "")
        self.show_count(len(self._counts))

    def adopt_theme(self) -> None:
        super().adopt_theme()
        self.mark()

    def point(self, index: int) -> tuple[float, float]:
        """The upper left corner of a column."""
        return float(self._edges[index]), float(self._counts[index])

    def index_at(self, place: QPointF) -> int:
        index = int(np.searchsorted(self._edges, place.x(), side="right")) - 1
        return index if 0 <= index < len(self._counts) else -1

    def readout(self, index: int) -> Words:
        first, last = int(self._edges[index]), int(self._edges[index + 1]) - 1
        span = count(first) if first == last else f"{count(first)} to {count(last)}"
        return f"{count(self._counts[index])} {self._what}", [f"of {span} {self._unit}"]

    def mark(self) -> None:
        """The columns in the theme's colour, the one under the pointer at full strength."""
        theme = current_theme()
        usual = mix(theme.surface, theme.accent, 0.6)
        colors = [theme.accent if index == self.hovered else usual for index in self._filled]
        # The line around it keeps a column in sight that is lower than a pixel.
        self._columns.setOpts(brushes=colors, pen=pyqtgraph.mkPen(usual))
