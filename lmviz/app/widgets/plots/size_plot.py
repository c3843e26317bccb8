"""Models as points of parameters × tokens, both logarithmic, with lines of equal compute."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QPen, QTransform
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.kit.painter import AT_RIGHT, CENTRED, Painter
from lmviz.app.widgets.kit.picture import Picture, Spot
from lmviz.app.widgets.kit.pointing import ARROWS, CONFIRMING, beside

SIZE = 12
LEFT, BELOW, ABOVE, RIGHT = 58, 40, 26, 16
DOT, TOUCH = 4.5, 9.0
LEAD = 10  # pixels from the edge to a name along a line
APART, TURNS = (18, 30, 44, 60, 80, 100), 24


@dataclass(frozen=True)
class SizePoint:
    """A model; `is_own` draws it in the accent, `is_chosen` as a ring with its name in bold."""

    name: str
    parameters: float
    tokens: float
    is_own: bool = False
    is_chosen: bool = False
    is_named: bool = True


@dataclass(frozen=True)
class ComputeLine:
    """All sizes whose product with the tokens is `product`; a line of equal compute, with its name."""

    name: str
    product: float
    is_chosen: bool = False


class SizePlot(Picture):
    """`SizePlot()`: `set_content(points, lines, ratio, names)`.

    `ratio` draws the dashed line of so many tokens a parameter. `names` are written at powers of ten, by a
    function of the amount. The key of a spot is a point's name. Arrow keys move what is pointed at, and Enter
    clicks it.
    """

    spoken_as = "Chart"

    usual = (520, 320)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._points: tuple[SizePoint, ...] = ()
        self._lines: tuple[ComputeLine, ...] = ()
        self._ratio: tuple[str, float] = ("", 0.0)
        self._ticks: tuple[dict[int, str], dict[int, str]] = ({}, {})
        self._taken: list[QRectF] = []
        self._names: list[QRectF] = []
        self._dots: list[QRectF] = []
        self._along: list[QRectF] = []
        self.setAccessibleName("models by parameters and tokens")

    def set_content(
        self,
        points: Sequence[SizePoint],
        lines: Sequence[ComputeLine],
        ratio: tuple[str, float],
        ticks: tuple[dict[int, str], dict[int, str]],
    ) -> None:
        """Draw other models; `ticks` are words by exponent, of parameters and of tokens."""
        self._points, self._lines, self._ratio, self._ticks = tuple(points), tuple(lines), ratio, ticks
        self.setAccessibleDescription(", ".join(point.name for point in points))
        self.redraw()

    @property
    def points(self) -> tuple[SizePoint, ...]:
        """What is drawn."""
        return self._points

    @property
    def names(self) -> tuple[QRectF, ...]:
        """Where names are written, once it has been drawn."""
        return tuple(self._names)

    @property
    def line_names(self) -> tuple[QRectF, ...]:
        """Squares along the names of the lines, once it has been drawn."""
        return tuple(self._along)

    @property
    def lines(self) -> tuple[ComputeLine, ...]:
        """The lines of equal compute."""
        return self._lines

    @property
    def _area(self) -> QRectF:
        sides = (self.length(LEFT), self.length(ABOVE), -self.length(RIGHT), -self.length(BELOW))
        return QRectF(self.rect()).adjusted(*sides)

    def place_of(self, parameters: float, tokens: float) -> QPointF:
        """Where a model is drawn."""
        area, (across, up) = self._area, self._ticks
        x = (math.log10(parameters) - min(across)) / (max(across) - min(across))
        y = (math.log10(tokens) - min(up)) / (max(up) - min(up))
        return QPointF(area.left() + x * area.width(), area.bottom() - y * area.height())

    def draw(self, painter: Painter) -> None:
        if not all(self._ticks) or self._area.width() < 10 or self._area.height() < 10:
            return
        self._taken, self._names, self._along = [], [], []
        places = [self.place_of(point.parameters, point.tokens) for point in self._points]
        self._dots = [_around(place, self.length(DOT + 3)) for place in places]
        self._draw_axes(painter)
        with painter.clipped(self._area):
            self._draw_lines(painter)
        self._draw_points(painter)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.hover(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ARROWS and self._points:
            names = [point.name for point in self._points]
            places = [self.place_of(point.parameters, point.tokens).toTuple() for point in self._points]
            at = -1 if self._hovered is None else names.index(self._hovered.key)
            self.hover(Spot(names[beside(places, at, event.key())]))
        elif event.key() in CONFIRMING and self._hovered is not None:
            self.clicked_on(self._hovered)
        else:
            super().keyPressEvent(event)

    def _draw_axes(self, painter: Painter) -> None:
        theme, area, (across, up) = self.theme, self._area, self._ticks
        low, high, corner = self.length(4), self.length(16), (10.0 ** min(across), 10.0 ** min(up))
        painter.setFont(theme.font(SIZE))
        for exponent, words in across.items():
            x = self.place_of(10.0**exponent, corner[1]).x()
            painter.line(QPointF(x, area.top()), QPointF(x, area.bottom()), theme.line)
            place = QRectF(x - self.length(40), area.bottom() + low, self.length(80), high)
            painter.write(place, words, theme.muted_text, where=CENTRED)
        for exponent, words in up.items():
            y = self.place_of(corner[0], 10.0**exponent).y()
            painter.line(QPointF(area.left(), y), QPointF(area.right(), y), theme.line)
            place = QRectF(0, y - high / 2, area.left() - self.length(6), high)
            painter.write(place, words, theme.muted_text, where=AT_RIGHT)
        above = QRectF(0, 0, area.right(), self.length(18))
        painter.write(above, "tokens read in training", where=Qt.AlignmentFlag.AlignTop)
        below = QRectF(area.left(), self.height() - self.length(18), area.width(), self.length(18))
        painter.write(below, "parameters", where=AT_RIGHT)

    def _across(self, ratio: float, power: int) -> tuple[QPointF, QPointF]:
        """The line of all sizes whose tokens are `ratio` × parameters ** `power`, from edge to edge."""
        left, right = (10.0 ** end(self._ticks[0]) for end in (min, max))
        return self.place_of(left, ratio * left**power), self.place_of(right, ratio * right**power)

    def _draw_lines(self, painter: Painter) -> None:
        """All lines, then their names: of the lines of equal compute all but the chosen one give way."""
        theme, (said, ratio) = self.theme, self._ratio
        named: list[tuple[QPointF, QPointF, str, QColor, float]] = []
        for line in sorted(self._lines, key=lambda line: line.is_chosen):
            start, end = self._across(line.product, -1)
            color = theme.accent if line.is_chosen else theme.strong_line
            painter.line(start, end, color, 1.6 if line.is_chosen else 1)
            if line.is_chosen:
                named.insert(0, (start, end, line.name, color, 0.0))
            else:
                named.append((start, end, line.name, theme.muted_text, 0.0))
        if ratio > 0:
            start, end = self._across(ratio, 1)
            pen = QPen(theme.value, self.length(1.4))
            pen.setDashPattern([4, 3])
            painter.line(start, end, pen)
            named.insert(any(line.is_chosen for line in self._lines), (start, end, said, theme.value, 0.3))
        for start, end, name, color, share in named:
            self._write_along(painter, start, end, name, color, share)

    def _covered(self, squares: Sequence[QRectF]) -> tuple[int, int, int]:
        """How much a name in these squares would cover, the worst first: names, models, the dashed line."""
        crossed = 0
        if self._ratio[1] > 0:
            start, end = self._across(self._ratio[1], 1)
            slope = (end.y() - start.y()) / (end.x() - start.x())
            for square in squares:
                ends = [start.y() + (x - start.x()) * slope for x in (square.left(), square.right())]
                crossed += min(ends) < square.bottom() and max(ends) > square.top()
        return _overlaps(self._along, squares), _overlaps(self._dots, squares), crossed

    def _write_along(
        self, painter: Painter, start: QPointF, end: QPointF, name: str, color: QColor, share: float = 0.0
    ) -> None:
        """Write a name along a line where no model stands: first from a `share` of the plot on, then before.

        Where models or other names stand all along it, the name stands beside its beginning; where there is
        no room either, the line has none, as no letter could be read under a model.
        """
        area, run, step = self._area, end - start, self.length(SIZE)
        slope = run.y() / run.x()
        edge = area.top() if slope > 0 else area.bottom()
        beginning = max(area.left(), start.x() + (edge - start.y()) / slope)
        # From the top edge down, the letters stand above the line.
        first = beginning + max(self.length(LEAD), self.length(5 + SIZE) / slope if slope > 0 else 0.0)
        angle, width = math.atan(slope), self.metrics(SIZE).horizontalAdvance(name)
        room = max(0, int((area.right() - first) / step))
        steps = [*range(int(share * room), room), *range(int(share * room))]
        best: tuple[tuple[int, int, int], QPointF, bool, list[QRectF]] | None = None
        for below, number in product((False, True), steps):
            x = first + step * number
            at = QPointF(x, start.y() + (x - start.x()) * slope)
            squares = self._squares(at, angle, width, below)
            if all(area.contains(square.center()) for square in squares):
                covered = self._covered(squares)
                best = best if best is not None and best[0] <= covered else (covered, at, below, squares)
                if not any(covered):
                    break
        beside = QRectF(beginning - width - step, area.top() + 2, width + 2, self.length(16))
        if (best is None or any(best[0])) and area.contains(beside):
            painter.box(beside.adjusted(-2, 0, 2, 0), self.theme.surface)
            painter.fit(beside, name, color, SIZE)
            squares = [beside]
        elif best is not None and not any(best[0][:2]):
            _, at, below, squares = best
            painter.save()
            painter.translate(at)
            painter.rotate(math.degrees(angle))
            painter.setFont(self.theme.font(SIZE))
            painter.setPen(color)
            painter.drawText(QPointF(0, self.length(SIZE + 2) if below else -self.length(5)), name)
            painter.restore()
        else:
            return
        self._along += squares
        self._taken += squares

    def _squares(self, at: QPointF, angle: float, width: float, below: bool) -> list[QRectF]:
        """Squares along the letters of a name: no name of a model is to cover them."""
        step = self.length(SIZE)
        middle = QTransform().translate(at.x(), at.y()).rotate(math.degrees(angle))
        centres = [
            middle.map(QPointF((place + 0.5) * step, step if below else -step))
            for place in range(1 + int(width / step))
        ]
        return [_around(centre, step / 2) for centre in centres]

    def _draw_points(self, painter: Painter) -> None:
        theme = self.theme
        ordered = sorted(self._points, key=lambda point: (point.is_chosen, not point.is_own))
        places = {point: self.place_of(point.parameters, point.tokens) for point in ordered}
        for point, place in places.items():
            color = theme.accent if point.is_own or point.is_chosen else theme.text
            fill, edge = (theme.surface, color) if point.is_chosen else (color, theme.surface)
            painter.dot(place, DOT * 1.5 if point.is_chosen else DOT, fill, edge, 2.5)
            self._taken.append(_around(place, self.length(DOT)))
        for point in reversed(ordered):
            if point.is_named or point.is_chosen:
                self._name(painter, point, places[point])
        for point, place in places.items():
            self.place(point.name, _around(place, self.length(TOUCH)))

    def _place_apart(self, place: QPointF, wide: float, high: float) -> QRectF | None:
        """Where a name can stand that has no room beside its point: the nearest place that is free.

        A place whose line to the point runs through another name is taken only if there is no other.
        """
        area, others = self._area, [*self._names, *self._along]
        behind: QRectF | None = None
        for distance, turn in product(APART, range(TURNS)):
            angle, away = 2 * math.pi * turn / TURNS, self.length(distance)
            right, down = math.cos(angle) * (away + wide / 2), math.sin(angle) * (away + high / 2)
            middle = place + QPointF(right, down)
            name = QRectF(middle.x() - wide / 2, middle.y() - high / 2, wide, high)
            if not area.contains(name) or any(name.intersects(taken) for taken in self._taken):
                continue
            if not any(_crosses(place, _nearest(name, place), other) for other in others):
                return name
            if behind is None:
                behind = name
        return behind

    def _name(self, painter: Painter, point: SizePoint, place: QPointF) -> None:
        """Write a point's name where no other stands: beside it, or apart from it with a line to it."""
        measure = self.metrics(SIZE, bold=point.is_chosen)
        wide, high, gap = measure.horizontalAdvance(point.name) + 2, self.length(16), self.length(9)
        offsets = ((gap, -high / 2), (-gap - wide, -high / 2), (-wide / 2, -gap - high), (-wide / 2, gap),
                   (gap, -gap - high / 2), (-gap - wide, -gap - high / 2), (gap, gap - high / 2),
                   (-gap - wide, gap - high / 2))  # fmt: skip
        areas = [QRectF(place.x() + x, place.y() + y, wide, high) for x, y in offsets]
        edge = self._area  # beyond it, at the left and below, stand the numbers of the axes
        room = QRectF(edge.left(), 0, self.width() - edge.left(), edge.bottom())
        inside = [area for area in areas if room.contains(area)]
        free = [area for area in inside if not any(area.intersects(taken) for taken in self._taken)]
        apart = None if free else self._place_apart(place, wide, high)
        chosen = (free or inside or areas)[0] if apart is None else apart
        self._taken.append(chosen)
        self._names.append(chosen)
        if apart is not None:
            painter.line(place, _nearest(chosen, place), self.theme.muted_text, 1)
        color = self.theme.accent if point.is_own or point.is_chosen else self.theme.text
        painter.box(chosen.adjusted(-1, 2, 1, -2), self.theme.surface)
        painter.fit(chosen, point.name, color, SIZE, bold=point.is_chosen)


def _around(middle: QPointF, half: float) -> QRectF:
    """The square around a point, so far to every side."""
    return QRectF(middle.x() - half, middle.y() - half, 2 * half, 2 * half)


def _overlaps(areas: Sequence[QRectF], squares: Sequence[QRectF]) -> int:
    """How many of the areas one of the squares overlaps."""
    return sum(any(area.intersects(square) for square in squares) for area in areas)


def _nearest(area: QRectF, place: QPointF) -> QPointF:
    """The point of an area that is nearest to a place."""
    return QPointF(
        max(area.left(), min(place.x(), area.right())), max(area.top(), min(place.y(), area.bottom()))
    )


def _crosses(start: QPointF, end: QPointF, area: QRectF) -> bool:
    """Whether the line between two points runs through an area, at a point in every twentieth of it."""
    return any(area.contains(start + (end - start) * (step / 20)) for step in range(21))
