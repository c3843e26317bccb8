"""The graph of a small network: modules as boxes, values as numbered cells, gradients beneath."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF, QTimer
from PySide6.QtGui import QResizeEvent

from lmviz.app.widgets.diagrams.editable_numbers import LEGEND, LEGIBLE, EditableNumbers
from lmviz.app.widgets.diagrams.network_boxes import (
    ARRANGEMENTS,
    DOWNWARD,
    Arrangement,
    Boxes,
    outlined,
    place_boxes,
)
from lmviz.app.widgets.diagrams.network_equations import equations_size
from lmviz.app.widgets.diagrams.network_painter import NetworkPainter
from lmviz.app.widgets.diagrams.network_values import ALL_DIGITS, DrawnValue, ValueCell
from lmviz.app.widgets.diagrams.viewport import room_in
from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.widgets.text import typesetting

PATIENCE = 100
SIDEWAYS = 1.5
"""So many times as wide as the room steps may be that go downwards: to scroll a little beats an overview."""


class NetworkPicture(EditableNumbers):
    """`NetworkPicture()`: `set_network(values, limit, unrolled)`; `limit` has the strongest colour.

    `set_pinned(cell)`, `set_operands(cells)`, `set_lit(name, next_name)` mark what is looked at. Numbers are
    pointed at and changed as in every `EditableNumbers`.
    """

    begins_with_a_part = True

    def __init__(self) -> None:
        super().__init__()
        self._values: tuple[DrawnValue, ...] = ()
        self._boxes = Boxes({}, QSizeF(0, 0), 0.0)
        self._natural = QSizeF(0, LEGEND)
        self._arrangement: Arrangement | None = None
        self._placed: dict[Arrangement, tuple[Boxes, QSizeF]] = {}  # these values, as far as it was asked
        self._unrolled = False
        self._operands: frozenset[ValueCell] = frozenset()
        self._lit, self._next = "", ""
        self._waiting = QTimer(self)
        self._waiting.timeout.connect(self._look_again)
        self.setAccessibleName("graph of the network")

    def set_network(self, values: Sequence[DrawnValue], limit: float, *, unrolled: bool = False) -> None:
        """Draw other values, or the same with other numbers."""
        before, kept = ([each.structure for each in some] for some in (self._values, values))
        self._values = tuple(values)
        if limit != self._limit:
            self._limit = limit
            self.update()
        if kept != before or unrolled != self._unrolled:
            self._unrolled = unrolled
            self._measure()
        else:
            self._renew(values)
        self.renew_card()
        self._say()

    def _renew(self, values: Sequence[DrawnValue]) -> None:
        """Paint anew only what looks different, which is little in one step of the tape."""
        before = self._boxes.boxes
        boxes = {each.name: replace(before[each.name], value=each) for each in values}
        self._boxes = replace(self._boxes, boxes=boxes)
        self._paint_anew(each.name for each in values if not each.is_drawn_like(before[each.name].value))

    def set_pinned(self, cell: ValueCell | None) -> None:
        """Outline the cell that is explained."""
        if cell != self._pinned:
            before, self._pinned = self._pinned, cell
            self._outline_anew(each for each in (before, cell) if each is not None)

    def set_operands(self, cells: Iterable[ValueCell]) -> None:
        """Outline the cells that it was made from."""
        before, self._operands = self._operands, frozenset(cells)
        self._outline_anew(before ^ self._operands)

    def set_lit(self, name: str, next_name: str) -> None:
        """Light one value, and mark the module that is next to be popped or pushed."""
        before, now = {(self._lit, 0), (self._next, 1)}, {(name, 0), (next_name, 1)}
        self._lit, self._next = name, next_name
        self._paint_anew({marked for marked, _ in before ^ now})

    def _outline_anew(self, cells: Iterable[ValueCell]) -> None:
        onto_screen = self.onto_screen
        for cell in cells:
            if cell.name in self._boxes.boxes:
                place = self._boxes.boxes[cell.name].cell_rectangle(cell.place, cell.is_gradient)
                self.update(onto_screen.mapRect(outlined(place)).toAlignedRect())

    def _paint_anew(self, names: Iterable[str]) -> None:
        onto_screen = self.onto_screen
        for name in names:
            if name in self._boxes.boxes:
                for area in self._boxes.areas_of(name):
                    self.update(onto_screen.mapRect(area).toAlignedRect())

    def figure(self, cell: ValueCell) -> str:
        box = self._boxes.boxes[cell.name]
        return box.value.figure(cell.place, cell.is_gradient, box.digits)

    def cell_rectangle(self, cell: ValueCell) -> QRectF:
        box = self._boxes.boxes[cell.name]
        return self.on_screen(box.cell_rectangle(cell.place, cell.is_gradient))

    def shows(self, name: str) -> bool:
        """Whether a value of this name is drawn."""
        return name in self._boxes.boxes

    def box_rectangle(self, name: str) -> QRectF:
        """Where a value's box is drawn."""
        return self.on_screen(self._boxes.boxes[name].frame)

    @property
    def lit(self) -> str:
        """The value that is lit."""
        return self._lit

    @property
    def operands(self) -> frozenset[ValueCell]:
        """The cells that are outlined as operands."""
        return self._operands

    def adopt_theme(self) -> None:
        self._measure()
        super().adopt_theme()

    def natural_size(self) -> QSizeF:
        return self._natural

    @property
    def smallest(self) -> float:
        """The share of the usual size from which on it scrolls; steps that go downwards always do."""
        if not self._is_downward:
            return super().smallest
        return min(1.0, room_in(self) / (self._natural.width() * self.theme.scale))

    @property
    def fits_across(self) -> bool:
        """Steps that go downwards do: what of them is too wide is scrolled to."""
        return super().fits_across or (self.is_fitted and self._is_downward)

    def minimumSizeHint(self) -> QSize:
        least = super().minimumSizeHint()
        if self.is_fitted and self._is_downward:
            least.setWidth(math.ceil(self._natural.width() * LEGIBLE))
        return least

    @property
    def _is_downward(self) -> bool:
        return self._arrangement is not None and self._arrangement.is_downward

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._arrange()

    def adopt_magnification(self) -> None:
        self._arrange()

    def _measure(self) -> None:
        """Other values, or type of another size."""
        self._arrangement, self._placed = None, {}
        if any(value.equations for value in self._values) and not typesetting.ready():
            typesetting.load_in_background()
            self._waiting.start(PATIENCE)
        self._arrange()

    def _arrange(self) -> None:
        """Arrange everything as the width allows: the first arrangement that fits, or else the narrowest."""
        room, chosen = room_in(self) / self.theme.scale, ARRANGEMENTS[-1]
        for arrangement in (*ARRANGEMENTS, DOWNWARD) if self._unrolled else ARRANGEMENTS:
            least = 1 if arrangement.digits == ALL_DIGITS else LEGIBLE  # decimals are not worth small type
            if self._size_of(arrangement).width() * least <= room:
                chosen = arrangement
                break
        else:
            if self._unrolled and self._size_of(DOWNWARD).width() * LEGIBLE <= room * SIDEWAYS:
                chosen = DOWNWARD
        if not self.is_fitted:
            chosen = replace(chosen, digits=ALL_DIGITS)  # what is drawn larger may be scrolled
        if chosen != self._arrangement:
            self._arrangement, (placed, self._natural) = chosen, self._placed_as(chosen)
            held = {each.name: replace(placed.boxes[each.name], value=each) for each in self._values}
            self._boxes = replace(placed, boxes=held)
            self.updateGeometry()
            self.update()

    def _size_of(self, arrangement: Arrangement) -> QSizeF:
        return self._placed_as(arrangement)[1]

    def _placed_as(self, arrangement: Arrangement) -> tuple[Boxes, QSizeF]:
        """Where the values stand in an arrangement, and how large that is; numbers may have changed since."""
        if arrangement not in self._placed:
            boxes = place_boxes(self._values, arrangement)
            self._placed[arrangement] = boxes, _whole_size(boxes)
        return self._placed[arrangement]

    def _look_again(self) -> None:
        if typesetting.ready():
            self._waiting.stop()
            self._measure()

    def _say(self) -> None:
        """All numbers, for assistive tools."""
        lines = []
        for value in self._values:
            for is_gradient in (False, True):
                figures = [value.figure(index, is_gradient) for index in value.indices]
                if any(figures):
                    of = "gradient of " if is_gradient else ""
                    lines.append(f"{of}{value.label}: {', '.join(figures)}")
        self.setAccessibleDescription("; ".join(lines))

    def draw(self, painter: Painter, is_needed: Callable[[QRectF], bool]) -> None:
        drawing = NetworkPainter(painter, self._limit, is_needed, self.zoom)
        drawing.draw(self._boxes, self._lit, self._next, self._pinned, self._operands)

    def touched(self, place: QPointF) -> tuple[ValueCell, QRectF] | None:
        """In a box, or on an arrow."""
        inside = self.inside(place)
        for box in self._boxes.boxes.values():
            if box.frame.contains(inside):
                cell = box.cell_at(inside)
                return None if cell is None else (cell, self.cell_rectangle(cell))
        on_arrow = self._boxes.label_at(inside)
        return None if on_arrow is None else (on_arrow[0], self.on_screen(on_arrow[1]))

    def value_at(self, place: QPointF) -> str:
        inside = self.inside(place)
        return next((name for name, box in self._boxes.boxes.items() if box.frame.contains(inside)), "")

    def value(self, name: str) -> DrawnValue:
        return self._boxes.boxes[name].value

    def field_rectangle(self, module: str, source: str) -> QRectF:
        """Where a weight stands before a module."""
        place = self._boxes.boxes[module].value.inputs.index(source)
        return self.on_screen(self._boxes.lines[module, place].label)

    def cells(self) -> list[ValueCell]:
        return [
            ValueCell(value.name, index, is_gradient)
            for value in self._values
            for is_gradient in (False, True)
            if value.array(is_gradient) is not None
            for index in value.indices
        ]


def _whole_size(boxes: Boxes) -> QSizeF:
    """The size of everything at scale 1, equations and legend included."""
    size, extra = boxes.size, 0.0
    if boxes.equations:
        widths = [equations_size(box.value.equations).width() for box in boxes.boxes.values()]
        extra = boxes.equations - size.width() + max(widths, default=0.0) + 8
    return QSizeF(size.width() + extra, size.height() + LEGEND)
