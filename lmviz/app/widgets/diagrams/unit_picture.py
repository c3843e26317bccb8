"""A small recurrent network as units and arrows, folded or unrolled, with weights as fields on the arrows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QPen

from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.diagrams.editable_numbers import LEGEND, EditableNumbers
from lmviz.app.widgets.diagrams.network_lines import draw_arrow
from lmviz.app.widgets.diagrams.network_painter import draw_cell, write_name
from lmviz.app.widgets.diagrams.network_values import DIGITS, DrawnValue, ValueCell
from lmviz.app.widgets.diagrams.unit_boxes import (
    NAME_SIZE,
    STEP_SIZE,
    WORD_SIZE,
    DrawnArrow,
    DrawnUnit,
    UnitBox,
    UnitLine,
    UnitPlaces,
    place_folded,
    place_unrolled,
)
from lmviz.app.widgets.kit.painter import CENTRED, Painter

CELL_SIZE = 13


class UnitPicture(EditableNumbers):
    """`UnitPicture()`: `set_units(units, arrows, weights, limit)`; `limit` has the strongest colour.

    `set_folded(bool)` draws all steps as one, or side by side. Folded, the gradient of a weight stands below
    it; unrolled it does not, since it is that of all its arrows together. Numbers are pointed at and changed
    as in every `EditableNumbers`.
    """

    begins_with_a_part = True

    def __init__(self) -> None:
        super().__init__()
        self._units: tuple[DrawnUnit, ...] = ()
        self._arrows: tuple[DrawnArrow, ...] = ()
        self._weights: Mapping[str, DrawnValue] = {}
        self._values: dict[str, DrawnValue] = {}
        self._folded = False
        self._places = UnitPlaces((), (), (), QSizeF(0, 0))
        self.setAccessibleName("units of the network")

    def set_units(
        self,
        units: Sequence[DrawnUnit],
        arrows: Sequence[DrawnArrow],
        weights: Mapping[str, DrawnValue],
        limit: float,
    ) -> None:
        """Draw other units, or the same with other numbers."""
        self._units, self._arrows, self._weights, self._limit = tuple(units), tuple(arrows), weights, limit
        self._values = {unit.value.name: unit.value for unit in units} | dict(weights)
        self._measure()
        self.renew_card()

    def set_folded(self, folded: bool) -> None:
        """Draw all steps as one, or side by side."""
        self._folded = folded
        self._measure()

    def adopt_theme(self) -> None:
        self._measure()
        super().adopt_theme()

    def _measure(self) -> None:
        if self._units:
            place = place_folded if self._folded else place_unrolled
            before = self._places.size
            self._places = place(self._units, self._arrows, self._weights)
            if before != self._places.size:
                self.updateGeometry()
        values = self._values.values()
        said = (f"{value.label}: {value.figure(at, False)}" for value in values for at in value.indices)
        self.setAccessibleDescription("; ".join(said))
        self.update()

    def natural_size(self) -> QSizeF:
        return self._places.size + QSizeF(0, LEGEND)

    def value(self, name: str) -> DrawnValue:
        return self._values[name]

    def touched(self, place: QPointF) -> tuple[ValueCell, QRectF] | None:
        inside = self.inside(place)
        for cells in reversed(self._blocks):
            for cell, area in cells.items():
                if area.contains(inside):
                    return cell, self.on_screen(area)
        return None

    def value_at(self, place: QPointF) -> str:
        inside = self.inside(place)
        return next((box.names[-1] for box in self._places.boxes if box.frame.contains(inside)), "")

    def cells(self) -> list[ValueCell]:
        found = [cell for cells in self._blocks for cell in cells]
        return [cell for cell in dict.fromkeys(found) if self.figure(cell)]

    @property
    def _blocks(self) -> list[Mapping[ValueCell, QRectF]]:
        """The cells of each box, and then those of each field."""
        return [*(box.cells for box in self._places.boxes), *(line.cells for line in self._places.lines)]

    def cell_rectangle(self, cell: ValueCell) -> QRectF:
        """Where a cell is drawn, in the widget's coordinates; of a weight, the first of its fields."""
        return self.on_screen(next(cells[cell] for cells in self._blocks if cell in cells))

    def field_rectangles(self, weight: str) -> list[QRectF]:
        """Where the numbers of a weight stand, on all of its arrows."""
        onto_screen = self.onto_screen
        return [
            onto_screen.mapRect(area)
            for line in self._places.lines
            for cell, area in line.cells.items()
            if cell.name == weight and not cell.is_gradient
        ]

    def draw(self, painter: Painter, is_needed: Callable[[QRectF], bool]) -> None:
        for line in self._places.lines:
            self._draw_line(painter, line)
        for line in self._places.lines:
            self._draw_field(painter, line)
        for box in self._places.boxes:
            self._draw_box(painter, box)
        for step, place in self._places.steps:  # their numbers, below their columns
            area = QRectF(place.x() - 20, place.y() - 6, 40, STEP_SIZE + 4)
            painter.write(area, step, self.theme.muted_text, STEP_SIZE, where=CENTRED)

    def _draw_line(self, painter: Painter, line: UnitLine) -> None:
        """Forward in blue; once its unit has handed its gradient back, in orange the other way as well."""
        values = [self._values[name] for name in line.targets]
        is_known = any(value.values is not None for value in values)
        ink = self.theme.query if is_known else self.theme.strong_line
        draw_arrow(painter, line.path, line.points[2], line.points[3], ink, 1.3)
        if any(value.popped for value in values):
            before, end = line.back_points[2:]
            draw_arrow(painter, line.back, before, end, self.theme.key, 1.6)

    def _draw_field(self, painter: Painter, line: UnitLine) -> None:
        """The name of a weight and its numbers, on the surface, so that they can be read on their arrow."""
        if not line.cells:
            return
        painter.box(line.field, self.theme.surface, QPen(self.theme.line, 1), radius=5)
        write_name(painter, line.label, line.weight, NAME_SIZE)
        self._draw_cells(painter, line.cells)

    def _draw_box(self, painter: Painter, box: UnitBox) -> None:
        theme = self.theme
        if not box.is_given:
            radius = min(18.0, box.frame.height() / 2)
            painter.box(box.frame, theme.surface, QPen(theme.strong_line, 1), radius=radius)
        name = box.words
        if box.function:
            half = box.words.height() / 2
            name = box.words.adjusted(0, 4, 0, -half)
            below = box.words.adjusted(0, half - 2, 0, -4)
            painter.write(below, box.function, theme.muted_text, WORD_SIZE)
        write_name(painter, name, box.label, NAME_SIZE)
        self._draw_cells(painter, box.cells)

    def _draw_cells(self, painter: Painter, cells: Mapping[ValueCell, QRectF]) -> None:
        measure = metrics(CELL_SIZE, token=True, theme=painter.theme)
        painter.setFont(painter.theme.token_font(CELL_SIZE))
        for cell, area in cells.items():
            value = self._values[cell.name]
            figure = ""
            if self.is_readable:
                figure = value.figure_in(cell.place, cell.is_gradient, DIGITS, area.width() - 2, measure)
            draw_cell(painter, area, value, cell, figure, self._limit)
            if cell == self._pinned:
                painter.box(area, edge=self.theme.accent, width=2, radius=3)
