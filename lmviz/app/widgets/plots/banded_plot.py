"""Curves over whole numbers, each within a band that says how sure it is, such as quality by length."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.figures import count, number
from lmviz.app.widgets.kit.axes import DASHED, PERCENT, SIZE, PointableAxes
from lmviz.app.widgets.kit.pointing import ACROSS, Words, along
from lmviz.app.widgets.plots.plot_curve import DrawnCurve
from lmviz.base.plain_text import seen
from lmviz.looks.curve import PlotCurve

RING = 11  # pixels at scale 1 across
EDGE = 0.03  # of the axes, so that nothing at their ends is cut
ROOM = 16  # pixels at scale 1 above the highest y, where marks say what they are
AT_THE_TOP = {"position": 1.0, "anchors": [(0.5, 1), (0.5, 1)]}


class BandedPlot(PointableAxes):
    """`BandedPlot()`: `set_curves(curves)` draws `PlotCurve`s of shares in per cent that have a band.

    `set_units(x, y)` are written at the ends of the axes, such as "words". `set_marks([(x, text)])` draws
    vertical dashed lines, `choose(x)` marks an x, None for none.
    Signal: `point_chosen(float, str)`, the x and the name of the nearest curve, by a click, or by Left and
    Right; the name is then empty.
    """

    point_chosen = Signal(float, str)
    usual, least = (260, 180), (140, 90)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._x_unit = ""
        self._drawn: tuple[DrawnCurve, ...] = ()
        self._places = np.zeros(0)
        self._pointed_y = 0.0
        self._lines: list[pyqtgraph.InfiniteLine] = []
        self.sheet.setContentsMargins(0, 6, 12, 0)
        self.box.sigResized.connect(self._fit)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("curves with bands")
        self.adopt_theme()

    @property
    def curves(self) -> tuple[PlotCurve, ...]:
        """What is drawn."""
        return tuple(drawn.curve for drawn in self._drawn)

    @property
    def marked(self) -> tuple[float, ...]:
        """The x of each vertical line."""
        return tuple(float(line.value()) for line in self._lines)

    @property
    def chosen(self) -> float | None:
        """The x that is marked."""
        return float(self._places[self._current]) if self._current >= 0 else None

    def set_curves(self, curves: Sequence[PlotCurve]) -> None:
        """Draw these, in this order."""
        chosen = self.chosen
        for drawn in self._drawn:
            drawn.remove()
        self._drawn = tuple(DrawnCurve(self, curve) for curve in curves)
        self._places = np.unique(np.concatenate([curve.x for curve in curves])) if curves else np.zeros(0)
        self.setAccessibleDescription(", ".join(curve.name for curve in curves))
        if len(self._places):
            self.set_possible(PERCENT, x=(self._places[0], self._places[-1]))
            self.box.setXRange(self._places[0], max(self._places[-1], self._places[0] + 1), padding=EDGE)
        self.choose(chosen)
        self.show_count(len(self._places))

    def set_units(self, x: str, y: str = "") -> None:
        """What the axes count."""
        self._x_unit = x
        for side, unit in (("bottom", x), ("left", y)):
            self.axes[side].set_unit(unit)

    def set_marks(self, marks: Sequence[tuple[float, str]]) -> None:
        """Draw vertical lines, which say something at their upper end."""
        before, self._lines = (
            self._lines,
            [
                pyqtgraph.InfiniteLine(x, angle=90, label=seen(text), labelOpts=AT_THE_TOP)
                for x, text in marks
            ],
        )
        self.replace(before, self._lines)
        self._style()

    def choose(self, x: float | None) -> None:
        """Mark the points at an x; None for none."""
        self.set_current(next(iter(np.flatnonzero(self._places == x).tolist()), -1))

    def adopt_theme(self) -> None:
        super().adopt_theme()
        self.marks.setBrush(current_theme().surface)
        self.marks.setSize(RING * current_theme().scale)
        for drawn in self._drawn:
            drawn.adopt_theme()
        self._style()
        self.mark()

    def _style(self) -> None:
        theme = current_theme()
        for line in self._lines:
            line.setPen(self.thin_pen(theme.muted_text, 1, DASHED))
            line.label.setColor(theme.muted_text)
            line.label.setFont(theme.font(SIZE))
        self._fit()

    def _fit(self) -> None:
        """Give y its range, and above it the room in which marks say what they are."""
        low, high = PERCENT
        height = max(1.0, self.box.height() * (1 - EDGE))
        above = min(0.5, ROOM * current_theme().scale / height) if self._lines else EDGE
        span = (high - low) / (1 - above)
        below = EDGE * span
        for line in self._lines:  # a line ends where its words begin
            line.setSpan(0, (high - low + below) / (span + below))
        self.box.setYRange(low - below, low + span, padding=0)

    def mark(self) -> None:
        """Rings around the points at the x that is chosen or pointed at."""
        marked = {index for index in (self._current, self._hovered) if 0 <= index < len(self._places)}
        self.marks.setData(
            [
                {"pos": (x, y), "pen": self.thin_pen(drawn.color, 2)}
                for x in self._places[sorted(marked)]
                for drawn in self._drawn
                if (y := drawn.curve.at(x)) is not None
            ]
        )

    def point(self, index: int) -> tuple[float, float]:
        return float(self._places[index]), self._pointed_y

    def index_at(self, place: QPointF) -> int:
        self._pointed_y = place.y()
        return int(np.abs(self._places - place.x()).argmin()) if len(self._places) else -1

    def readout(self, index: int) -> Words:
        x = float(self._places[index])
        lines = [f"{curve.name} {_with_band(curve, x)}" for curve in self.curves if curve.at(x) is not None]
        return f"{count(x)} {self._x_unit}".rstrip(), lines

    def clicked_on(self, index: int) -> None:
        x, y = self.point(index)
        distances = {curve.name: abs(at - y) for curve in self.curves if (at := curve.at(x)) is not None}
        self._choose(index, min(distances, key=lambda name: distances[name]))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_first_left = self._current < 0 and event.key() == Qt.Key.Key_Left
        wanted = along(ACROSS, event.key(), self._count if is_first_left else self._current, self._count)
        if wanted is None:
            super().keyPressEvent(event)
        else:
            self._choose(wanted, "")

    def _choose(self, index: int, name: str) -> None:
        self.set_current(index)
        self.point_chosen.emit(float(self._places[index]), name)


def _with_band(curve: PlotCurve, x: float) -> str:
    """The y at an x, and its band in brackets."""
    at = int(np.searchsorted(curve.x, x))
    low, high = (number(float(edge[at]), 0) for edge in curve.band or (curve.y, curve.y))
    return f"{number(float(curve.y[at]), 1)} ({low} to {high})"
