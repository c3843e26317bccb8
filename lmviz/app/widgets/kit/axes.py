"""The axes of every plot by pyqtgraph, which is loaded after the first paint.

A plot has no zoom, no panning and no menu. No axis says what its values cannot be.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, ClassVar

import pyqtgraph
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QGraphicsGridLayout, QGraphicsView, QSizePolicy, QWidget

from lmviz.app.look.roles import Theme
from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.widgets.base.figures import number, plain, short
from lmviz.app.widgets.base.focus_ring import draw_ring, reached_by_key
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.kit.pointing import ARROWS, CONFIRMING, Parts, Words, beside

SIZE = 11.5
HALF_A_LINE = 8  # pixels
ANYTHING = (-math.inf, math.inf)
LOSS, SHARE, PERCENT = (0.0, math.inf), (0.0, 1.0), (0.0, 100.0)
"""What values can be at all."""

SOLID, DASHED = Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine
OF_TINT = SOLID, Qt.PenStyle.DashDotLine, Qt.PenStyle.DotLine
"""Of a curve in a plain colour of the series, and in its tints, which the colour hardly tells apart."""
LOGARITHMIC_STEPS = ((1, 10), (1, 3, 10), (1, 2, 5, 10), (1, 1.5, 2, 3, 4, 5, 7, 10))


class Axis(pyqtgraph.AxisItem):
    """An axis without a line: muted numbers, and for y thin lines across the plot."""

    textHeight: float  # of pyqtgraph, pixels

    def __init__(self, orientation: str) -> None:
        super().__init__(orientation, showValues=True)
        self.enableAutoSIPrefix(False)  # of a label that is not shown
        self.setStyle(tickLength=0, maxTickLevel=0, tickTextOffset=8, hideOverlappingLabels=40)
        self.setTickDensity(1.8 if orientation == "left" else 1)
        self._unit = ""
        self._words: Callable[[float], str] | None = None
        self._possible = ANYTHING

    def setVisible(self, visible: bool) -> None:
        # pyqtgraph gives it its room in these two alone
        if visible:
            self.show()
        else:
            self.hide()

    def set_possible(self, least: float, most: float) -> None:
        """Beyond these values there is nothing to read off, though the plot may reach a little further."""
        self._possible = least, most
        self.picture = None
        self.update()

    def set_unit(self, unit: str) -> None:
        """Written behind the last number, such as "tokens"."""
        self._unit = unit

    def set_words(self, words: Callable[[float], str]) -> None:
        """How an amount is written."""
        self._words = words

    def boundingRect(self) -> QRectF:
        """With room for the upper and the lower half of numbers that stand at the very ends."""
        area = super().boundingRect()
        return area.adjusted(0, -HALF_A_LINE, 0, HALF_A_LINE) if self.grid else area

    def adopt_theme(self, theme: Theme) -> None:
        """Take over colours and type."""
        self.setPen(QPen(theme.line, 1))
        self.setTextPen(theme.muted_text)
        font = theme.font(SIZE)
        self.setTickFont(font)
        # pyqtgraph leaves numbers out that are higher than this, makes room for them and paints once more
        self.textHeight = max(self.textHeight, QFontMetricsF(font).height())

    def tickValues(self, minimum: float, maximum: float, size: float) -> list[tuple[float, list[float]]]:
        least, most = self._possible
        if not self.logMode:
            minimum, maximum = max(minimum, least), min(maximum, most)
            levels = super().tickValues(minimum, maximum, size)[:1] if minimum < maximum else []
            told = [(spacing, self._told_apart(list(values), spacing)) for spacing, values in levels]
            return [(spacing, self._thinned(values, spacing, size)) for spacing, values in told]
        shown: list[float] = []
        for steps in LOGARITHMIC_STEPS:
            decades = range(math.floor(minimum), math.ceil(maximum) + 1)
            places = sorted({decade + math.log10(step) for decade in decades for step in steps})
            shown = [place for place in places if minimum <= place <= maximum]
            if len(shown) >= 4:
                break
        return [(1.0, self._thinned(shown, 1.0, size))]

    def _told_apart(self, values: list[float], spacing: float) -> list[float]:
        """Those of the numbers, as far apart as they have to be, of which no two are written alike."""
        chosen = values
        for apart in (1, 2, 5, 10):
            chosen = [value for value in values if round(value / spacing) % apart == 0]
            written = self.tickStrings(chosen, self.scale, spacing * apart)
            if len(set(written)) == len(written):
                break
        return chosen

    def _thinned(self, values: list[float], spacing: float, size: float) -> list[float]:
        """As many of the numbers as stand beside one another on an axis of so many pixels."""
        measure = QFontMetricsF(self.style["tickFont"])
        room = 1.6 * measure.height()
        if self.orientation == "bottom":
            widest = max(
                map(measure.horizontalAdvance, self.tickStrings(values, self.scale, spacing)), default=0
            )
            room = widest + measure.averageCharWidth()
        return values[:: max(1, math.ceil(len(values) * room / max(size, 1.0)))]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        if self._words is not None:
            return [self._words(10**value if self.logMode else value * scale) for value in values]
        if self.logMode:
            written = [short(10**value) if value >= 3 else plain(10**value, 4) for value in values]
            return self._with_unit(written)
        digits = max(0, math.ceil(-math.log10(spacing * scale) - 1e-9)) if spacing > 0 else 0
        digits = min(digits, 6)
        # A tick is a multiple of the spacing, but for rounding, of which zero would show nothing else.
        written = [number(round(value * scale, digits), digits) for value in values]
        return self._with_unit(written)

    def _with_unit(self, written: list[str]) -> list[str]:
        return [*written[:-1], f"{written[-1]} {self._unit}"] if self._unit and written else written

    def drawPicture(
        self,
        painter: QPainter,
        axis: object,
        ticks: Sequence[tuple[QPen, QPointF, QPointF]],
        texts: Sequence[tuple[QRectF, Qt.AlignmentFlag, str]],
    ) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(self.pen())
        for _, start, end in ticks if self.grid else ():
            painter.drawLine(start, end)
        painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
        painter.setFont(self.style["tickFont"])
        painter.setPen(self.textPen())
        edge = self.mapFromScene(QPointF(self.getViewWidget().width(), 0)).x()
        for area, flags, text in texts:  # the last number of x may reach beyond the plot
            painter.drawText(area.translated(min(0.0, edge - area.right()), 0), int(flags), text)


class ReferenceLine(pyqtgraph.InfiniteLine):
    """A dashed line across the plot at a known value, which has a name."""

    def __init__(self, name: str, value: float) -> None:
        super().__init__(angle=0, movable=False)
        self.name_text = name
        self._at = value
        self.set_logarithmic(False)

    @property
    def reference(self) -> tuple[str, float]:
        """The name and the value it stands for."""
        return self.name_text, self._at

    def set_logarithmic(self, logarithmic: bool) -> None:
        """Stand at the value on a linear or a logarithmic axis."""
        self.setValue(math.log10(self._at) if logarithmic and self._at > 0 else self._at)

    def adopt_theme(self, theme: Theme) -> None:
        """Take over colours and type."""
        self.setPen(pyqtgraph.mkPen(theme.muted_text, width=1, style=DASHED))


class Axes(pyqtgraph.GraphicsView):
    """`Axes()`: `axes` by side, `box` is what the items lie in, `sheet` is what holds all of them.

    Subclasses override `adopt_theme` for the colours of what they draw.
    """

    # pyqtgraph's PlotItem would make a menu of a hundred controls for each plot, which none of these plots
    # has, and which took four of the five milliseconds that a plot took.

    spoken_as = "Chart"

    usual: ClassVar[tuple[int, int] | None] = None
    least: ClassVar[tuple[int, int] | None] = None
    """The width and height that a layout gives it and that it needs, in pixels at scale 1."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, background=None)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.enableMouse(False)
        self.setAccessibleName("axes")
        for part in (self, self.viewport()):
            part.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        # What moves while it is being painted leaves pieces behind where only parts are painted again.
        self.setViewportUpdateMode(self.ViewportUpdateMode.FullViewportUpdate)
        self.items_drawn: list[pyqtgraph.GraphicsObject] = []
        self._logarithmic = (False, False)
        self.sheet = pyqtgraph.GraphicsWidget()
        self.box = pyqtgraph.ViewBox(self.sheet, enableMouse=False, enableMenu=False)
        self.axes = axes = {side: Axis(side) for side in ("left", "bottom")}
        self._lay_out()
        axes["left"].setGrid(255)
        axes["left"].setZValue(-1000)  # its lines lie under the curves
        theme_switch().theme_changed.connect(self.adopt_theme)
        Axes.adopt_theme(self)

    def _lay_out(self) -> None:
        layout = QGraphicsGridLayout(self.sheet)
        layout.setContentsMargins(1, 1, 1, 1)
        layout.setSpacing(0)
        layout.addItem(self.box, 0, 1)
        for side, (row, column) in {"left": (0, 0), "bottom": (1, 1)}.items():
            axis = self.axes[side]
            axis.linkToView(self.box)
            axis.setFlag(axis.GraphicsItemFlag.ItemNegativeZStacksBehindParent)
            axis.setZValue(0.5)
            layout.addItem(axis, row, column)
        layout.setRowStretchFactor(0, 100)
        layout.setColumnStretchFactor(1, 100)
        self.setCentralItem(self.sheet)

    def add(self, item: pyqtgraph.GraphicsObject, *, is_fitted: bool = False) -> None:
        """Put an item into the box. Where it `is_fitted`, the axes reach as far as it does."""
        self.items_drawn.append(item)
        self.box.addItem(item, ignoreBounds=not is_fitted)
        if isinstance(item, pyqtgraph.PlotDataItem):
            item.setLogMode(*self._logarithmic)

    def remove(self, item: pyqtgraph.GraphicsObject) -> None:
        """Take an item out of the box."""
        self.items_drawn.remove(item)
        self.box.removeItem(item)

    def add_curve(self, **looks: Any) -> pyqtgraph.PlotDataItem:
        """Put a curve without points into the box; the axes reach as far as it does."""
        curve = pyqtgraph.PlotDataItem(**looks)
        self.add(curve, is_fitted=True)
        return curve

    def set_logarithmic(self, x: bool, y: bool) -> None:
        """The scale of each axis. Both reach as far as their items do, until they are told otherwise."""
        self._logarithmic = x, y
        for item in self.items_drawn:
            if isinstance(item, pyqtgraph.PlotDataItem):
                item.setLogMode(x, y)
        for axis in self.axes.values():
            axis.setLogMode(x, y)
        self.box.enableAutoRange()

    def set_possible(self, y: tuple[float, float], x: tuple[float, float] = ANYTHING) -> None:
        """The least and the most that a value can be: no number of an axis lies beyond."""
        self.axes["left"].set_possible(*y)
        self.axes["bottom"].set_possible(*x)

    def adopt_theme(self) -> None:
        """Take over colours and type."""
        for axis in self.axes.values():
            axis.adopt_theme(current_theme())

    def sizeHint(self) -> QSize:
        return super().sizeHint() if self.usual is None else QSize(*self.usual) * current_theme().scale

    def minimumSizeHint(self) -> QSize:
        return super().minimumSizeHint() if self.least is None else QSize(*self.least) * current_theme().scale

    def close(self) -> bool:
        """Close it as any widget; pyqtgraph would take all items out, though it may be shown again."""
        return QGraphicsView.close(self)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self.adopt_theme()
        return super().event(event)

    def replace(
        self, old: Iterable[pyqtgraph.GraphicsObject], new: Iterable[pyqtgraph.GraphicsObject]
    ) -> None:
        """Take items out and put others in, which have no say in how far the axes reach."""
        for item in old:
            self.remove(item)
        for item in new:
            self.add(item)

    def place_of(self, x: float, y: float) -> QPoint:
        """Where a point lies in the viewport; x and y as the axes count, logarithms on a logarithmic one."""
        return self.mapFromScene(self.box.mapViewToScene(QPointF(x, y)))

    def thin_pen(self, color: QColor, width: float, style: Qt.PenStyle = SOLID) -> QPen:
        """A pen of so many pixels at scale 1, however the axes are stretched."""
        # Cosmetic pens, which pyqtgraph needs, are measured in device pixels.
        pen = QPen(color, width * current_theme().scale * self.devicePixelRatioF(), style)
        pen.setCosmetic(True)
        return pen


class PointableAxes(Parts[int], Axes):
    """A plot with parts; places are as the axes count, logarithms on a logarithmic one.

    Subclasses say with `point` where a part stands and with `readout` what its hover card says, and call
    `show_count` when they have drawn other numbers, for the pointer may rest on them. `marks`, in whose look
    they have a say, stand on the part that is current and on the one under the pointer.
    """

    part_hovered = Signal(int)
    part_clicked = Signal(int)

    nowhere = -1
    points_by_key: ClassVar[bool] = False
    """Whether arrow keys move what is pointed at, until the focus leaves, and Enter clicks it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._count, self._current, self._hovered = 0, -1, self.nowhere
        self._reached_by_key = False
        self._pointer: QPoint | None = None
        self.marks = pyqtgraph.ScatterPlotItem()
        self.marks.setZValue(5)
        self.add(self.marks)
        self.setMouseTracking(True)
        if self.points_by_key:
            self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    @abstractmethod
    def point(self, index: int) -> tuple[float, float]:
        """Where a part stands, as the axes count: its hover card stands beside."""

    @abstractmethod
    def readout(self, index: int) -> Words:
        """The title and the lines of the hover card for a part."""

    def set_current(self, index: int) -> None:
        """Mark a part; −1 for none."""
        self._current = index
        self.mark()

    def mark(self) -> None:
        """Draw the current part and the one under the pointer otherwise than the rest."""
        marked = {index for index in (self._current, self._hovered) if 0 <= index < self._count}
        self.marks.setData(pos=[self.point(index) for index in sorted(marked)])

    def hover(self, index: int) -> None:
        """Point at a part, as the pointer does."""
        if index == self._hovered:
            return
        self._hovered = index
        self.mark()
        if index < 0:
            HoverCard.leave(self)
        else:
            HoverCard.beside(self, self.place_of(*self.point(index)), *self.readout(index))
        self.part_hovered.emit(index)

    def clicked_on(self, index: int) -> None:
        """A part was clicked."""
        self.part_clicked.emit(index)

    def show_count(self, count: int) -> None:
        """So many parts are drawn now. Find out what lies under the pointer, and say it."""
        self._count = count
        self.hover(-1 if self._pointer is None else self._index_of(self._pointer))
        self.mark()
        HoverCard.renew(self, partial(self.readout, self.hovered) if self.hovered >= 0 else None)

    def focusInEvent(self, event: QFocusEvent) -> None:
        self._reached_by_key = reached_by_key(event)
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if self.points_by_key:
            self.hover(-1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.points_by_key:
            super().keyPressEvent(event)
        elif event.key() in ARROWS:
            points = [self.point(index) for index in range(self._count)]
            self.hover(beside([(x, -y) for x, y in points], self._hovered, event.key()))
        elif event.key() in CONFIRMING and self._hovered >= 0:
            self.clicked_on(self._hovered)
        else:
            super().keyPressEvent(event)

    def drawForeground(self, painter: QPainter, area: QRectF | QRect) -> None:
        super().drawForeground(painter, area)
        if self.hasFocus() and self._reached_by_key:
            painter.resetTransform()
            draw_ring(painter, QRectF(self.viewport().rect()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self._pointer = event.position().toPoint()
        self.hover(self._index_of(self._pointer))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._pointer = None
        self.hover(-1)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        index = self._index_of(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and index >= 0:
            self.clicked_on(index)

    def _index_of(self, pointer: QPoint) -> int:
        place = self.mapToScene(pointer)
        if not self.box.sceneBoundingRect().adjusted(-1, -1, 1, 1).contains(place):
            return -1
        return self.index_at(self.box.mapSceneToView(place))
