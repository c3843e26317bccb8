"""The places of boxes and cells in the picture of a small network, in pixels at scale 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF, QSizeF

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.diagrams.network_values import ALL_DIGITS, DIGITS, DrawnValue, ValueCell

WORD_SIZE, NAME_SIZE, CELL_SIZE, MARK_SIZE = 12.5, 13.5, 11, 11
WIDE, NARROW, TINY = 58, 46, 14
WIDEST = 72  # for six decimals
CELL_HEIGHT, TINY_HEIGHT = 20, 9
GAP = 2
PADDING, BETWEEN = 7, 10
ROW_GAP, COLUMN_GAP, STEP_GAP = 20, 26, 50
FIELD_WIDTH, FIELD_HEIGHT = 48, 15
ABOVE_BLOCK = 15  # for the mark of the gradient above its block
MARGIN = 8


@dataclass(frozen=True)
class Box:
    """A value's frame, where its words stand, and where its two blocks of cells begin."""

    value: DrawnValue
    frame: QRectF
    words: QRectF
    blocks: tuple[QPointF, QPointF]
    cell: QSizeF
    digits: int

    @property
    def is_readable(self) -> bool:
        """Whether the cells are large enough for figures."""
        return self.cell.width() > TINY and self.cell.height() > TINY_HEIGHT

    @property
    def shares(self) -> tuple[tuple[str, float], ...]:
        """Each input, and where at the edge its arrow ends, from 0 to 1."""
        inputs = self.value.inputs
        return tuple((name, (place + 1) / (len(inputs) + 1)) for place, name in enumerate(inputs))

    def cell_rectangle(self, index: tuple[int, ...], is_gradient: bool) -> QRectF:
        """Where a cell is drawn."""
        row = index[0] if len(index) == 2 else 0
        column = index[-1] if index else 0
        start = self.blocks[1 if is_gradient else 0]
        step_x, step_y = self.cell.width() + GAP, self.cell.height() + GAP
        return QRectF(start + QPointF(column * step_x, row * step_y), self.cell)

    def cell_at(self, place: QPointF) -> ValueCell | None:
        """The cell at a place."""
        for is_gradient in (False, True):
            start = self.blocks[1 if is_gradient else 0]
            column = int((place.x() - start.x()) // (self.cell.width() + GAP))
            row = int((place.y() - start.y()) // (self.cell.height() + GAP))
            if 0 <= row < self.value.rows and 0 <= column < self.value.columns:
                index = (row, column)[2 - len(self.value.shape) :]
                return ValueCell(self.value.name, index, is_gradient)
        return None


@dataclass(frozen=True)
class Arrangement:
    """What takes room besides the modules: equations at the right, gradients beside their matrices,
    and decimals.
    """

    has_equations: bool
    is_wide: bool
    digits: int = DIGITS


ARRANGEMENTS = (
    Arrangement(True, True, ALL_DIGITS),
    Arrangement(True, True),
    Arrangement(False, True),
    Arrangement(False, False),
)
"""From the widest to the narrowest, which is the highest: there gradients lie below their matrices."""


@dataclass(frozen=True)
class Boxes:
    """All boxes by name, the size of the picture, and where equations begin; 0 where they have no room.

    `far` has for each module what it takes from the left column although others stand between, and where on
    its edge: it is named at the module instead. `fields` are the places of such names on the arrows.
    """

    boxes: Mapping[str, Box]
    size: QSizeF
    equations: float
    far: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    fields: Mapping[tuple[str, str], QRectF] = field(default_factory=dict)

    def field_at(self, place: QPointF) -> tuple[ValueCell, QRectF] | None:
        """The number of a weight that stands on an arrow, and where."""
        for (_, source), area in self.fields.items():
            if area.contains(place) and not self.boxes[source].value.shape:
                return ValueCell(source, (), False), area
        return None


def place_boxes(values: Sequence[DrawnValue], arrangement: Arrangement, *, unrolled: bool) -> Boxes:
    """Put values into rows and columns; each row is centred, unless a loop is unrolled."""
    sizes = {value.name: _size(value, arrangement) for value in values}
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
        stacked = sum(sizes[value.name].height() for value in beside) + BETWEEN * max(0, len(beside) - 1)
        height = max([sizes[value.name].height() for value in across] + [stacked, 0.0])
        x = left_edge + (widest - _width(across, sizes)) / 2
        for value in across:
            size = sizes[value.name]
            at = columns.get(value.column, x) if unrolled else x
            boxes[value.name] = _box(
                value, QPointF(at, top + (height - size.height()) / 2), size, arrangement
            )
            x += size.width() + COLUMN_GAP
        y = top + (height - stacked) / 2
        for value in beside:
            size = sizes[value.name]
            boxes[value.name] = _box(value, QPointF(MARGIN + left_width - size.width(), y), size, arrangement)
            y += size.height() + BETWEEN
        if height:
            top += height + ROW_GAP
    right = max((box.frame.right() for box in boxes.values()), default=0.0)
    in_rows = [len(_in_row(modules, row)) for row in range(last + 1)]
    has_equations = arrangement.has_equations and not unrolled and max(in_rows, default=0) == 1
    equations = right + COLUMN_GAP if has_equations else 0.0
    far = _far_sources(boxes)
    fields = {
        (name, source): _field(boxes[name], share)
        for name, shares in far.items()
        for source, share in shares.items()
    }
    return Boxes(boxes, QSizeF(right + MARGIN, top), equations, far, fields)


def _far_sources(boxes: Mapping[str, Box]) -> dict[str, dict[str, float]]:
    """For each module what it takes from the left column although other modules stand between."""
    modules = [box for box in boxes.values() if box.value.word]
    found: dict[str, dict[str, float]] = {}
    for box in modules:
        given = {name: share for name, share in box.shares if boxes[name].value.side == "left"}
        level = box.frame.center().y()
        if given and any(
            other.frame.right() < box.frame.left() and other.frame.top() < level < other.frame.bottom()
            for other in modules
        ):
            found[box.value.name] = given
    return found


def _field(box: Box, share: float) -> QRectF:
    """The place of a name above the end of an arrow."""
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


def _cell_size(value: DrawnValue, digits: int) -> QSizeF:
    usual = WIDE if value.columns <= 6 else NARROW
    width = (WIDEST if digits == ALL_DIGITS else usual) if value.columns <= 10 else TINY
    readable = value.rows <= 8 and width > TINY
    return QSizeF(width if readable else TINY, CELL_HEIGHT if readable else TINY_HEIGHT)


def _block(value: DrawnValue, digits: int) -> QSizeF:
    cell = _cell_size(value, digits)
    width = value.columns * (cell.width() + GAP) - GAP
    return QSizeF(width, value.rows * (cell.height() + GAP) - GAP)


def _words_width(value: DrawnValue) -> float:
    """The room for the module's word and the value's name, at scale 1."""
    word = metrics(WORD_SIZE, bold=True).horizontalAdvance(value.word)
    name = metrics(NAME_SIZE).horizontalAdvance(f"{value.label}   g")
    alone = metrics(NAME_SIZE).horizontalAdvance(value.label)
    return max(word, name if value.word else alone) / current_theme().scale


def _is_stacked(value: DrawnValue, wide: bool) -> bool:
    """Whether the gradient lies below the values; where there is room, that of a matrix lies beside them."""
    return value.rows == 1 or not wide


def _between(value: DrawnValue) -> float:
    """The gap between a block of values and its gradient below it."""
    return GAP if value.rows == 1 else 3 * GAP


def _size(value: DrawnValue, arrangement: Arrangement) -> QSizeF:
    block, words = _block(value, arrangement.digits), _words_width(value)
    if _is_stacked(value, arrangement.is_wide):
        inner = QSizeF(words + BETWEEN + block.width(), 2 * block.height() + _between(value))
    else:
        inner = QSizeF(words + 2 * BETWEEN + 2 * block.width(), block.height() + ABOVE_BLOCK)
    padding = PADDING if value.word else 2
    return QSizeF(inner.width() + 2 * padding, max(inner.height(), 2 * CELL_HEIGHT) + 2 * padding)


def _box(value: DrawnValue, place: QPointF, size: QSizeF, arrangement: Arrangement) -> Box:
    frame = QRectF(place, size)
    padding = PADDING if value.word else 2
    inner = frame.adjusted(padding, padding, -padding, -padding)
    block, words = _block(value, arrangement.digits), _words_width(value)
    if _is_stacked(value, arrangement.is_wide):
        gap = _between(value)
        first = QPointF(inner.left() + words + BETWEEN, inner.center().y() - block.height() - gap / 2)
        second = first + QPointF(0, block.height() + gap)
    else:
        first = QPointF(inner.left() + words + BETWEEN, inner.top() + ABOVE_BLOCK)
        second = first + QPointF(block.width() + BETWEEN, 0)
    beside = QRectF(inner.left(), inner.top(), words, inner.height())
    cell = _cell_size(value, arrangement.digits)
    return Box(value, frame, beside, (first, second), cell, arrangement.digits)
