"""The places of units, their numbers and their arrows in the picture of a small recurrent network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QPainterPath

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.diagrams.network_lines import path_through
from lmviz.app.widgets.diagrams.network_values import DrawnValue, ValueCell

NAME_SIZE, WORD_SIZE, STEP_SIZE = 13.5, 13, 13
CELL_WIDTH, CELL_HEIGHT, GAP = 56, 20, 2
PADDING, AFTER_NAME = 8, 7
BETWEEN_STEPS, BETWEEN_ROWS, BETWEEN_FOLDED = 92, 56, 84
LOOP = 64  # pixels at scale 1 from a unit to the apex of its loop
ASIDE, LANE = 6, 14  # from an arrow to the one back, and from what goes around rows to what stands beside it
MARGIN = 10


@dataclass(frozen=True, eq=False)
class DrawnUnit:
    """One value of a recurrent network at one step.

    `base` names it over all steps, `base_label` is how that is written, and `function` what the unit applies;
    what is given has no frame.
    """

    value: DrawnValue
    base: str
    base_label: str
    step: int
    function: str
    is_given: bool


@dataclass(frozen=True)
class DrawnArrow:
    """From one value to another by their names, and the name of its weight; "" for none."""

    source: str
    target: str
    weight: str


@dataclass(frozen=True, eq=False)
class UnitBox:
    """A frame with a name and cells; `names` are the values in it."""

    label: str
    function: str
    names: tuple[str, ...]
    frame: QRectF
    words: QRectF
    cells: Mapping[ValueCell, QRectF]
    is_given: bool


@dataclass(frozen=True, eq=False)
class UnitLine:
    """An arrow as a cubic curve of four points, or straight from each to the next, and its weight's field.

    `ends` are the boxes that it joins.
    """

    points: tuple[QPointF, QPointF, QPointF, QPointF]
    is_straight: bool
    ends: tuple[UnitBox, UnitBox]
    weight: str
    label: QRectF
    cells: Mapping[ValueCell, QRectF]

    @property
    def targets(self) -> tuple[str, ...]:
        """The values in the box where it ends."""
        return self.ends[1].names

    @property
    def back_points(self) -> tuple[QPointF, ...]:
        """Those of the arrow back, beside it."""
        first, *_, last = self.points
        if self.is_straight:
            one, two, three, four = (point + QPointF(ASIDE, ASIDE) for point in self.points)
            return (four - QPointF(ASIDE, 0), three, two, one - QPointF(ASIDE, 0))
        is_upright = abs(last.y() - first.y()) > abs(last.x() - first.x())
        aside = QPointF(ASIDE, 0) if is_upright else QPointF(0, ASIDE)
        return tuple(point + aside for point in reversed(self.points))

    @property
    def path(self) -> QPainterPath:
        """What is drawn forward."""
        return self._path(self.points)

    @property
    def back(self) -> QPainterPath:
        """What is drawn back."""
        return self._path(self.back_points)

    def _path(self, points: Sequence[QPointF]) -> QPainterPath:
        if self.is_straight:
            return path_through(points, is_upright=False)
        path = QPainterPath(points[0])
        path.cubicTo(*points[1:])
        return path

    @property
    def areas(self) -> list[QRectF]:
        """Where the name and the numbers of its weight stand."""
        return [self.label, *self.cells.values()]

    @property
    def field(self) -> QRectF:
        """All that its weight covers; empty without one."""
        if not self.cells:
            return QRectF()
        return reduce(QRectF.united, self.areas).adjusted(-5, -3, 3, 3)


@dataclass(frozen=True)
class UnitPlaces:
    """All boxes and arrows, the steps that are written below columns, and the size of everything."""

    boxes: tuple[UnitBox, ...]
    lines: tuple[UnitLine, ...]
    steps: tuple[tuple[str, QPointF], ...]
    size: QSizeF


def place_unrolled(
    units: Sequence[DrawnUnit], arrows: Sequence[DrawnArrow], weights: Mapping[str, DrawnValue]
) -> UnitPlaces:
    """The steps side by side."""
    sizes = {unit.value.name: _size([unit.value], _words([unit], unit.value.label)) for unit in units}
    levels = {unit.value.name: unit.value.place.row for unit in units}
    steps = {unit.value.name: unit.step for unit in units}
    fields = {arrow: _field_size(weights.get(arrow.weight), with_gradient=False).width() for arrow in arrows}
    sideways = [arrow for arrow in arrows if steps[arrow.source] != steps[arrow.target]]
    between = max([BETWEEN_STEPS, *(fields[arrow] + 2 * LANE for arrow in sideways)])
    columns, lanes, zones, x = {}, {}, {}, float(MARGIN)
    for step in sorted(set(steps.values())):
        skipping = [a for a in arrows if steps[a.source] == step == steps[a.target] and _skips(a, levels)]
        inside = [a for a in arrows if steps[a.source] == step == steps[a.target] and a not in skipping]
        width = max(sizes[unit.value.name].width() for unit in units if unit.step == step)
        width = max([width, *(fields[arrow] for arrow in inside)])
        zones[step] = x - between / 2
        for arrow in skipping:
            lanes[arrow] = x + LANE + fields[arrow] / 2
            x += 2 * LANE + fields[arrow]
        columns[step] = x + width / 2
        x += width + between
    rows, height = _rows(levels, sizes, BETWEEN_ROWS)
    boxes = {}
    for unit in units:
        size, row = sizes[unit.value.name], rows[unit.value.place.row]
        corner = QPointF(columns[unit.step] - size.width() / 2, row - size.height() / 2)
        boxes[unit.value.name] = _box([unit], unit.value.label, QRectF(corner, size))
    lines = []
    for arrow in arrows:
        ends = boxes[arrow.source], boxes[arrow.target]
        zone = zones[max(steps[arrow.source], steps[arrow.target])]
        lines.append(_line(ends, weights.get(arrow.weight), lanes.get(arrow), zone, with_gradient=False))
    return UnitPlaces(tuple(boxes.values()), tuple(lines), (), QSizeF(x - between + MARGIN, height))


def _skips(arrow: DrawnArrow, levels: Mapping[str, int]) -> bool:
    """Whether other rows stand between both ends."""
    return levels[arrow.target] - levels[arrow.source] > 1


def place_folded(
    units: Sequence[DrawnUnit], arrows: Sequence[DrawnArrow], weights: Mapping[str, DrawnValue]
) -> UnitPlaces:
    """All steps of a value in one box; what is given before the first step only stands unrolled.

    An arrow whose source and target are one box is a loop.
    """
    made = {unit.base for unit in units if not unit.is_given}
    groups: dict[str, list[DrawnUnit]] = {}
    for unit in sorted(units, key=lambda unit: unit.step):
        if not (unit.is_given and unit.base in made):
            groups.setdefault(unit.base, []).append(unit)
    words = {base: _words(group, group[0].base_label) for base, group in groups.items()}
    sizes = {base: _size([unit.value for unit in group], words[base]) for base, group in groups.items()}
    base_of = {unit.value.name: unit.base for unit in units}
    levels = {base: group[0].value.place.row for base, group in groups.items()}
    rows, height = _rows(levels, sizes, BETWEEN_FOLDED)
    alike: dict[tuple[str, str, str], DrawnArrow] = {}
    for arrow in arrows:
        names = base_of[arrow.source], base_of[arrow.target]
        alike.setdefault((*names, arrow.weight), DrawnArrow(*names, arrow.weight))
    lanes, x = {}, float(MARGIN)
    fields = {a: _field_size(weights.get(a.weight), with_gradient=True).width() for a in alike.values()}
    for arrow in (arrow for arrow in fields if _skips(arrow, levels)):
        lanes[arrow] = x + LANE + fields[arrow] / 2
        x += 2 * LANE + fields[arrow]
    inside = [fields[arrow] for arrow in fields if arrow not in lanes and arrow.source != arrow.target]
    middle = x + max([*(size.width() for size in sizes.values()), *inside]) / 2
    boxes = {}
    for base, group in groups.items():
        size, row = sizes[base], rows[group[0].value.place.row]
        corner = QPointF(middle - size.width() / 2, row - size.height() / 2)
        boxes[base] = _box(group, group[0].base_label, QRectF(corner, size))
    lines = []
    for arrow in alike.values():
        ends = boxes[arrow.source], boxes[arrow.target]
        lines.append(_line(ends, weights.get(arrow.weight), lanes.get(arrow), None, with_gradient=True))
    reach = [line.points[1].x() for line in lines] + [area.right() for line in lines for area in line.areas]
    right = max([box.frame.right() for box in boxes.values()] + reach)
    steps = tuple(
        (str(unit.step), QPointF(place.center().x(), boxes[base].frame.bottom()))
        for base, group in groups.items()
        if len(group) > 1 and group[0].value.place.row == min(rows)
        for unit in group
        for place in [boxes[base].cells[ValueCell(unit.value.name, unit.value.indices[0], False)]]
    )
    return UnitPlaces(tuple(boxes.values()), tuple(lines), steps, QSizeF(right + MARGIN, height))


def _words(units: Sequence[DrawnUnit], label: str) -> float:
    """The room for a name, and for the function below it."""
    name = metrics(NAME_SIZE).horizontalAdvance(label)
    word = metrics(WORD_SIZE).horizontalAdvance(units[0].function)
    return max(name, word) / current_theme().scale


def _size(values: Sequence[DrawnValue], words: float) -> QSizeF:
    count = max(len(value.indices) for value in values)
    width = words + AFTER_NAME + len(values) * (CELL_WIDTH + GAP) - GAP
    return QSizeF(width + 2 * PADDING, 2 * count * (CELL_HEIGHT + GAP) - GAP + 2 * PADDING)


def _rows(
    rows: Mapping[str, int], sizes: Mapping[str, QSizeF], between: float
) -> tuple[dict[int, float], float]:
    """The middle of each row, the last on top, and the height of all, steps written below included."""
    found, top = {}, float(MARGIN)
    for row in sorted(set(rows.values()), reverse=True):
        height = max(sizes[name].height() for name, own in rows.items() if own == row)
        found[row] = top + height / 2
        top += height + between
    return found, top - between + STEP_SIZE + MARGIN


def _box(units: Sequence[DrawnUnit], label: str, frame: QRectF) -> UnitBox:
    """A box whose cells stand at its right end: values above, gradients beneath, a column for each step."""
    cells: dict[ValueCell, QRectF] = {}
    left = frame.right() - PADDING - len(units) * (CELL_WIDTH + GAP) + GAP
    for column, unit in enumerate(units):
        x, count = left + column * (CELL_WIDTH + GAP), len(unit.value.indices)
        for is_gradient in (False, True):
            for place, index in enumerate(unit.value.indices):
                y = frame.top() + PADDING + (place + count * is_gradient) * (CELL_HEIGHT + GAP)
                area = QRectF(x, y, CELL_WIDTH, CELL_HEIGHT)
                cells[ValueCell(unit.value.name, index, is_gradient)] = area
    words = QRectF(frame.left() + PADDING, frame.top(), left - frame.left() - PADDING, frame.height())
    names = tuple(unit.value.name for unit in units)
    return UnitBox(label, units[0].function, names, frame, words, cells, units[0].is_given)


def _line(
    ends: tuple[UnitBox, UnitBox],
    weight: DrawnValue | None,
    lane: float | None,
    zone: float | None,
    *,
    with_gradient: bool,
) -> UnitLine:
    """Upwards within a step, sideways from one to the next, in a loop where a unit takes its own value.

    An arrow that passes rows has a `lane` beside them; the field of one that goes sideways stands at `zone`.
    """
    start, end = ends[0].frame, ends[1].frame
    is_loop, size = ends[0] is ends[1], _field_size(weight, with_gradient=with_gradient)
    if is_loop:
        right, y, spread = start.right(), start.center().y(), start.height() * 0.32
        points = (
            QPointF(right, y - spread),
            QPointF(right + 1.3 * LOOP, y - 2.4 * spread),
            QPointF(right + 1.3 * LOOP, y + 2.4 * spread),
            QPointF(right, y + spread),
        )
        middle = QPointF(right + LOOP, y)
    elif lane is not None:  # out of the upper part of its source, and into the lower part of its target
        first = QPointF(start.left(), start.top() + start.height() / 4)
        last = QPointF(end.left(), end.bottom() - end.height() / 4 - ASIDE)
        points = (first, QPointF(lane, first.y()), QPointF(lane, last.y()), last)
        middle = QPointF(lane, start.top() - size.height() / 2 - LANE)
    elif start.top() >= end.bottom():
        first, last = QPointF(start.center().x(), start.top()), QPointF(end.center().x(), end.bottom())
        bend = QPointF(0, (last.y() - first.y()) * 0.45)
        points = (first, first + bend, last - bend, last)
        middle = (first + last) * 0.5
    else:
        is_back = end.left() < start.left()
        first = QPointF(start.left() if is_back else start.right(), start.center().y())
        last = QPointF(end.right() if is_back else end.left(), end.center().y())
        bend = QPointF((last.x() - first.x()) * 0.45, 0)
        points = (first, first + bend, last - bend, last)
        middle = QPointF((first.x() + last.x()) / 2 if zone is None else zone, (first.y() + last.y()) / 2)
    if weight is None:
        return UnitLine(points, lane is not None, ends, "", QRectF(), {})
    label, blocks = _label_width(weight), _blocks(weight, with_gradient=with_gradient)
    corner = middle - QPointF(label if is_loop else size.width() / 2, size.height() / 2)
    cells = {}
    for is_gradient in (False, True)[:blocks]:
        for place, index in enumerate(weight.indices):
            at = corner + QPointF(label + place * (CELL_WIDTH + GAP), is_gradient * (CELL_HEIGHT + GAP))
            cells[ValueCell(weight.name, index, is_gradient)] = QRectF(at, QSizeF(CELL_WIDTH, CELL_HEIGHT))
    name = QRectF(corner, QSizeF(label, CELL_HEIGHT))
    return UnitLine(points, lane is not None, ends, weight.label, name, cells)


def _label_width(weight: DrawnValue) -> float:
    return metrics(NAME_SIZE).horizontalAdvance(weight.label) / current_theme().scale + 4


def _blocks(weight: DrawnValue, *, with_gradient: bool) -> int:
    return 2 if with_gradient and weight.gradient is not None else 1


def _field_size(weight: DrawnValue | None, *, with_gradient: bool) -> QSizeF:
    """The room of a weight on its arrow."""
    if weight is None:
        return QSizeF(0, 0)
    blocks = _blocks(weight, with_gradient=with_gradient)
    width = _label_width(weight) + len(weight.indices) * (CELL_WIDTH + GAP)
    return QSizeF(width, blocks * (CELL_HEIGHT + GAP))
