"""Where the boxes and arrows of a small network stand in its picture, in pixels at scale 1."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSizeF

from lmviz.app.widgets.diagrams.network_boxes import (
    Arrangement,
    Boxes,
    box_at,
    label_size,
    size_of,
)
from lmviz.app.widgets.diagrams.network_lines import Line
from lmviz.app.widgets.diagrams.network_values import DrawnValue
from lmviz.autodiff.routing import Area, MeasuredValue, Route, lay_out

MARGIN = 6
BEFORE_EQUATIONS = 26


def place_boxes(values: Sequence[DrawnValue], arrangement: Arrangement) -> Boxes:
    """Put values into rows with arrows between them.

    The steps of a loop stand side by side, with rows that go upwards; or one below the other, with rows that
    go to the right.
    """
    is_downward = arrangement.is_downward
    sizes = {value.name: size_of(value, arrangement) for value in values}

    def measured(size: QSizeF) -> tuple[float, float]:
        return (size.height(), size.width()) if is_downward else (size.width(), size.height())

    parts = [
        MeasuredValue(
            each.name, each.place, each.inputs, measured(sizes[each.name]), measured(label_size(each))
        )
        for each in values
    ]
    drawing = lay_out(parts, in_a_row=is_downward)
    across, along = drawing.size

    def at(place: tuple[float, float]) -> QPointF:
        corner = QPointF(place[1], place[0]) if is_downward else QPointF(place[0], along - place[1])
        return corner + QPointF(MARGIN, MARGIN)

    def rectangle(area: Area) -> QRectF:
        far = area.across + area.width, area.along + area.height
        return QRectF(at((area.across, area.along)), at(far)).normalized()

    def line(route: Route) -> Line:
        is_upright = route.sideways == is_downward
        label = QRectF() if route.label is None else rectangle(route.label)
        return Line(tuple(map(at, route.points)), tuple(map(at, route.back.points)), is_upright, label)

    boxes = {
        each.name: box_at(each, rectangle(drawing.boxes[each.name]).topLeft(), sizes[each.name], arrangement)
        for each in values
    }
    lines = {use: line(route) for use, route in drawing.routes.items()}
    size = QSizeF(2 * MARGIN, 2 * MARGIN) + (QSizeF(along, across) if is_downward else QSizeF(across, along))
    rows = [(each.place.row, each.place.step) for each in values if each.word]
    has_equations = (
        arrangement.has_equations and len(set(rows)) == len(rows) and len({s for _, s in rows}) == 1
    )
    return Boxes(boxes, size, size.width() - MARGIN + BEFORE_EQUATIONS if has_equations else 0.0, lines)
