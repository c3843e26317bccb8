"""Curves over steps, such as the loss, with reference lines and a cursor at the shown step."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QGraphicsSimpleTextItem, QVBoxLayout, QWidget

from lmviz.app.widgets.base.canvas import Canvas
from lmviz.app.widgets.base.figures import count, number
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.kit.axes import ANYTHING, SIZE, Axes, ReferenceLine
from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.widgets.kit.pointing import ACROSS, along
from lmviz.app.widgets.plots.axis_range import rounded_range, together
from lmviz.app.widgets.plots.plot_curve import DrawnCurve
from lmviz.app.widgets.plots.plot_names import PlotName, PlotNames
from lmviz.base.plain_text import seen
from lmviz.looks.curve import PlotCurve

if TYPE_CHECKING:
    from pyqtgraph.GraphicsScene.mouseEvents import MouseClickEvent

LOWEST = 92  # pixels at scale 1 below which nothing could be read off
ROOM_FOR_NAME = 110  # pixels at scale 1 of height from which on the cursor says its step
ABOVE = 18  # pixels at scale 1 above the plot, where it says it
MARGIN = 22  # pixels at scale 1 on the right of the plot, which the leaders of the names cross
AT_THE_TOP = {"position": 1.0, "anchors": [(0.5, 1), (0.5, 1)]}
ROOM_FOR_MARKS = 18  # pixels at scale 1 above the highest y, where marks say what they are
APART = 4  # pixels at least between the words of two marks
LOW_ABOVE, NAMED_ABOVE = 6, 25  # the same where it does not, and where the name of y stands there
STRONG = 2.2  # the width from which on a curve's name is written bold

Writing = Callable[[float], str]


class LinePlot(Canvas):
    """`LinePlot(x_name="step", possible=ANYTHING)`: several curves over one axis, named on the right with
    their last values. What is counted along x is within `possible_x`, and the values are within `possible`.
    `logarithmic` says so of x and of y, `words` write an amount of each, and `y_name` stands above the axis.
    Of losses `of_trainings` one that diverged goes on above the plot; all other curves are within it.

    `set_curves([PlotCurve(name, x, y)])` says which curves there are; `set_references([(name, value)])` draws
    dashed lines;
    `set_cursor(x)` marks a moment; `set_end(x)` says how far the axis reaches;
    `set_logarithmic(bool)` is the scale of y; `set_x_name(name)` says what x counts from now on, and
    `set_y_name(name)` what y does where it was named at first. A click on a
    name hides its curve, or shows it; so does `set_hidden(names)`.
    Signals: `hidden_changed()` after such a click; `cursor_moved(float)` by click, drag, or Left and Right;
    `point_hovered(float)`, the x of the nearest point, NaN when the pointer leaves; `axis_moved()`, after
    `place_of` has changed.
    """

    spoken_as = "Chart"
    least = (0, LOWEST)

    axis_moved = Signal()
    hidden_changed = Signal()
    cursor_moved = Signal(float)
    point_hovered = Signal(float)

    def __init__(
        self,
        x_name: str = "step",
        possible: tuple[float, float] = ANYTHING,
        *,
        logarithmic: tuple[bool, bool] = (False, False),
        words: tuple[Writing | None, Writing | None] = (None, None),
        y_name: str = "",
        possible_x: tuple[float, float] = (0.0, math.inf),
        of_trainings: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.names = PlotNames()
        self._possible, self._possible_x = possible, possible_x
        self._of_trainings = of_trainings
        self._x_name, self._y_name = x_name, y_name
        self._view = Axes()
        self._view.spoken_as = "Grouping"  # the plot itself says what is drawn
        self._sheet = self._view.sheet
        self._view.set_possible(possible, x=possible_x)
        self._box = self._view.box
        self._curves: dict[str, DrawnCurve] = {}
        self._references: list[ReferenceLine] = []
        self._notes: Mapping[str, str] = {}
        self._marks: list[pyqtgraph.InfiniteLine] = []
        self._band: list[pyqtgraph.LinearRegionItem] = []
        self._over_logarithms, self._logarithmic = logarithmic
        self._says, self._writes = words[0] or count, words[1] or partial(number, digits=2)
        self._exactly = words[1] or number
        self._end: float | None = None
        self._at_left: float | None = None
        self._above = -1  # pixels above the plot
        self._pointer: QPointF | None = None  # where it rests within the plot, in the scene
        for side, written in zip(("bottom", "left"), words, strict=True):
            if written is not None:
                self._view.axes[side].set_words(written)
        self._view.set_logarithmic(*logarithmic)
        self._column = QVBoxLayout(self)
        self._column.addWidget(self._view)
        self._view.hide()
        self.names.setParent(self)
        self._box.setDefaultPadding(0.03)
        self._box.disableAutoRange(axis="y")
        self._cursor = self._make_cursor()
        self._view.scene().sigMouseMoved.connect(self._hover)
        self._view.scene().sigMouseClicked.connect(self._click)
        self._box.sigRangeChanged.connect(self._place_words)
        self._box.sigResized.connect(self._place_words)
        self.names.name_clicked.connect(self._toggle)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("plot")
        self.adopt_theme()

    def _make_cursor(self) -> pyqtgraph.InfiniteLine:
        cursor = pyqtgraph.InfiniteLine(angle=90, movable=True)
        self._cursor_text = QGraphicsSimpleTextItem(self._sheet)
        self._words = [self._cursor_text]
        if self._y_name:
            self._words.append(QGraphicsSimpleTextItem(seen(self._y_name), self._sheet))
        cursor.setZValue(5)
        cursor.hide()
        cursor.sigDragged.connect(lambda line: self.cursor_moved.emit(self._amount(line.value())))
        self._view.add(cursor)
        return cursor

    def set_curves(self, curves: Sequence[PlotCurve]) -> None:
        """Draw these curves and no others. A curve that stands already keeps its place among the names."""
        gone = set(self._curves) - {curve.name for curve in curves}
        for name in gone:
            self._curves.pop(name).remove()
        changed = bool(gone)
        for curve in curves:
            drawn = self._curves.get(curve.name)
            if drawn is None:
                self._curves[curve.name] = DrawnCurve(self._view, curve)
                changed = True
            else:
                changed |= drawn.set(curve)
        if changed:
            self._fit()

    @property
    def curves(self) -> dict[str, PlotCurve]:
        """What is drawn, hidden or not."""
        return {name: drawn.curve for name, drawn in self._curves.items()}

    @property
    def hidden(self) -> frozenset[str]:
        """The names of the curves that are not drawn."""
        return frozenset(name for name, drawn in self._curves.items() if not drawn.is_visible)

    def set_hidden(self, names: Collection[str]) -> None:
        """Draw all curves but these."""
        if frozenset(names) & self._curves.keys() != self.hidden:
            for name, drawn in self._curves.items():
                drawn.set_visible(name not in names)
            self._fit()

    def set_x_name(self, name: str) -> None:
        """What x counts, such as "step" or "tokens"."""
        if name != self._x_name:
            self._x_name = name
            self._place_words()

    def set_y_name(self, name: str) -> None:
        """What y counts; where it had no name at first, none is shown."""
        if name != self._y_name and self._y_name:
            self._y_name = name
            self._words[-1].setText(seen(name))
            self._place_words()

    def points(self) -> dict[str, np.ndarray]:
        """The points of each curve, (point, 2): x and y."""
        return {name: np.stack([curve.x, curve.y], axis=1) for name, curve in self._curves.items()}

    def set_references(
        self, references: Sequence[tuple[str, float]], notes: Mapping[str, str] | None = None
    ) -> None:
        """Dashed horizontal lines with their names, such as the loss of a bigram, and what they mean."""
        self._notes = notes or {}
        if list(references) == [line.reference for line in self._references]:
            return
        before, self._references = self._references, [ReferenceLine(*reference) for reference in references]
        for line in self._references:
            line.set_logarithmic(self._logarithmic)
            line.adopt_theme(self.theme)
        self._view.replace(before, self._references)
        self._fit()

    def set_cursor(self, x: float | None) -> None:
        """Where the vertical line stands; None hides it."""
        place = None if x is None else self._along(x)
        if (x is not None) == self._cursor.isVisible() and place in (None, self._cursor.value()):
            return
        self._cursor.setVisible(x is not None)
        if x is not None:
            self._cursor.setValue(place)
            self._cursor_text.setText(f"{self._x_name} {self._says(x)}")
        self._place_words()

    def set_end(self, x: float | None) -> None:
        """The last x of the axis, so that curves grow into free space; None follows the data."""
        if x is not None and x == self._end:
            return
        self._end = x
        if x is None:
            self._box.enableAutoRange(axis="x")
        else:
            self._box.setXRange(0, x, padding=0)
        self._fit()

    def set_marks(self, marks: Sequence[tuple[float, str]]) -> None:
        """Dotted vertical lines, which say something."""
        before, self._marks = (
            self._marks,
            [
                pyqtgraph.InfiniteLine(self._along(x), angle=90, label=seen(said), labelOpts=AT_THE_TOP)
                for x, said in marks
            ],
        )
        self._view.replace(before, self._marks)
        self._style_marks()
        self._fit()

    def set_band(self, band: tuple[float, float] | None) -> None:
        """Shade all between two x; None for nothing."""
        before, self._band = self._band, []
        if band is not None:
            ends = [self._along(x) for x in band]
            self._band = [pyqtgraph.LinearRegionItem(ends, movable=False, pen=pyqtgraph.mkPen(None))]
            self._band[0].setZValue(-2000)  # under the lines of the axis
        self._view.replace(before, self._band)
        self._style_marks()

    def _style_marks(self) -> None:
        theme = self.theme
        for band in self._band:
            band.setBrush(theme.note_wash)
        for line in self._marks:
            line.setPen(self._view.thin_pen(theme.key, 1.2, Qt.PenStyle.DotLine))
            line.label.setColor(theme.key)
            line.label.setFont(theme.font(SIZE))

    def set_room_at_left(self, pixels: float) -> None:
        """So many pixels at scale 1 for the numbers of y: what stands below has as many for its names."""
        self._at_left = pixels
        self.adopt_theme()

    def set_logarithmic(self, logarithmic: bool) -> None:
        """Whether y is logarithmic; values that are not positive are then left out."""
        if logarithmic == self._logarithmic:
            return
        self._logarithmic = logarithmic
        self._view.set_logarithmic(x=self._over_logarithms, y=logarithmic)
        for line in self._references:
            line.set_logarithmic(logarithmic)
        self._fit()

    def set_possible(self, possible: tuple[float, float]) -> None:
        """The least and the most that a value can be, in the unit that is drawn from now on."""
        if possible != self._possible:
            self._possible = possible
            self._view.set_possible(possible, x=self._possible_x)
            self._fit()

    def adopt_theme(self) -> None:
        super().adopt_theme()
        theme = self.theme
        if self._at_left is not None:
            self._view.axes["left"].setWidth(round(self.length(self._at_left)))
        faint = QColor(theme.accent)
        faint.setAlphaF(0.45)
        self._cursor.setPen(self._view.thin_pen(faint, 1.5))
        self._cursor.setHoverPen(self._view.thin_pen(theme.accent, 3))
        for text in self._words:
            text.setBrush(theme.muted_text)
            text.setFont(theme.font(SIZE))
        for curve in self._curves.values():
            curve.adopt_theme()
        for line in self._references:
            line.adopt_theme(theme)
        self._style_marks()
        self._fit()

    def _fit(self) -> None:
        """Give y a range that holds all that is shown up to the end, and the names their places."""
        self._view.setVisible(bool(self._curves or self._references))
        spans = []
        for curve in (each for each in self._shown().values() if not each.curve.guide):
            shown = curve.spanned if self._end is None else curve.spanned[curve.x <= self._end]
            shown = shown[np.isfinite(shown) & ((shown > 0) | (not self._logarithmic))]
            if len(shown):
                spans.append((float(shown.min()), float(shown.max())))
        if self._of_trainings and math.isinf(self._possible[1]) and not self._logarithmic:
            spans = together(spans)
        found = [*(line.reference[1] for line in self._references), *chain(*spans)]
        low_high = rounded_range(found, self._logarithmic, self._possible)
        if low_high is not None:
            low, high = low_high
            top = low + (high - low) / (1 - self._share_of_marks)
            for line in self._marks:  # a line ends where its words begin
                line.setSpan(0, 1 - self._share_of_marks)
                line.viewTransformChanged()  # a new span is not taken note of else
                line.boundingRect()
            self._box.setYRange(low, top, padding=0)
        self._part_marks()
        self._place_words()
        nearest = self._pointed_at()
        HoverCard.renew(self, None if nearest is None else partial(self._readout, nearest))

    @property
    def _share_of_marks(self) -> float:
        """The share of the height, above all curves, in which marks say what they are."""
        if not self._marks:
            return 0.0
        return min(0.5, ROOM_FOR_MARKS * self.theme.scale / max(1.0, self._box.height()))

    def _part_marks(self) -> None:
        """Words of marks stand over the middle of their lines, or beside them where they would meet."""
        low, high = self._box.viewRange()[0]
        a_unit = self._box.width() / max(high - low, 1e-9)
        ordered = sorted(self._marks, key=lambda line: line.value())
        for line in ordered:
            line.label.anchors = [(0.5, 1), (0.5, 1)]
        for one, other in pairwise(ordered):
            widths = (line.label.boundingRect().width() for line in (one, other))
            if sum(widths) / 2 + APART > a_unit * (other.value() - one.value()):
                one.label.anchors, other.label.anchors = [(1, 1), (1, 1)], [(0, 1), (0, 1)]
        for line in ordered:
            line.label.updatePosition()

    def _place_words(self) -> None:
        """Set the names beside their lines, and the step above its own where the plot is not too low."""
        names = self._names()
        width = self.names.wanted_width(names, self.width())
        margin = round(self.length(MARGIN))  # the last number of the axis reaches into it
        self._column.setContentsMargins(0, 0, max(0, width - margin), 0)
        self.names.setGeometry(self.width() - width, 0, width, self.height())
        area = self._view.mapFromScene(self._box.sceneBoundingRect()).boundingRect()
        self.names.set_names(names, 0, max(area.bottom(), 0))
        self.setAccessibleDescription(self.names.accessibleDescription() or "no curve yet")
        says = self._cursor.isVisible() and self.height() >= self.length(ROOM_FOR_NAME)
        named = self._words[-1].boundingRect().width() + 8 if self._y_name else 0.0
        above = round(self.length(NAMED_ABOVE if named else ABOVE if says else LOW_ABOVE))
        if above != self._above:
            self._above = above
            self._sheet.setContentsMargins(4, above, margin, 0)
        self._cursor_text.setVisible(says)
        if self._y_name:  # the marker's own words come first where there is not room for both
            room = self._box.sceneBoundingRect().right() - named - self._cursor_text.boundingRect().width()
            self._words[-1].setVisible(not says or room >= 0)
        if says:
            place = QPointF(self._cursor.value(), self._box.viewRange()[1][1])
            top = self._sheet.mapFromScene(self._box.mapViewToScene(place))
            text = self._cursor_text.boundingRect()
            within = self._sheet.mapFromScene(self._box.sceneBoundingRect()).boundingRect()
            begin = max(within.left(), named)  # left of it are the numbers of the axis, and right of it names
            left = min(max(top.x() - text.width() / 2, begin), within.right() - text.width())
            self._cursor_text.setPos(left, top.y() - text.height() - 1)
        self.axis_moved.emit()

    def _names(self) -> list[PlotName]:
        """What stands on the right: curves at their last value within the axis, then the references."""
        names, end = [], np.inf if self._end is None else self._end
        for name, curve in self._curves.items():
            shown = np.flatnonzero(np.isfinite(curve.y) & (curve.x <= end))
            if len(shown):
                value, given = float(curve.y[shown[-1]]), curve.curve
                said = self._writes(value) if given.said is None else given.said
                strong, hidden = given.width >= STRONG, not curve.is_visible
                names.append(PlotName(name, said, self._height(value), curve.color, strong, hidden))
        for name, value in (line.reference for line in self._references):
            said, note, muted = self._writes(value), self._notes.get(name, ""), self.theme.muted_text
            names.append(PlotName(name, said, self._height(value), muted, is_curve=False, note=note))
        return names

    def _height(self, value: float) -> float:
        """How far below the upper edge of the widget a value lies, held within the plot."""
        low, high = self._box.viewRange()[1]
        placed = (math.log10(value) if value > 0 else low) if self._logarithmic else value
        return self._view.place_of(0, min(max(placed, low), high)).y()

    def _along(self, x: float) -> float:
        """Where an amount stands on the axis of x."""
        return math.log10(x) if self._over_logarithms else x

    def _amount(self, place: float) -> float:
        """The amount that stands at a place on the axis of x."""
        return 10.0**place if self._over_logarithms else place

    def place_of(self, x: float, y: float) -> QPoint:
        """Where a point is drawn, in the widget."""
        place = self._view.place_of(self._along(x), math.log10(y) if self._logarithmic else y)
        return self._view.mapTo(self, self._view.viewport().mapTo(self._view, place))

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        self.draw_focus(painter)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._marks:
            self._fit()
        else:
            self._place_words()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self.adopt_theme()
        return super().event(event)

    def _toggle(self, name: str) -> None:
        self._curves[name].set_visible(not self._curves[name].is_visible)
        self._fit()
        self.hidden_changed.emit()

    def _nearest(self, x: float) -> float | None:
        """The x, among all points shown, that is nearest to an x."""
        along = np.log10 if self._over_logarithms else np.asarray
        curves = [curve.x for curve in self._shown().values() if len(curve.x)]
        found = [places[np.abs(along(places) - along(x)).argmin()] for places in curves]
        return min(map(float, found), key=lambda place: abs(along(place) - along(x)), default=None)

    def _shown(self) -> dict[str, DrawnCurve]:
        return {name: curve for name, curve in self._curves.items() if curve.is_visible}

    def values_at(self, x: float) -> dict[str, float]:
        """The y of each curve shown that has a point at exactly this x."""
        found = {name: drawn.curve.at(x) for name, drawn in self._shown().items()}
        return {name: value for name, value in found.items() if value is not None}

    def _hover(self, place: QPointF) -> None:
        self._pointer = place if self._box.sceneBoundingRect().contains(place) else None
        nearest = self._pointed_at()
        if nearest is None:
            self._leave()
            return
        HoverCard.beside(self, self._view.mapFromScene(place), *self._readout(nearest))
        self.point_hovered.emit(nearest)

    def _pointed_at(self) -> float | None:
        """The x of the point nearest to the pointer; None where there is none, or no pointer."""
        if self._pointer is None:
            return None
        return self._nearest(self._amount(self._box.mapSceneToView(self._pointer).x()))

    def _readout(self, x: float) -> tuple[str, Sequence[str]]:
        lines = [f"{name} {self._exactly(value)}" for name, value in self.values_at(x).items()]
        return f"{self._x_name} {self._says(x)}", lines

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._leave()

    def _leave(self) -> None:
        self._pointer = None
        HoverCard.leave(self)
        self.point_hovered.emit(float("nan"))

    def _click(self, event: MouseClickEvent) -> None:
        place = event.scenePos()
        if self._box.sceneBoundingRect().contains(place):
            self._move_cursor(self._nearest(self._amount(self._box.mapSceneToView(place).x())))

    def _move_cursor(self, x: float | None) -> None:
        if x is not None:
            self.set_cursor(x)
            self.cursor_moved.emit(x)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        curves = [curve.x for curve in self._shown().values() if len(curve.x)]
        places = np.unique(np.concatenate(curves)) if curves else np.zeros(0)
        now = int(np.searchsorted(places, self._amount(self._cursor.value()) * (1 - 1e-9)))
        wanted = along(ACROSS, event.key(), now, len(places))
        if wanted is not None:
            self._move_cursor(float(places[wanted]))
        else:
            super().keyPressEvent(event)
