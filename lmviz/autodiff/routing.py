"""Where boxes and arrows of a small network lie, so that no arrow crosses another's box or a name.

Arrows bend only between two rows or between two steps, where no box stands, and pass a row in a slot of their
own. What is given is joined to its first module; before each other one, its name stands with a short arrow.
*Across* runs along a row, *along* from row to row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from lmviz.autodiff.layers import RowSlot, put_in_order, spread_within
from lmviz.autodiff.layout import LEFT, ValuePlace

APART, BETWEEN_STEPS, BETWEEN_ROWS = 14.0, 36.0, 26.0
BEND, MOST_BEND = 0.08, 30.0  # of how far an arrow goes to the side, and what is added between rows at most
TRACK = 14.0  # from one arrow to the next, each with the one back beside it
BACK = 7.0  # from an arrow to the one back
ARROW = 22.0  # how long a short one is
NAME_GAP = 3.0  # between two names before one module
STACKED, BESIDE = 10.0, 26.0  # between values that are given, below and beside one another


class Point(NamedTuple):
    """A place."""

    across: float
    along: float


class Area(NamedTuple):
    """A rectangle: where it begins, and its size."""

    across: float
    along: float
    width: float
    height: float

    @property
    def middle(self) -> Point:
        """Its centre."""
        return Point(self.across + self.width / 2, self.along + self.height / 2)


@dataclass(frozen=True)
class MeasuredValue:
    """A value to be drawn: its place, what it takes, and the sizes of its box and of its name on an arrow."""

    name: str
    place: ValuePlace
    inputs: tuple[str, ...]
    size: tuple[float, float]
    label: tuple[float, float]


@dataclass(frozen=True)
class Route:
    """An arrow from point to point: straight along an axis, or a bend whose ends run `sideways` or along.

    A short arrow begins at the name of its source, whose place is `label`.
    """

    points: tuple[Point, ...]
    sideways: bool = False
    label: Area | None = None

    @property
    def back(self) -> Route:
        """The arrow back, beside it."""
        first, *_, last = moved = [Point(across + BACK, along - BACK) for across, along in self.points]
        moved[0] = self._at_end(first, self.points[0], self.points[1])
        moved[-1] = self._at_end(last, self.points[-1], self.points[-2])
        return Route(tuple(reversed(moved)), self.sideways, self.label)

    def _at_end(self, moved: Point, end: Point, neighbour: Point) -> Point:
        """A moved end, put back to the edge where the arrow ends."""
        straight = end.across == neighbour.across or end.along == neighbour.along
        sideways = end.along == neighbour.along if straight else self.sideways
        return Point(end.across, moved.along) if sideways else Point(moved.across, end.along)


@dataclass(frozen=True)
class Drawing:
    """The box of each value, the arrow to each place of a module, and the size of everything."""

    boxes: Mapping[str, Area]
    routes: Mapping[tuple[str, int], Route]
    size: tuple[float, float]


def lay_out(parts: Sequence[MeasuredValue], *, in_a_row: bool = False) -> Drawing:
    """Boxes and arrows. What is given stands before the row of its first module; or `in_a_row`, one after the
    other before all steps.
    """
    return _Layout(parts, in_a_row).drawing() if parts else Drawing({}, {}, (0.0, 0.0))


class _Use(NamedTuple):
    """One place of a module, and what comes there."""

    target: MeasuredValue
    place: int
    source: MeasuredValue

    @property
    def is_lane(self) -> bool:
        """Whether it comes from before the module: given to all, or to another step."""
        is_elsewhere = self.source.place.step != self.target.place.step and not self.source.inputs
        return self.source.place.side == LEFT or is_elsewhere

    @property
    def is_inner(self) -> bool:
        """Whether it comes from a row of the same step."""
        return not self.is_lane and self.source.place.step == self.target.place.step


class _Tracks:
    """Places side by side in a gap, one for each source; those whose intervals are apart may share one."""

    def __init__(self, intervals: Mapping[str, Sequence[float]], apart: float) -> None:
        self.places: dict[str, int] = {}
        ends: list[float] = []
        for name, ways in sorted(intervals.items(), key=lambda item: min(item[1])):
            track = next((at for at, end in enumerate(ends) if end + apart <= min(ways)), len(ends))
            ends[track : track + 1] = [max(ways)]
            self.places[name] = track
        self.room = TRACK * (len(ends) + 1) if ends else 0.0


class _Layout:
    def __init__(self, parts: Sequence[MeasuredValue], in_a_row: bool) -> None:
        self.in_a_row = in_a_row
        self.given = [part for part in parts if part.place.side == LEFT]
        placed = [part for part in parts if part.place.side != LEFT]
        self.steps = sorted({part.place.step for part in placed})
        rows = [part.place.row for part in parts]
        self.rows = range(min(rows), max(rows) + 1)
        by_name = {part.name: part for part in parts}
        self.uses = [_Use(each, at, by_name[name]) for each in parts for at, name in enumerate(each.inputs)]
        self.lanes: dict[str, list[_Use]] = defaultdict(list)
        for use in self.uses if in_a_row else reversed(self.uses):  # from low to high
            if use.is_lane:
                self.lanes[use.target.name].append(use)
        self.direct = self._find_direct(placed)
        self.slots = {part.name: self._slot(part) for part in placed}
        self.part_of = {self.slots[part.name]: part for part in placed}
        self.passing: dict[tuple[str, int], RowSlot] = {}
        self.blocks = [self._block(step) for step in self.steps]
        self.given_width = max((part.size[0] for part in self.given), default=0.0)
        self._put_steps_apart()
        self._find_ports()
        self._put_rows_apart()
        self.boxes = self._place_boxes()

    def drawing(self) -> Drawing:
        """Places for everything."""
        routes = {}
        for use in self.uses:
            find = self._lane if use.is_lane else self._inner if use.is_inner else self._from_step_to_step
            routes[use.target.name, use.place] = find(use)
        across = max(area.across + area.width for area in self.boxes.values())
        across = max([across, *(point.across + BACK for route in routes.values() for point in route.points)])
        along = max([self.along, *(area.along + area.height for area in self.boxes.values())])
        return Drawing(self.boxes, routes, (across, along))

    def _find_direct(self, placed: Sequence[MeasuredValue]) -> set[tuple[str, str]]:
        """What is given and the module that its box itself is joined to, since nothing stands between."""
        leaders: dict[int, str] = {}
        for part in placed:
            if part.place.step == self.steps[0] and part.name in self.lanes:
                leaders.setdefault(part.place.row, part.name)
        self.leaders = set(leaders.values())
        found, joined = set(), set()
        for target, _, source in self.uses:
            if source.place.side == LEFT and source.name not in joined:
                joined.add(source.name)
                if target.name in self.leaders and (self.in_a_row or source.place.row == target.place.row):
                    found.add((source.name, target.name))
        return found

    def _is_direct(self, use: _Use) -> bool:
        return (use.source.name, use.target.name) in self.direct

    def _slot(self, part: MeasuredValue) -> RowSlot:
        """The room of a box with the names before it."""
        width, height = part.size
        lanes = self.lanes.get(part.name, [])
        before = [ARROW + (0.0 if self._is_direct(use) else use.source.label[0]) for use in lanes]
        return RowSlot(
            before=width / 2 + max(before, default=0.0),
            after=width / 2,
            along=max(height, sum(map(self._lane_size, lanes))),
            is_box=True,
            is_first=part.name in self.leaders,
        )

    def _lane_size(self, use: _Use) -> float:
        return max(TRACK, 0.0 if self._is_direct(use) else use.source.label[1] + NAME_GAP)

    def _block(self, step: int) -> dict[int, list[RowSlot]]:
        """The rows of a step in order, with a slot for each arrow that passes."""
        rows: dict[int, list[RowSlot]] = defaultdict(list)
        for slot, part in self.part_of.items():
            if part.place.step == step:
                rows[part.place.row].append(slot)
        for use in self.uses:
            if use.is_inner and use.target.place.step == step:
                lower = self.slots[use.source.name]
                for row in self._rows_passed(use):
                    key = use.source.name, row
                    if key not in self.passing:
                        self.passing[key] = RowSlot(TRACK / 2, TRACK / 2 + BACK)
                        rows[row].append(self.passing[key])
                        lower.join(self.passing[key])
                    lower = self.passing[key]
                lower.join(self.slots[use.target.name])
        put_in_order(rows, APART)
        return rows

    def _rows_passed(self, use: _Use) -> range:
        return range(use.source.place.row + 1, use.target.place.row)

    def _put_steps_apart(self) -> None:
        """Move the slots of each step beside those of the one before, with room for arrows between them."""
        ways: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for use in self._between_steps():
            row = use.source.place.row
            exit = row if self._leaves_sideways(use) else row + 0.5
            ways[self._gap(use)][use.source.name] += [exit, use.target.place.row - 0.5]
        self.track_across: dict[tuple[int, str], float] = {}
        across = self.given_width + (2 * BESIDE if self.given else 0.0)
        self.first_across = across
        for at, block in enumerate(self.blocks):
            slots = [slot for row in block.values() for slot in row]
            shift = across - min(slot.across - slot.before for slot in slots)
            for slot in slots:
                slot.across += shift
            across = max(slot.across + slot.after for slot in slots)
            tracks = _Tracks(ways[at], 0.5)
            for name, track in tracks.places.items():
                self.track_across[at, name] = across + TRACK * (track + 1)
            across += max(BETWEEN_STEPS, tracks.room + TRACK)

    def _between_steps(self) -> Iterator[_Use]:
        return (use for use in self.uses if not use.is_lane and not use.is_inner)

    def _gap(self, use: _Use) -> int:
        """Which gap between steps an arrow goes through: the one beside its source."""
        source, target = use.source.place.step, use.target.place.step
        return self.steps.index(source) - (target < source)

    def _leaves_sideways(self, use: _Use) -> bool:
        """Whether an arrow to a later step meets no box on its way out of its own."""
        block = self.blocks[self.steps.index(use.source.place.step)]
        boxes = [slot for slot in block[use.source.place.row] if slot.is_box]
        return use.target.place.step > use.source.place.step and boxes[-1] is self.slots[use.source.name]

    def _come_from(self, use: _Use) -> float:
        """Where across an arrow comes from on its last way."""
        if use.is_inner:
            row = use.target.place.row - 1
            return self.passing.get((use.source.name, row), self.slots[use.source.name]).across
        return self.track_across[self._gap(use), use.source.name]

    def _find_ports(self) -> None:
        """Where arrows end at the lower edges of boxes, straight above where they come from if possible."""
        arriving: dict[str, list[tuple[float, int]]] = defaultdict(list)
        for use in self.uses:
            if not use.is_lane:
                arriving[use.target.name].append((self._come_from(use), use.place))
        self.ports: dict[tuple[str, int], float] = {}
        for name, arrows in arriving.items():
            slot, wanted = self.slots[name], []
            low, high = slot.across - slot.after + TRACK, slot.across + slot.after - TRACK
            for at, (across, _) in enumerate(sorted(arrows), 1):
                share = slot.across + slot.after * (2 * at / (len(arrows) + 1) - 1)
                wanted.append(across if low <= across <= high else share)
            found = spread_within(wanted, TRACK, low, high)
            self.ports |= {(name, place): at for at, (_, place) in zip(found, sorted(arrows), strict=True)}

    def _put_rows_apart(self) -> None:
        """The rows one above the other, with room for arrows between them."""
        ways: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        aside: dict[int, float] = defaultdict(float)
        for use in self._between_steps():
            source, row = use.source.name, use.target.place.row
            across = self.track_across[self._gap(use), source]
            ways[row][source] += [across, self.ports[use.target.name, use.place]]
            if not self._leaves_sideways(use):
                ways[use.source.place.row + 1][source] += [across, self.slots[source].across]
        for use in self.uses:
            if use.is_inner:
                way = [point.across for point in self._way(use)]
                for row, (one, other) in enumerate(pairwise(way), use.source.place.row + 1):
                    aside[row] = max(aside[row], abs(other - one))
        self.track_along: dict[tuple[int, str], float] = {}
        self.bands: dict[int, tuple[float, float]] = {}
        self.along = 0.0
        for row in (*self.rows, self.rows.stop):
            tracks = _Tracks(ways[row], TRACK)
            for name, track in tracks.places.items():
                self.track_along[row, name] = self.along + TRACK * (track + 1)
            bends = BETWEEN_ROWS + min(MOST_BEND, BEND * aside[row])
            is_between = self.rows.start < row < self.rows.stop
            self.along += max(bends if is_between else 0.0, tracks.room)
            slots = [slot.along for block in self.blocks for slot in block.get(row, [])]
            stack = 0.0 if self.in_a_row else self._stack_height(row)
            self.bands[row] = self.along, self.along + max([*slots, stack])
            self.along = self.bands[row][1]

    def _stack(self, row: int) -> list[MeasuredValue]:
        return [part for part in self.given if part.place.row == row]

    def _stack_height(self, row: int) -> float:
        parts = self._stack(row)
        return sum(part.size[1] for part in parts) + STACKED * max(0, len(parts) - 1)

    def _place_boxes(self) -> dict[str, Area]:
        boxes = {}
        for name, slot in self.slots.items():
            part = self.part_of[slot]
            low, high = self.bands[part.place.row]
            width, height = part.size
            boxes[name] = Area(slot.across - width / 2, (low + high - height) / 2, width, height)
        along = self.bands[max(0, self.rows.start)][0]
        for part in self.given if self.in_a_row else ():
            width, height = part.size
            boxes[part.name] = Area(self.given_width - width, along, width, height)
            along += height + BESIDE
        for row in () if self.in_a_row else self.rows:
            low, high = self.bands[row]
            along = (low + high + self._stack_height(row)) / 2
            for part in self._stack(row):
                width, height = part.size
                boxes[part.name] = Area(self.given_width - width, along - height, width, height)
                along -= height + STACKED
        return boxes

    def _way(self, use: _Use) -> list[Point]:
        """Where across an arrow passes each row, from its source to its port."""
        passed = [self.passing[use.source.name, row].across for row in self._rows_passed(use)]
        ways = [self.slots[use.source.name].across, *passed, self.ports[use.target.name, use.place]]
        return [Point(across, row) for row, across in enumerate(ways, use.source.place.row)]

    def _inner(self, use: _Use) -> Route:
        """From row to row, straight through each."""
        source, target = self.boxes[use.source.name], self.boxes[use.target.name]
        points = []
        for across, row in self._way(use):
            low, high = self.bands[int(row)]
            points += [Point(across, low), Point(across, high + BACK)]  # the one back bends at the row
        points[0] = Point(points[0].across, source.along + source.height)
        points[-1] = Point(points[-1].across, target.along)
        return Route(_without_idle(points))

    def _from_step_to_step(self, use: _Use) -> Route:
        """Out of the source, through the gap beside its step, and below the target's row to its port."""
        name, row = use.source.name, use.target.place.row
        box, across = self.boxes[name], self.track_across[self._gap(use), name]
        port, below = self.ports[use.target.name, use.place], self.track_along[row, name]
        if self._leaves_sideways(use):
            out = [Point(box.across + box.width, box.middle.along), Point(across, box.middle.along)]
        else:
            above = self.track_along[use.source.place.row + 1, name]
            start = Point(box.middle.across, box.along + box.height)
            out = [start, Point(start.across, above), Point(across, above)]
        into = [Point(across, below), Point(port, below), Point(port, self.boxes[use.target.name].along)]
        return Route(_without_idle([*out, *into]))

    def _lane(self, use: _Use) -> Route:
        """From the box of what is given, or from its name, straight to the near edge of the target."""
        box, lanes = self.boxes[use.target.name], self.lanes[use.target.name]
        sizes = [self._lane_size(each) for each in lanes]
        at = lanes.index(use)
        middles = [
            box.middle.along + sum(sizes[:each]) + sizes[each] / 2 - sum(sizes) / 2
            for each in range(len(sizes))
        ]
        ports = spread_within(middles, TRACK / 2, box.along + BACK + 2, box.along + box.height - 4)
        end, start = Point(box.across, ports[at]), Point(box.across - ARROW, middles[at])
        if not self._is_direct(use):
            width, height = use.source.label
            label = Area(start.across - width, start.along - height / 2, width, height)
            return Route((start, end), sideways=True, label=label)
        given = self.boxes[use.source.name]
        out = Point(given.across + given.width, given.middle.along)
        points = [
            out,
            Point(self.given_width, out.along),
            Point(self.first_across - BACK, start.along),
            start,
            end,
        ]
        return Route(_without_idle(points), sideways=True)


def _without_idle(points: Sequence[Point]) -> tuple[Point, ...]:
    """Without points that are reached already, or passed on a straight line."""
    found: list[Point] = []
    for point in points:
        if found and point == found[-1]:
            continue
        while len(found) > 1 and any(found[-2][axis] == found[-1][axis] == point[axis] for axis in (0, 1)):
            found.pop()
        found.append(point)
    return tuple(found)
