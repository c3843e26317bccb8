"""A histogram of thin columns; each shows its range and count on hover."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph
from PySide6.QtCore import QPointF, QSize, Signal
from PySide6.QtWidgets import QWidget

from lmviz.app.look.color_maps import mix
from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.figures import count
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.kit.axes import PointableAxes

COLUMN = 0.9  # of the room between two edges
HALF_A_LABEL = 30  # pixels on the right, for the number at the end and its unit


class Histogram(PointableAxes):
    """`Histogram(what, unit)`: such as "documents" by "tokens".

    `set_columns(edges, counts)` draws counts (column,) between edges (column + 1,).
    Signal: `column_hovered(int)`, −1 on leaving.
    """

    column_hovered = Signal(int)

    def __init__(self, what: str, unit: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._what, self._unit = what, unit
        self._edges, self._counts = np.zeros(1), np.zeros(0)
        self._filled = np.zeros(0, dtype=np.int64)
        plot = self.getPlotItem()
        plot.setContentsMargins(0, 2, HALF_A_LABEL, 0)
        for side in ("left", "bottom"):  # there is no axis while there is nothing to count
            plot.hideAxis(side)
        self.axes["bottom"].set_unit(unit)
        self._columns = pyqtgraph.BarGraphItem(x=[], height=[], width=1)
        plot.addItem(self._columns)
        self.setAccessibleName(f"{what} by {unit}")

    def set_columns(self, edges: np.ndarray, counts: np.ndarray) -> None:
        """Draw counts (column,) of what lies between edges (column + 1,), whole numbers, upper ends out."""
        self._edges, self._counts = np.asarray(edges), np.asarray(counts)
        self._filled = np.flatnonzero(self._counts)
        lefts, widths = self._edges[self._filled], np.diff(self._edges)[self._filled]
        self._columns.setOpts(x0=lefts, width=widths * COLUMN, y0=0, height=self._counts[self._filled])
        self._paint()
        self.getPlotItem().showAxis("bottom", len(self._counts) > 0)
        if len(self._counts):
            self.box.setRange(
                xRange=(self._edges[0], self._edges[-1]), yRange=(0, max(1, self._counts.max())), padding=0
            )
        title, lines = self.readout(int(self._counts.argmax())) if len(self._counts) else ("", ())
        self.setAccessibleDescription(" ".join(["the most:", title, *lines]) if title else "")
        self.point_again()

    def adopt_theme(self) -> None:
        super().adopt_theme()
        self._paint()

    def sizeHint(self) -> QSize:
        return QSize(260, 90) * current_theme().scale

    def minimumSizeHint(self) -> QSize:
        return QSize(120, 64) * current_theme().scale

    def index_at(self, place: QPointF) -> int:
        index = int(np.searchsorted(self._edges, place.x(), side="right")) - 1
        return index if 0 <= index < len(self._counts) else -1

    def readout(self, index: int) -> tuple[str, Sequence[str]]:
        first, last = int(self._edges[index]), int(self._edges[index + 1]) - 1
        span = count(first) if first == last else f"{count(first)} to {count(last)}"
        return f"{count(self._counts[index])} {self._what}", [f"of {span} {self._unit}"]

    def pointed_at(self, index: int) -> None:
        self._paint()
        if index < 0:
            HoverCard.leave(self)
        else:
            place = self.place_of(self._edges[index], self._counts[index])
            HoverCard.beside(self, place, *self.readout(index))
        self.column_hovered.emit(index)

    def _paint(self) -> None:
        """The columns in the theme's colour, the one under the pointer at full strength."""
        theme = current_theme()
        usual = mix(theme.surface, theme.accent, 0.6)
        colors = [theme.accent if index == self.hovered else usual for index in self._filled]
        # The line around it keeps a column in sight that is lower than a pixel.
        self._columns.setOpts(brushes=colors, pen=pyqtgraph.mkPen(usual))
