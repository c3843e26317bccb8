"""Boxes, cells and arrows of a small network: how large they are, and where, in pixels at scale 1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF, QSizeF

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.diagrams.network_equations import equations_size
from lmviz.app.widgets.diagrams.network_lines import Line
from lmviz.app.widgets.diagrams.network_values import ALL_DIGITS, DIGITS, DrawnValue, ValueCell
from lmviz.autodiff.routing import Area, MeasuredValue, Route, lay_out

WORD_SIZE, NAME_SIZE, CELL_SIZE, MARK_SIZE, LABEL_SIZE = 13, 14, 13, 12, 11
WIDE, NARROW, TINY = 60, 50, 14
WIDEST = 76  # for six decimals
CELL_HEIGHT, TINY_HEIGHT = 20, 9
GAP = 2
PADDING, BETWEEN = 5, 10
ABOVE_BLOCK = 17  # for the mark of the gradient above its block
LINE, BETWEEN_WORDS = 18, 6  # of the words above the cells
BEFORE_GRADIENT = 12  # for the mark of the gradient beside its block
MARGIN, OUTLINE, BEFORE_EQUATIONS = 6, 3, 26


@dataclass(frozen=True)
class Box:
    """A value's frame, where its words stand, and where its two blocks of cells begin."""

    value: DrawnValue
    frame: QRectF
    words: QRectF
    blocks: tuple[QPointF, QPointF]
    cell: QSizeF
    digits: int
    has_words_above: bool

    @property
    def is_readable(self) -> bool:
        """Whether the cells are large enough for figures."""
        return self.cell.width() > TINY and self.cell.height() > TINY_HEIGHT

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
    and decimals; whether words stand above the cells of a module instead of beside them, and whether the
    steps of a loop go downwards instead of to the right.
    """

    has_equations: bool
    is_wide: bool
    digits: int = DIGITS
    has_words_above: bool = False
    is_downward: bool = False


ARRANGEMENTS = (
    Arrangement(True, True, ALL_DIGITS),
    Arrangement(True, True),
    Arrangement(False, True),
    Arrangement(False, False),
    Arrangement(False, False, has_words_above=True),
)
"""From the widest to the narrowest, which is the highest: there gradients lie below their matrices."""

DOWNWARD = Arrangement(False, False, has_words_above=True, is_downward=True)
"""For a loop whose steps have no room side by side."""


@dataclass(frozen=True)
class Boxes:
    """All boxes by name, the size of the picture, where equations begin (0 where they have no room), and the
    line to each place of a module.
    """

    boxes: Mapping[str, Box]
    size: QSizeF
    equations: float
    lines: Mapping[tuple[str, int], Line] = field(default_factory=dict)

    def source(self, use: tuple[str, int]) -> DrawnValue:
        """What comes to a place of a module."""
        target, place = use
        return self.boxes[self.boxes[target].value.inputs[place]].value

    def label_at(self, place: QPointF) -> tuple[ValueCell, QRectF] | None:
        """The number that stands before a module with its name, and where."""
        for use, line in self.lines.items():
            if line.label.contains(place) and not self.source(use).shape:
                return ValueCell(self.source(use).name, (), False), line.label
        return None

    def equations_area(self, box: Box) -> QRectF:
        """What a module hands back, to the right of its row; empty where nothing stands there."""
        size = equations_size(box.value.equations) if self.equations else QSizeF(0, 0)
        return QRectF(self.equations, box.frame.center().y() - size.height() / 2, size.width(), size.height())

    def areas_of(self, name: str) -> Iterator[QRectF]:
        """All that looks different when a value does: its box, the arrows from and to it, its equations."""
        own = self.boxes[name]
        yield outlined(own.frame)
        for use, line in self.lines.items():
            if name in (use[0], self.source(use).name):
                yield line.area
        yield self.equations_area(own)


def outlined(area: QRectF) -> QRectF:
    """A box or a cell with its outline."""
    return area.adjusted(-OUTLINE, -OUTLINE, OUTLINE, OUTLINE)


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


def _line_width(value: DrawnValue) -> float:
    """The room for the same in one line, at scale 1."""
    word = metrics(WORD_SIZE, bold=True).horizontalAdvance(value.word)
    name = metrics(NAME_SIZE).horizontalAdvance(value.label)
    return (word + name) / current_theme().scale + BETWEEN_WORDS


def _is_stacked(value: DrawnValue, wide: bool) -> bool:
    """Whether the gradient lies below the values; where there is room, that of a matrix lies beside them."""
    return value.rows == 1 or not wide


def _between(value: DrawnValue) -> float:
    """The gap between a block of values and its gradient below it."""
    return GAP if value.rows == 1 else 3 * GAP


def _size_of(value: DrawnValue, arrangement: Arrangement) -> QSizeF:
    """The size of a value's box."""
    block, words = _block(value, arrangement.digits), _words_width(value)
    if arrangement.has_words_above and value.word:
        width = max(_line_width(value), BEFORE_GRADIENT + block.width())
        inner = QSizeF(width, LINE + 2 * block.height() + _between(value))
    elif _is_stacked(value, arrangement.is_wide):
        inner = QSizeF(words + BETWEEN + block.width(), 2 * block.height() + _between(value))
    else:
        above = metrics(MARK_SIZE).horizontalAdvance(value.gradient_label) / current_theme().scale
        width = words + 2 * BETWEEN + block.width() + max(block.width(), above)
        inner = QSizeF(width, block.height() + ABOVE_BLOCK)
    padding = PADDING if value.word else 2
    return QSizeF(inner.width() + 2 * padding, max(inner.height(), 2 * CELL_HEIGHT) + 2 * padding)


def _box_at(value: DrawnValue, place: QPointF, size: QSizeF, arrangement: Arrangement) -> Box:
    """The box of a value whose upper left corner is at a place."""
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
    if arrangement.has_words_above and value.word:
        beside = QRectF(inner.left(), inner.top(), inner.width(), LINE)
        first = inner.topLeft() + QPointF(BEFORE_GRADIENT, LINE)
        second = first + QPointF(0, block.height() + _between(value))
    cell = _cell_size(value, arrangement.digits)
    digits, has_words_above = arrangement.digits, arrangement.has_words_above
    return Box(value, frame, beside, (first, second), cell, digits, has_words_above)


def _label_size(value: DrawnValue) -> QSizeF:
    """The room for a name that stands before a module, with its number where there is one."""
    widest = value.label if value.shape else f"{value.label} {number(-0.5, DIGITS)}"
    size = label_size(value)
    return QSizeF(metrics(size, token=True).horizontalAdvance(widest) / current_theme().scale + 8, 16)


def label_size(value: DrawnValue) -> int:
    """Pixels of type of a name before a module: with a number in it, those of the other numbers."""
    return LABEL_SIZE if value.shape else CELL_SIZE


def place_boxes(values: Sequence[DrawnValue], arrangement: Arrangement) -> Boxes:
    """Put values into rows with arrows between them.

    The steps of a loop stand side by side, with rows that go upwards; or one below the other, with rows that
    go to the right.
    """
    is_downward = arrangement.is_downward
    sizes = {value.name: _size_of(value, arrangement) for value in values}

    def measured(size: QSizeF) -> tuple[float, float]:
        return (size.height(), size.width()) if is_downward else (size.width(), size.height())

    parts = []
    for each in values:
        own, label = measured(sizes[each.name]), measured(_label_size(each))
        parts.append(MeasuredValue(each.name, each.place, each.inputs, own, label))
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
        each.name: _box_at(each, rectangle(drawing.boxes[each.name]).topLeft(), sizes[each.name], arrangement)
        for each in values
    }
    lines = {use: line(route) for use, route in drawing.routes.items()}
    size = QSizeF(2 * MARGIN, 2 * MARGIN) + (QSizeF(along, across) if is_downward else QSizeF(across, along))
    rows = [(each.place.row, each.place.step) for each in values if each.word]
    is_one_column = len(set(rows)) == len(rows) and len({step for _, step in rows}) == 1
    beside = arrangement.has_equations and is_one_column
    return Boxes(boxes, size, size.width() - MARGIN + BEFORE_EQUATIONS if beside else 0.0, lines)
