"""A curve as it stands in a plot."""

from __future__ import annotations

import numpy as np
import pyqtgraph
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.kit.axes import DASHED, OF_TINT, SOLID, Axes
from lmviz.looks.curve import PlotCurve

MOST_DASHED = 2000  # points of a curve that is drawn with dashes
DOT = 6  # pixels at scale 1 across
BAND = 0.16  # how opaque a band is


class DrawnCurve:
    """A curve that stands in a plot, as the item that draws it. Setting what it already shows costs nothing.

    Points that share a column of pixels are reduced to their smallest and largest, so that no peak is lost
    however long the curve.
    """

    def __init__(self, view: Axes, curve: PlotCurve) -> None:
        self._view = view
        self.item: pyqtgraph.PlotDataItem = view.add_curve(antialias=True, connect="finite")
        self.item.setDownsampling(auto=True, method="peak")
        self.item.setClipToView(True)
        # Smooth wide lines as one path take Qt seconds where a curve is noise; as segments, milliseconds.
        self.item.curve.setSegmentedLineMode("on")
        self._ring: pyqtgraph.PlotDataItem | None = None
        self.curve = curve
        self.x = self.y = np.zeros(0)
        self._edges: tuple[pyqtgraph.PlotDataItem, ...] = ()
        self._wash: pyqtgraph.FillBetweenItem | None = None
        self.set(curve)
        self.adopt_theme()

    @property
    def color(self) -> QColor:
        """Its colour in the current theme."""
        return current_theme().ink(self.curve.role)

    @property
    def _style(self) -> Qt.PenStyle:
        """Whether its line has gaps: as it is asked for, or as a tint has them."""
        role = self.curve.role
        if self.curve.dashed or not isinstance(role, int):
            return DASHED if self.curve.dashed else SOLID
        return OF_TINT[current_theme().tint_of(role)]

    @property
    def is_visible(self) -> bool:
        """Whether it is drawn: a click on its name hides it."""
        return self.item.isVisible()

    def set(self, curve: PlotCurve) -> bool:
        """Show other points, or the same in another way; False where nothing changes."""
        before, self.curve = _look(self.curve), curve
        looks_the_same = before == _look(curve)
        if not looks_the_same:
            self.adopt_theme()
        x, y = np.asarray(curve.x, dtype=np.float64), np.asarray(curve.y, dtype=np.float64)
        is_the_same = np.array_equal(x, self.x) and np.array_equal(y, self.y, equal_nan=True)
        if not is_the_same:
            self.x, self.y = x, y
            self.item.setData(x, y)
            # The dashes of a segment begin anew with each, and one of a few pixels is a whole line.
            dashes = self._style != SOLID and len(x) <= MOST_DASHED
            self.item.curve.setSegmentedLineMode("off" if dashes else "on")
            self._set_ring()
        return self._set_band(curve.band) or not (looks_the_same and is_the_same)

    @property
    def spanned(self) -> np.ndarray:
        """(point, 3) Its y and the edges of its band, which are its y where there is none."""
        return np.column_stack([self.y, *(self.curve.band or (self.y, self.y))])

    def remove(self) -> None:
        """Take it out of the plot."""
        for item in (self.item, self._ring, self._wash, *self._edges):
            if item is not None:
                self._view.remove(item)

    def set_visible(self, visible: bool) -> None:
        """Draw it, or leave it out."""
        for item in (self.item, self._ring, self._wash):
            if item is not None:
                item.setVisible(visible)

    def _set_band(self, band: tuple[np.ndarray, np.ndarray] | None) -> bool:
        """Shade between the edges of a band; whether that changes anything."""
        known = [edge.getOriginalDataset()[1] for edge in self._edges]
        if band is None:
            band = (np.zeros(0), np.zeros(0))
            if not self._edges:
                return False
        if known and all(map(np.array_equal, known, band)):
            return False
        if self._wash is None:
            self._edges = tuple(self._view.add_curve(pen=QColor(0, 0, 0, 0)) for _ in band)
            self._wash = pyqtgraph.FillBetweenItem(*self._edges)
            self._view.add(self._wash)
            self.adopt_theme()
        for edge, values in zip(self._edges, band, strict=True):
            edge.setData(self.x[: len(values)], values)
        return True

    def _set_ring(self) -> None:
        if self.curve.ring and len(self.x):
            if self._ring is None:
                self._ring = self._view.add_curve(pen=None, symbol="o")
                self._ring.setVisible(self.item.isVisible())
                self.adopt_theme()
            self._ring.setData(self.x[:1], self.y[:1])

    def adopt_theme(self) -> None:
        """Take over the theme's colour and scale."""
        color, curve = self.color, self.curve
        pen = self._view.thin_pen(color, curve.width, self._style)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        self.item.setPen(pen if curve.width else None)
        self.item.setSymbol("o" if curve.dots else None)
        self.item.setSymbolSize(DOT * current_theme().scale)
        self.item.setSymbolBrush(color)
        self.item.setSymbolPen(None)
        if self._wash is not None:
            wash = QColor(color)
            wash.setAlphaF(BAND)
            self._wash.setBrush(wash)
        if self._ring is not None:
            self._ring.setSymbolSize(1.6 * DOT * current_theme().scale)
            self._ring.setSymbolBrush(current_theme().surface)
            self._ring.setSymbolPen(self._view.thin_pen(color, 2.0))


def _look(curve: PlotCurve) -> tuple[object, ...]:
    return curve.role, curve.width, curve.dashed, curve.dots, curve.said
