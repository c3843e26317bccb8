"""Curves over whole numbers, each within a band that says how sure it is, such as quality by length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyqtgraph
from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPen
from PySide6.QtWidgets import QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.figures import count, number
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.kit.axes import SIZE, PointableAxes
from lmviz.app.widgets.kit.pointing import ACROSS
from lmviz.base.plain_text import seen

POINT = 6  # pixels at scale 1 across
RING = 11
BAND = 0.16  # how opaque a band is
EDGE = 0.03  # of the axes, so that nothing at their ends is cut
ROOM = 16  # pixels at scale 1 above the highest y, where marks say what they are


@dataclass(frozen=True, eq=False)
class BandedCurve:
    """A curve: x, y and the two edges of its band, (point,) each, x ascending."""

    name: str
    color: QColor
    x: np.ndarray
    y: np.ndarray
    low: np.ndarray
    high: np.ndarray
    line: Qt.PenStyle = Qt.PenStyle.SolidLine

    def at(self, x: float) -> float | None:
        """The y at exactly this x; None where the curve has no point."""
        found = np.flatnonzero(self.x == x)
        return float(self.y[found[0]]) if len(found) else None


@dataclass
class _Mark:
    """A vertical line and what it says."""

    line: pyqtgraph.InfiniteLine
    text: pyqtgraph.TextItem


class BandedPlot(PointableAxes):
    """`BandedPlot(y_range=(0, 100))`: `set_curves(curves)` draws `BandedCurve`s.

    `set_units(x, y)` are written at the ends of the axes, such as "words". `set_marks([(x, text)])` draws
    vertical dashed lines, `set_current(x)` marks an x, None for none.
    Signal: `point_chosen(float, str)`, the x and the name of the nearest curve, by a click, or by Left and
    Right; the name is then empty.
    """

    point_chosen = Signal(float, str)

    def __init__(self, y_range: tuple[float, float] = (0, 100), parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._x_unit, self._y_range = "", y_range
        self._curves: tuple[BandedCurve, ...] = ()
        self._places = np.zeros(0)
        self._pointed_y = 0.0
        self._current: float | None = None
        self._marks: list[_Mark] = []
        self._items: list[pyqtgraph.GraphicsObject] = []
        plot = self.getPlotItem()
        plot.setContentsMargins(0, 6, 12, 0)
        self._rings = pyqtgraph.ScatterPlotItem()
        self._rings.setZValue(5)
        plot.addItem(self._rings, ignoreBounds=True)
        self.box.sigResized.connect(self._fit)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("curves with bands")
        self.adopt_theme()

    @property
    def curves(self) -> tuple[BandedCurve, ...]:
        """What is drawn."""
        return self._curves

    @property
    def marked(self) -> tuple[float, ...]:
        """The x of each vertical line."""
        return tuple(float(mark.line.value()) for mark in self._marks)

    @property
    def current(self) -> float | None:
        """The x that is marked."""
        return self._current

    def set_curves(self, curves: Sequence[BandedCurve]) -> None:
        """Draw these, in this order."""
        self._curves = tuple(curves)
        self._places = np.unique(np.concatenate([curve.x for curve in curves])) if curves else np.zeros(0)
        if self._current not in self._places:
            self._current = None
        self.setAccessibleDescription(", ".join(curve.name for curve in curves))
        self._draw()
        self.point_again()

    def set_units(self, x: str, y: str = "") -> None:
        """What the axes count."""
        self._x_unit = x
        for side, unit in (("bottom", x), ("left", y)):
            self.axes[side].set_unit(unit)

    def set_marks(self, marks: Sequence[tuple[float, str]]) -> None:
        """Draw vertical lines, which say something at their upper end."""
        for mark in self._marks:
            self.removeItem(mark.line)
            self.removeItem(mark.text)
        self._marks = [
            _Mark(pyqtgraph.InfiniteLine(x, angle=90), pyqtgraph.TextItem(seen(text), anchor=(0.5, 1)))
            for x, text in marks
        ]
        for mark in self._marks:
            self.addItem(mark.line, ignoreBounds=True)
            self.addItem(mark.text, ignoreBounds=True)
        self._style_marks()

    def set_current(self, x: float | None) -> None:
        """Mark the points at an x."""
        self._current = x
        self._ring()

    def adopt_theme(self) -> None:
        super().adopt_theme()
        self._rings.setBrush(current_theme().surface)
        self._style_marks()
        self._draw()

    def sizeHint(self) -> QSize:
        return QSize(260, 180) * current_theme().scale

    def minimumSizeHint(self) -> QSize:
        return QSize(140, 90) * current_theme().scale

    def _draw(self) -> None:
        for item in self._items:
            self.removeItem(item)
        self._items = [item for curve in self._curves for item in self._items_of(curve)]
        for item in self._items:
            self.addItem(item)
        if len(self._places):
            self.set_possible(self._y_range, x=(self._places[0], self._places[-1]))
            self.box.setXRange(self._places[0], max(self._places[-1], self._places[0] + 1), padding=EDGE)
        self._fit()
        self._ring()

    def _fit(self) -> None:
        """Give y its range, and above it the room in which marks say what they are."""
        low, high = self._y_range
        height = max(1.0, self.box.height() * (1 - EDGE))
        above = min(0.5, ROOM * current_theme().scale / height) if self._marks else EDGE
        span = (high - low) / (1 - above)
        below = EDGE * span
        self.box.setYRange(low - below, low + span, padding=0)
        for mark in self._marks:  # a line ends where its words begin
            mark.line.setSpan(0, (high - low + below) / (span + below))

    def _items_of(self, curve: BandedCurve) -> list[pyqtgraph.GraphicsObject]:
        theme = current_theme()
        wash = QColor(curve.color)
        wash.setAlphaF(BAND)
        none = QPen(Qt.PenStyle.NoPen)
        edges = [pyqtgraph.PlotCurveItem(curve.x, edge, pen=none) for edge in (curve.low, curve.high)]
        pen = self._pen(curve.color, 2)
        pen.setStyle(curve.line)
        line = pyqtgraph.PlotDataItem(
            curve.x,
            curve.y,
            pen=pen,
            antialias=True,
            symbol="o",
            symbolSize=POINT * theme.scale,
            symbolBrush=curve.color,
            symbolPen=none,
        )
        return [pyqtgraph.FillBetweenItem(*edges, brush=wash, pen=none), line]

    def _style_marks(self) -> None:
        theme = current_theme()
        self._fit()
        for mark in self._marks:
            pen = self._pen(theme.muted_text, 1)
            pen.setStyle(Qt.PenStyle.DashLine)
            mark.line.setPen(pen)
            mark.text.setColor(theme.muted_text)
            mark.text.setFont(theme.font(SIZE))
            mark.text.setPos(mark.line.value(), self._y_range[1])

    def _pen(self, color: QColor, width: float) -> QPen:
        """Cosmetic pens, which pyqtgraph needs, are measured in device pixels."""
        return pyqtgraph.mkPen(color, width=width * current_theme().scale * self.devicePixelRatioF())

    def _ring(self) -> None:
        """Rings around the points at the x that is chosen or pointed at."""
        places = {float(self._places[self.hovered])} if 0 <= self.hovered < len(self._places) else set()
        places |= {self._current} if self._current is not None else set()
        rings = [(x, curve, curve.at(x)) for x in sorted(places) for curve in self._curves]
        self._rings.setData(
            [
                {
                    "pos": (x, y),
                    "pen": self._pen(curve.color, 2),
                    "size": RING * current_theme().scale,
                    "symbol": "o",
                }
                for x, curve, y in rings
                if y is not None
            ]
        )

    def index_at(self, place: QPointF) -> int:
        self._pointed_y = place.y()
        return int(np.abs(self._places - place.x()).argmin()) if len(self._places) else -1

    def readout(self, index: int) -> tuple[str, Sequence[str]]:
        x = float(self._places[index])
        lines = [f"{curve.name} {_with_band(curve, x)}" for curve in self._curves if curve.at(x) is not None]
        return f"{count(x)} {self._x_unit}".rstrip(), lines

    def pointed_at(self, index: int) -> None:
        self._ring()
        if index < 0:
            HoverCard.leave(self)
        else:
            place = self.place_of(float(self._places[index]), self._pointed_y)
            HoverCard.beside(self, place, *self.readout(index))

    def clicked_on(self, index: int) -> None:
        x, y = float(self._places[index]), self._pointed_y
        distances = {curve.name: abs(at - y) for curve in self._curves if (at := curve.at(x)) is not None}
        self._choose(x, min(distances, key=lambda name: distances[name]))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() not in ACROSS or not len(self._places):
            super().keyPressEvent(event)
            return
        step = ACROSS[event.key()]
        if self._current is None:
            now = -1 if step > 0 else len(self._places)
        else:
            now = int(np.searchsorted(self._places, self._current))
        self._choose(float(self._places[np.clip(now + step, 0, len(self._places) - 1)]), "")

    def _choose(self, x: float, name: str) -> None:
        self.set_current(x)
        self.point_chosen.emit(x, name)


def _with_band(curve: BandedCurve, x: float) -> str:
    """The y at an x, and its band in brackets."""
    at = int(np.flatnonzero(curve.x == x)[0])
    low, high = number(float(curve.low[at]), 0), number(float(curve.high[at]), 0)
    return f"{number(float(curve.y[at]), 1)} ({low} to {high})"
