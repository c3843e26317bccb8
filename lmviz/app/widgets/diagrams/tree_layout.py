"""Where the words of a tree stand: the chosen path straight on top, all of it fitted to the room."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QRectF, QSizeF

ROW, LEAST_ROW, MINOR_ROW = 34.0, 21.0, 18.0  # pixels at scale 1, as all lengths here
EASY_ROW, MOST_ROW = 25.0, 44.0
CHIP, MINOR_CHIP = 23.0, 17.0
GAP, LEAST_GAP, MOST_GAP = 34.0, 8.0, 90.0
MARGIN = 4.0
HEADING = 18.0
SIZES = ((1.0, False), (0.92, False), (0.84, False), (0.92, True), (0.84, True), (0.78, True))
"""Sizes of type, relative to the usual one, that are tried one after the other until the columns fit; and
whether only the words of the chosen path keep their notes."""

OFFERED = (("all", 4), ("all", 2), ("path", 2), ("none", 0))
"""Beside which words those not taken are drawn, and how many, tried until the rows fit."""

WORTH_DRAWING = 0.01
SPOKEN = 3  # columns over which what was pruned is told at the end of a text

Measure = Callable[["TreeNode", float, bool], float]
"""The width of a word at a size of type, with its note or without."""


@dataclass(frozen=True)
class TreeNode:
    """A word in the tree. `parent` is the index of the node before it, −1 at the root.

    `note` is shown next to it, such as its probability. A pruned node was offered and not taken: it is
    drawn small, where there is room and its `share` is worth it. `ending` is told where no word follows.
    """

    label: str
    note: str = ""
    parent: int = -1
    pruned: bool = False
    share: float = 1.0
    ending: str = ""


@dataclass(frozen=True)
class TreeLayout:
    """The places of the nodes that are drawn, by index; `size` is that of the type, 1 the usual one.

    `columns` are where the words of each depth begin. Where it is `terse`, only the words of the chosen path
    have their notes.
    """

    chips: dict[int, QRectF] = field(default_factory=dict)
    columns: tuple[float, ...] = ()
    size: float = 1.0
    terse: bool = False
    has_heading: bool = False
    left_out: int = 0


@dataclass(frozen=True)
class _Rows:
    """The row of each node that is drawn, as the top of it in rows and minor rows, and all their height."""

    tops: dict[int, tuple[float, float]]
    height: tuple[float, float]

    def at(self, index: int, row: float) -> float:
        major, minor = self.tops[index]
        return major * row + minor * MINOR_ROW

    def total(self, row: float) -> float:
        return self.height[0] * row + self.height[1] * MINOR_ROW


class TreeShape:
    """Who follows whom, and in which order: the chosen path first, then what goes on longest."""

    def __init__(self, nodes: Sequence[TreeNode], path: frozenset[int]) -> None:
        self.nodes = nodes
        self.path = path
        self.depths = [0] * len(nodes)
        self.children: list[list[int]] = [[] for _ in nodes]
        reach = [0] * len(nodes)
        for index, node in enumerate(nodes):
            if node.parent >= 0:
                self.children[node.parent].append(index)
                self.depths[index] = self.depths[node.parent] + 1
        for index in range(len(nodes) - 1, -1, -1):  # children come after their parents
            reach[index] = 1 + max((reach[child] for child in self.children[index]), default=0)
        for children in self.children:
            children.sort(key=lambda at: (at not in path, nodes[at].pruned, -reach[at], at))

    def is_noted(self, index: int, *, terse: bool) -> bool:
        """Whether a word has its note."""
        return not terse or index in self.path

    def drawn(self, minors: str, most: int) -> list[list[int]]:
        """The children to draw; `minors` says beside which words `most` of those not taken are drawn."""
        return [self._drawn(index, minors, most) for index in range(len(self.nodes))]

    def _drawn(self, index: int, minors: str, most: int) -> list[int]:
        children = self.children[index]
        kept = [child for child in children if not self.nodes[child].pruned or child in self.path]
        if minors == "none" or (minors == "path" and index not in self.path):
            return kept
        offered = [child for child in children if child not in kept]
        worth = sorted(offered, key=lambda child: -self.nodes[child].share)[:most]
        return kept + [child for child in worth if self.nodes[child].share >= WORTH_DRAWING]

    def rows(self, drawn: list[list[int]]) -> _Rows:
        """Put each line of first children on one row, as high as what stands above it in its columns lets.

        Lines that leave deeper are put first, so that no curve crosses a word.
        """
        free = [(0.0, 0.0)] * (max(self.depths, default=0) + 1 + SPOKEN)
        tops: dict[int, tuple[float, float]] = {}
        waiting = [index for index, node in enumerate(self.nodes) if node.parent < 0][::-1]
        while waiting:
            line = [waiting.pop()]
            while drawn[line[-1]]:
                line.append(drawn[line[-1]][0])
            first, last = self.depths[line[0]], self.depths[line[-1]]
            if self.nodes[line[-1]].ending:
                last += SPOKEN
            top = max(free[first : last + 1], key=lambda at: at[0] * ROW + at[1] * MINOR_ROW)
            for index in line:
                tops[index] = top
                waiting.extend(reversed(drawn[index][1:]))
            is_minor = self.nodes[line[0]].pruned and line[0] not in self.path
            below = (top[0], top[1] + 1) if is_minor else (top[0] + 1, top[1])
            for depth in range(first, last + 1):
                free[depth] = below
        return _Rows(tops, max(free, key=lambda at: at[0] * ROW + at[1] * MINOR_ROW))


def lay_out(shape: TreeShape, measure: Measure, room: QSizeF, scale: float) -> TreeLayout:
    """Fit a tree into a room: fewer words not taken, then closer rows and columns, then smaller type.

    Where even that does not fit, the layout needs more than the room.
    """
    if not shape.nodes:
        return TreeLayout()
    height = room.height() / scale
    rows, row = _fitted_rows(shape, height)
    drawn = rows.tops
    has_heading = rows.total(row) + HEADING <= height
    spare = room.width() / scale - 2 * MARGIN
    widths: list[float] = []
    for size, terse in SIZES:
        widths = _column_widths(shape, measure, drawn, size, terse=terse)
        if sum(widths) + LEAST_GAP * (len(widths) - 1) <= spare:
            break
    gaps = max(1, len(widths) - 1)
    gap = min(MOST_GAP, max(LEAST_GAP, (spare - sum(widths)) / gaps))
    starts, start = [], MARGIN
    for width in widths:
        starts.append(start * scale)
        start += width + gap
    top = HEADING if has_heading else 0.0
    chips = {
        index: _chip(shape, index, starts, (rows.at(index, row) + top, row), measure, size, scale)
        for index in drawn
    }
    left_out = len(shape.nodes) - len(drawn)
    return TreeLayout(chips, tuple(starts), size, terse, has_heading, left_out)


def usual_size(shape: TreeShape, measure: Measure, scale: float) -> QSizeF:
    """The room in which a tree stands at ease."""
    return _size_of(shape, measure, OFFERED[0], SIZES[0], (ROW, GAP), scale)


def least_size(shape: TreeShape, measure: Measure, scale: float) -> QSizeF:
    """The least room into which a tree can be fitted."""
    return _size_of(shape, measure, OFFERED[-1], SIZES[-1], (LEAST_ROW, LEAST_GAP), scale)


def _size_of(
    shape: TreeShape,
    measure: Measure,
    offered: tuple[str, int],
    type_: tuple[float, bool],
    apart: tuple[float, float],
    scale: float,
) -> QSizeF:
    if not shape.nodes:
        return QSizeF(0, 0)
    rows = shape.rows(shape.drawn(*offered))
    widths = _column_widths(shape, measure, rows.tops, type_[0], terse=type_[1])
    row, gap = apart
    width = sum(widths) + gap * (len(widths) - 1) + 2 * MARGIN
    return QSizeF(width * scale, rows.total(row) * scale)


def _fitted_rows(shape: TreeShape, height: float) -> tuple[_Rows, float]:
    """The rows with as many of the words not taken as fit, and how high a row then is."""
    rows = shape.rows(shape.drawn(*OFFERED[0]))
    for offered in OFFERED[1:]:
        if rows.total(EASY_ROW) <= height:
            break
        rows = shape.rows(shape.drawn(*offered))
    spare = height - rows.height[1] * MINOR_ROW
    return rows, min(MOST_ROW, max(LEAST_ROW, spare / max(1.0, rows.height[0])))


def _column_widths(
    shape: TreeShape,
    measure: Measure,
    drawn: dict[int, tuple[float, float]],
    size: float,
    *,
    terse: bool,
) -> list[float]:
    widths = [0.0] * (max((shape.depths[index] for index in drawn), default=0) + 1)
    for index in drawn:
        width = measure(shape.nodes[index], size, shape.is_noted(index, terse=terse))
        widths[shape.depths[index]] = max(widths[shape.depths[index]], width)
    return widths


def _chip(
    shape: TreeShape,
    index: int,
    starts: Sequence[float],
    row: tuple[float, float],
    measure: Measure,
    size: float,
    scale: float,
) -> QRectF:
    """The place of a word, without its note."""
    node = shape.nodes[index]
    is_minor = node.pruned and index not in shape.path
    top, high = row
    height, line = (MINOR_CHIP, MINOR_ROW) if is_minor else (min(CHIP, high - 2), high)
    return QRectF(
        starts[shape.depths[index]],
        (top + (line - height) / 2) * scale,
        measure(node, size, False) * scale,
        height * scale,
    )
