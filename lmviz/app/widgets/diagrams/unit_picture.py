"""A small recurrent network as units and arrows, folded or unrolled, with weights as fields on the arrows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.diagrams.editable_numbers import EditableNumbers
from lmviz.app.widgets.diagrams.network_lines import draw_head
from lmviz.app.widgets.diagrams.network_painter import gradient_color
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
from lmviz.app.widgets.matrix.color_scale import draw_color_scale

CELL_SIZE = 10.5
LEGEND = 22


class UnitPicture(EditableNumbers):
    """`UnitPicture()`: `set_units(units, arrows, weights, limit)`; `limit` has the strongest colour.

    `set_folded(bool)` draws all steps as one, or side by side. Folded, the gradient of a weight stands below
    it; unrolled it does not, since it is that of all its arrows together. Numbers are pointed at and changed
    as in every `EditableNumbers`.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._units: tuple[DrawnUnit, ...] = ()
        self._arrows: tuple[DrawnArrow, ...] = ()
        self._weights: Mapping[str, DrawnValue] = {}
        self._values: dict[str, DrawnValue] = {}
        self._limit = 1.0
        self._folded = False
        self._places = UnitPlaces((), (), (), QSizeF(0, 0))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
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

    @property
    def is_folded(self) -> bool:
        """Whether all steps are drawn as one."""
        return self._folded

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
        said = (f"{value.label}: {value.figure(at, False)}" for value, at in self._all())
        self.setAccessibleDescription("; ".join(said))
        self.update()

    def _all(self) -> list[tuple[DrawnValue, tuple[int, ...]]]:
        return [(value, index) for value in self._values.values() for index in value.indices]

    def natural_size(self) -> QSizeF:
        return self._places.size + QSizeF(0, LEGEND)

    def number(self, cell: ValueCell) -> float | None:
        array = self._values[cell.name].array(cell.is_gradient)
        return None if array is None else float(array[cell.place])

    def figure(self, cell: ValueCell) -> str:
        return self._values[cell.name].figure(cell.place, cell.is_gradient)

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

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = self.begin()
        painter.save()
        painter.setTransform(self.onto_screen, True)
        for line in self._places.lines:
            self._draw_line(painter, line)
        for line in self._places.lines:
            self._draw_field(painter, line)
        for box in self._places.boxes:
            self._draw_box(painter, box)
        self._draw_steps(painter)
        painter.restore()
        low = QRectF(0, self.height() - self.length(18), self.width() - self.length(4), self.length(16))
        draw_color_scale(painter, low, self.theme, "signed", self._limit)
        self.draw_focus(painter)

    def _draw_line(self, painter: Painter, line: UnitLine) -> None:
        """Forward in blue; once its unit has handed its gradient back, in orange the other way as well."""
        values = [self._values[name] for name in line.targets]
        known, popped = any(v.values is not None for v in values), any(v.popped for v in values)
        self._draw_arrow(
            painter, line.path, line.points, QPen(self.theme.query if known else self.theme.strong_line, 1.3)
        )
        if popped:
            self._draw_arrow(painter, line.back, line.back_points, QPen(self.theme.key, 1.6))

    def _draw_arrow(self, painter: Painter, path: QPainterPath, points: Sequence[QPointF], pen: QPen) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(pen)
        painter.drawPath(path)
        draw_head(painter, points[2], points[3], pen.color(), pen.widthF())

    def _draw_field(self, painter: Painter, line: UnitLine) -> None:
        """The name of a weight and its numbers, on the surface, so that they can be read on their arrow."""
        if not line.cells:
            return
        painter.setPen(QPen(self.theme.line, 1))
        painter.setBrush(self.theme.surface)
        painter.drawRoundedRect(line.field, 5, 5)
        self._write(painter, line.label, line.weight)
        self._draw_cells(painter, line.cells)

    def _draw_box(self, painter: Painter, box: UnitBox) -> None:
        theme = self.theme
        if not box.is_given:
            painter.setPen(QPen(theme.strong_line, 1))
            painter.setBrush(theme.surface)
            radius = min(18.0, box.frame.height() / 2)
            painter.drawRoundedRect(box.frame, radius, radius)
        if box.function:
            half = box.words.height() / 2
            self._write(painter, box.words.adjusted(0, 4, 0, -half), box.label)
            painter.setFont(self._font(WORD_SIZE))
            painter.write(box.words.adjusted(0, half - 2, 0, -4), box.function, theme.muted_text)
        else:
            self._write(painter, box.words, box.label)
        self._draw_cells(painter, box.cells)

    def _write(self, painter: Painter, area: QRectF, label: str) -> None:
        """The name of a value."""
        font = QFont(self._font(NAME_SIZE))
        font.setItalic(True)
        painter.setFont(font)
        painter.write(area, label, self.theme.text)

    def _draw_cells(self, painter: Painter, cells: Mapping[ValueCell, QRectF]) -> None:
        theme = self.theme
        font = QFont(theme.token_font(CELL_SIZE))
        font.setPixelSize(round(CELL_SIZE))
        painter.setFont(font)
        for cell, area in cells.items():
            number, is_held = self.number(cell), self._is_held(cell)
            if number is None:
                pen = QPen(theme.line, 1, Qt.PenStyle.DashLine)
                painter.setPen(pen)
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRoundedRect(area.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
                continue
            color = gradient_color(theme, number, self._limit) if cell.is_gradient else theme.chip
            painter.setPen(QPen(theme.accent, 2) if cell == self._pinned else Qt.PenStyle.NoPen)
            painter.setBrush(color)
            painter.drawRoundedRect(area, 3, 3)
            if is_held:
                painter.fillRect(QRectF(area.left(), area.top(), 3, area.height()), theme.key)
            value, measure = self._values[cell.name], QFontMetricsF(font)
            figure = value.figure_in(cell.place, cell.is_gradient, DIGITS, area.width() - 2, measure)
            painter.write(area, figure, theme.on(color) if cell.is_gradient else theme.text, where=CENTRED)

    def _is_held(self, cell: ValueCell) -> bool:
        """Whether the number was set by hand."""
        held = self._values[cell.name].held
        return held is not None and not cell.is_gradient and bool(held[cell.place])

    def _draw_steps(self, painter: Painter) -> None:
        """The numbers of the steps, below their columns."""
        painter.setFont(self._font(STEP_SIZE))
        painter.setPen(self.theme.muted_text)
        for step, place in self._places.steps:
            area = QRectF(place.x() - 20, place.y() - 6, 40, STEP_SIZE + 4)
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, step)

    def _font(self, size: float) -> QFont:
        """A font at scale 1, for the painter scales."""
        font = QFont(self.theme.font(size))
        font.setPixelSize(round(size))
        return font
