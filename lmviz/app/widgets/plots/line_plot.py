"""Curves over steps: the loss, with reference lines, and a cursor for the moment one looks at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyqtgraph
from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QKeyEvent, QPen
from PySide6.QtWidgets import QVBoxLayout, QWidget

from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.widgets.base.figures import count, number
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.plots.legend import Legend, LegendEntry
from lmviz.app.widgets.plots.plot_axes import SIZE, ReferenceLine
from lmviz.app.widgets.plots.plot_names import spread_names
from lmviz.app.widgets.plots.quiet_plot import QuietPlot

LOWEST = 92  # pixels at scale 1 below which nothing could be read off
ROOM_FOR_NAME = 110  # pixels at scale 1 of height from which on the cursor says its step


@dataclass
class _Curve:
    """A curve's points and how it is drawn; `role` is a role of the theme or a colour."""

    item: pyqtgraph.PlotDataItem
    role: str | QColor
    width: float
    dashed: bool
    x: np.ndarray = field(default_factory=lambda: np.zeros(0))
    y: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def pen_style(self) -> Qt.PenStyle:
        return Qt.PenStyle.DashLine if self.dashed else Qt.PenStyle.SolidLine

    @property
    def color(self) -> QColor:
        return self.role if isinstance(self.role, QColor) else getattr(current_theme(), self.role)


class LinePlot(QWidget):
    """`LinePlot(x_name="step")`: several curves over one axis; `legend` is a widget to place in a card.

    `set_curve(name, x, y, role="training", width=2, dashed=False)` adds or replaces a curve,
    `remove_curve(name)` takes it away; `set_references([(name, value)])` draws dashed lines;
    `set_cursor(x)` marks a moment; `set_end(x)` says how far the axis reaches;
    `set_logarithmic(bool)` is the scale of y. A click on the legend hides a curve.
    Signals: `cursor_moved(float)` by click, drag, or Left and Right; `point_hovered(float)`, the x of
    the nearest point, NaN when the pointer leaves.
    """

    cursor_moved = Signal(float)
    point_hovered = Signal(float)

    def __init__(self, x_name: str = "step", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.legend = Legend(wraps=True)
        self._x_name = x_name
        self._view = QuietPlot()
        self._plot: pyqtgraph.PlotItem = self._view.getPlotItem()
        self._box = self._view.box
        self._curves: dict[str, _Curve] = {}
        self._references: list[ReferenceLine] = []
        self._logarithmic = False
        self._lay_out()
        self._cursor = self._make_cursor()
        self._view.scene().sigMouseMoved.connect(self._hover)
        self._view.scene().sigMouseClicked.connect(self._click)
        self._box.sigRangeChanged.connect(self._spread_names)
        self._box.sigResized.connect(self._fit)
        self.legend.entry_clicked.connect(self._toggle)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("plot")
        theme_switch().theme_changed.connect(self.adopt_theme)
        self.adopt_theme()

    def _lay_out(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._view)
        self._view.hide()
        self._plot.setContentsMargins(4, 6, 22, 0)
        self._box.setAutoVisible(y=True)
        self._box.setDefaultPadding(0.03)

    def _make_cursor(self) -> pyqtgraph.InfiniteLine:
        cursor = pyqtgraph.InfiniteLine(angle=90, movable=True)
        cursor.label = pyqtgraph.InfLineLabel(cursor, "", position=0.04, movable=False)
        cursor.label.anchors = [(-0.06, 0.5), (1.06, 0.5)]
        cursor.setZValue(5)
        cursor.hide()
        cursor.sigDragged.connect(lambda line: self.cursor_moved.emit(line.value()))
        self._plot.addItem(cursor, ignoreBounds=True)
        return cursor

    def set_curve(
        self,
        name: str,
        x: Sequence[float] | np.ndarray,
        y: Sequence[float] | np.ndarray,
        *,
        role: str | QColor = "training",
        width: float = 2.0,
        dashed: bool = False,
    ) -> None:
        """Add or replace a curve; x and y are (point,), x ascending. NaN interrupts the curve.

        Points that share a column of pixels are reduced to their smallest and largest, so that no peak
        is lost however long the curve.
        """
        curve = self._curves.get(name)
        if curve is None:
            item = self._plot.plot(antialias=True, connect="finite")
            item.setDownsampling(auto=True, method="peak")
            item.setClipToView(True)
            # Smooth wide lines as one path take Qt seconds where a curve is noise; as segments, milliseconds.
            item.curve.setSegmentedLineMode("on")
            curve = self._curves[name] = _Curve(item, role, width, dashed)
            self._style(curve)
        elif (curve.role, curve.width, curve.dashed) != (role, width, dashed):
            curve.role, curve.width, curve.dashed = role, width, dashed
            self._style(curve)
        curve.x, curve.y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        curve.item.setData(curve.x, curve.y)
        self._fill_legend()

    def remove_curve(self, name: str) -> None:
        """Take a curve away; nothing happens when there is none of that name."""
        curve = self._curves.pop(name, None)
        if curve is not None:
            self._plot.removeItem(curve.item)
            self._fill_legend()

    def points(self) -> dict[str, np.ndarray]:
        """The points of each curve, (point, 2): x and y."""
        return {name: np.stack([curve.x, curve.y], axis=1) for name, curve in self._curves.items()}

    def curve_names(self) -> tuple[str, ...]:
        """The curves there are, oldest first."""
        return tuple(self._curves)

    def set_references(self, references: Sequence[tuple[str, float]]) -> None:
        """Dashed horizontal lines with their names, such as the loss of a bigram model."""
        if list(references) == [line.reference for line in self._references]:
            return
        for line in self._references:
            self._plot.removeItem(line)
        self._references = [ReferenceLine(name, value) for name, value in references]
        for line in self._references:
            line.set_logarithmic(self._logarithmic)
            line.adopt_theme(current_theme())
            self._plot.addItem(line)
        self._spread_names()
        self._fill_legend()

    def set_cursor(self, x: float | None) -> None:
        """Where the vertical line stands; None hides it."""
        self._cursor.setVisible(x is not None)
        if x is not None:
            self._cursor.setValue(x)
            self._cursor.label.setFormat(f"{self._x_name} {count(x)}")

    def set_end(self, x: float | None) -> None:
        """The last x of the axis, so that curves grow into free space; None follows the data."""
        if x is None:
            self._box.enableAutoRange(axis="x")
        else:
            self._box.setXRange(0, x, padding=0)

    def set_logarithmic(self, logarithmic: bool) -> None:
        """Whether y is logarithmic; values that are not positive are then left out."""
        if logarithmic == self._logarithmic:
            return
        self._logarithmic = logarithmic
        self._plot.setLogMode(x=False, y=logarithmic)
        for line in self._references:
            line.set_logarithmic(logarithmic)

    def adopt_theme(self) -> None:
        """Take over colours and type."""
        theme = current_theme()
        faint = QColor(theme.accent)
        faint.setAlphaF(0.45)
        self._cursor.setPen(QPen(faint, 2 * theme.scale))
        self._cursor.setHoverPen(QPen(theme.accent, 3 * theme.scale))
        self._cursor.label.setColor(theme.muted_text)
        self._cursor.label.fill = QBrush(theme.surface)
        self._cursor.label.setFont(theme.font(SIZE))
        for curve in self._curves.values():
            self._style(curve)
        for line in self._references:
            line.adopt_theme(theme)
        self._fit()
        self._fill_legend()

    def _fit(self) -> None:
        """Leave out of a low plot what would cover it."""
        self._cursor.label.setVisible(self._box.height() >= ROOM_FOR_NAME * current_theme().scale)
        self._spread_names()

    def _style(self, curve: _Curve) -> None:
        # Cosmetic pens, which pyqtgraph needs, are measured in device pixels.
        width = curve.width * current_theme().scale * self.devicePixelRatioF()
        pen = QPen(curve.color, width, curve.pen_style)
        pen.setCosmetic(True)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        curve.item.setPen(pen)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, round(LOWEST * current_theme().scale))

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self.adopt_theme()
        return super().event(event)

    def _fill_legend(self) -> None:
        self._view.setVisible(bool(self._curves or self._references))
        curves = self._curves.items()
        self.legend.set_entries(
            [
                LegendEntry(name, curve.color, curve.item.isVisible(), curve.pen_style)
                for name, curve in curves
            ]
        )

    def _toggle(self, name: str) -> None:
        item = self._curves[name].item
        item.setVisible(not item.isVisible())
        self._fill_legend()

    def _spread_names(self) -> None:
        spread_names(self._references, self._box)

    def _nearest(self, x: float) -> float | None:
        """The x, among all points shown, that is nearest to an x."""
        found = [_nearest_value(curve.x, x) for curve in self._shown().values() if len(curve.x)]
        return min(found, key=lambda place: abs(place - x), default=None)

    def _shown(self) -> dict[str, _Curve]:
        return {name: curve for name, curve in self._curves.items() if curve.item.isVisible()}

    def values_at(self, x: float) -> dict[str, float]:
        """The y of each curve shown that has a point at exactly this x."""
        found = {}
        for name, curve in self._shown().items():
            index = int(np.searchsorted(curve.x, x))
            if index < len(curve.x) and curve.x[index] == x:
                found[name] = float(curve.y[index])
        return found

    def _hover(self, place: QPointF) -> None:
        inside = self._box.sceneBoundingRect().contains(place)
        nearest = self._nearest(self._box.mapSceneToView(place).x()) if inside else None
        if nearest is None:
            self._leave()
            return
        lines = [f"{name} {number(value)}" for name, value in self.values_at(nearest).items()]
        HoverCard.beside(self, self._view.mapFromScene(place), f"{self._x_name} {count(nearest)}", lines)
        self.point_hovered.emit(nearest)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._leave()

    def _leave(self) -> None:
        HoverCard.leave(self)
        self.point_hovered.emit(float("nan"))

    def _click(self, event: object) -> None:
        place = event.scenePos()
        if self._box.sceneBoundingRect().contains(place):
            self._move_cursor(self._nearest(self._box.mapSceneToView(place).x()))

    def _move_cursor(self, x: float | None) -> None:
        if x is not None:
            self.set_cursor(x)
            self.cursor_moved.emit(x)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        curves = [curve.x for curve in self._shown().values() if len(curve.x)]
        if event.key() not in steps or not curves:
            super().keyPressEvent(event)
            return
        places = np.unique(np.concatenate(curves))
        now = int(np.searchsorted(places, self._cursor.value()))
        self._move_cursor(float(places[np.clip(now + steps[event.key()], 0, len(places) - 1)]))


def _nearest_value(values: np.ndarray, wanted: float) -> float:
    """The element of ascending values (element,) that is nearest to a number."""
    index = int(np.clip(np.searchsorted(values, wanted), 1, max(1, len(values) - 1)))
    around = values[index - 1 : index + 1]
    return float(around[np.argmin(np.abs(around - wanted))])
