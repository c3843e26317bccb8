"""Where the boxes of a small network stand in its picture, in pixels at scale 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QPointF, QRectF, QSizeF

from lmviz.app.widgets.diagrams.network_boxes import Arrangement, Box, Boxes, box_at, size_of
from lmviz.app.widgets.diagrams.network_values import DrawnValue

ROW_GAP, COLUMN_GAP, STEP_GAP = 20, 26, 50
LEVEL_GAP, DOWN_GAP = 28, 32  # between columns and rows where steps go downwards
STACK_GAP = 10
FIELD_WIDTH, FIELD_HEIGHT = 48, 15
MARGIN = 8


def place_boxes(values: Sequence[DrawnValue], arrangement: Arrangement, *, unrolled: bool) -> Boxes:
    """Put values into rows and columns; each row is centred, unless a loop is unrolled.

    The steps of a loop stand side by side, or one below the other.
    """
    if unrolled and arrangement.is_downward:
        return _place_downward(values, arrangement)
    sizes = {value.name: size_of(value, arrangement) for value in values}
    modules = [value for value in values if value.side == "module"]
    left = [value for value in values if value.side == "left"]
    below = [value for value in values if value.side == "below"]
    left_width = max((sizes[value.name].width() for value in left), default=0.0)
    left_edge = MARGIN + left_width + (2 * COLUMN_GAP if left else 0)
    columns = _columns([*modules, *below], sizes, left_edge) if unrolled else {}
    last = max((value.row for value in values), default=0)
    widest = max((_width(_in_row(modules, row), sizes) for row in range(last + 1)), default=0.0)
    widest = max(widest, _width(below, sizes))
    boxes: dict[str, Box] = {}
    top = float(MARGIN)
    for row in range(last, -2, -1):
        across = below if row < 0 else _in_row(modules, row)
        beside = [] if row < 0 else _in_row(left, row)
        stacked = sum(sizes[value.name].height() for value in beside) + STACK_GAP * max(0, len(beside) - 1)
        height = max([sizes[value.name].height() for value in across] + [stacked, 0.0])
        x = left_edge + (widest - _width(across, sizes)) / 2
        for value in across:
            size = sizes[value.name]
            at = columns.get(value.column, x) if unrolled else x
            boxes[value.name] = box_at(
                value, QPointF(at, top + (height - size.height()) / 2), size, arrangement
            )
            x += size.width() + COLUMN_GAP
        y = top + (height - stacked) / 2
        for value in beside:
            size = sizes[value.name]
            boxes[value.name] = box_at(
                value, QPointF(MARGIN + left_width - size.width(), y), size, arrangement
            )
            y += size.height() + STACK_GAP
        if height:
            top += height + ROW_GAP
    right = max((box.frame.right() for box in boxes.values()), default=0.0)
    in_rows = [len(_in_row(modules, row)) for row in range(last + 1)]
    has_equations = arrangement.has_equations and not unrolled and max(in_rows, default=0) == 1
    equations = right + COLUMN_GAP if has_equations else 0.0
    return _with_fields(boxes, QSizeF(right + MARGIN, top), equations)


def _place_downward(values: Sequence[DrawnValue], arrangement: Arrangement) -> Boxes:
    """Each column of the steps becomes a row, and each row a column; what is given to all stands above."""
    sizes = {value.name: size_of(value, arrangement) for value in values}
    above = sorted((value for value in values if value.side == "left"), key=lambda value: value.row)
    placed = [value for value in values if value.side != "left"]
    lefts, x = {}, float(MARGIN)
    for row in sorted({_level(value) for value in placed}):
        lefts[row] = x
        widths = [sizes[each.name].width() for each in placed if _level(each) == row]
        x += max(widths) + LEVEL_GAP
    boxes: dict[str, Box] = {}
    left, top = lefts.get(0, float(MARGIN)), float(MARGIN)
    for value in above:
        boxes[value.name] = box_at(value, QPointF(left, top), sizes[value.name], arrangement)
        left += sizes[value.name].width() + COLUMN_GAP
    top += max((sizes[value.name].height() + DOWN_GAP for value in above), default=0.0)
    for column in range(max((value.column for value in placed), default=-1) + 1):
        across = [value for value in placed if value.column == column]
        height = max((sizes[value.name].height() for value in across), default=0.0)
        for value in across:
            size = sizes[value.name]
            place = QPointF(lefts[_level(value)], top + (height - size.height()) / 2)
            boxes[value.name] = box_at(value, place, size, arrangement)
        top += height + DOWN_GAP
    right = max((box.frame.right() for box in boxes.values()), default=0.0)
    in_order = {value.name: boxes[value.name] for value in values}
    return _with_fields(in_order, QSizeF(right + MARGIN, top), 0.0)


def _level(value: DrawnValue) -> int:
    """How far to the right a value stands where steps go downwards; what is read in a step comes first."""
    return value.row if value.side == "module" else -1


def _with_fields(boxes: Mapping[str, Box], size: QSizeF, equations: float) -> Boxes:
    far = _far_sources(boxes)
    fields = {
        (name, source): _field(boxes[name], share)
        for name, shares in far.items()
        for source, share in shares.items()
    }
    return Boxes(boxes, size, equations, far, fields)


def _far_sources(boxes: Mapping[str, Box]) -> dict[str, dict[str, float]]:
    """For each module what it takes from the left column although other modules stand between."""
    modules = [box for box in boxes.values() if box.value.word]
    found: dict[str, dict[str, float]] = {}
    for box in modules:
        given = {name: share for name, share in box.shares if boxes[name].value.side == "left"}
        if given and any(_stands_before(other.frame, box) for other in modules):
            found[box.value.name] = given
    return found


def _stands_before(other: QRectF, box: Box) -> bool:
    """Whether a frame stands in the way from what is given to all to a box."""
    middle = box.frame.center()
    if box.is_downward:
        return other.bottom() < box.frame.top() and other.left() < middle.x() < other.right()
    return other.right() < box.frame.left() and other.top() < middle.y() < other.bottom()


def _field(box: Box, share: float) -> QRectF:
    """The place of a name above the end of an arrow, or beside one that comes from above."""
    if box.is_downward:
        x = box.frame.left() + box.frame.width() * share
        x = x + 4 if share > 0.5 else x - FIELD_WIDTH - 4
        return QRectF(x, box.frame.top() - FIELD_HEIGHT - 10, FIELD_WIDTH, FIELD_HEIGHT)
    end = QPointF(box.frame.left(), box.frame.top() + box.frame.height() * share)
    return QRectF(end.x() - FIELD_WIDTH - 2, end.y() - FIELD_HEIGHT - 3, FIELD_WIDTH, FIELD_HEIGHT)


def _in_row(values: Sequence[DrawnValue], row: int) -> list[DrawnValue]:
    return sorted((value for value in values if value.row == row), key=lambda value: value.column)


def _width(values: Sequence[DrawnValue], sizes: Mapping[str, QSizeF]) -> float:
    return sum(sizes[value.name].width() for value in values) + COLUMN_GAP * max(0, len(values) - 1)


def _columns(values: Sequence[DrawnValue], sizes: Mapping[str, QSizeF], left: float) -> dict[int, float]:
    """Where each column begins."""
    found, x = {}, left
    for column in range(max((value.column for value in values), default=-1) + 1):
        found[column] = x
        widths = [sizes[value.name].width() for value in values if value.column == column]
        x += max(widths, default=0.0) + STEP_GAP
    return found
