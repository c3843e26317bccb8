"""Where each value of a network is drawn: rows from inputs up to the output, steps side by side."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from lmviz.autodiff.graph import Graph
from lmviz.autodiff.names import step_of
from lmviz.autodiff.node import COMPUTED, INPUT, Node

MODULE, LEFT, BELOW = "module", "left", "below"


@dataclass(frozen=True)
class ValuePlace:
    """The place of a value. Rows count upwards from 0, columns from the left.

    `side` says whether it is a module, or an input or parameter to the left of a row or below a column.
    """

    row: int
    column: int
    side: str


@dataclass(frozen=True)
class NetworkLayout:
    """A place for each value, by name; `unrolled` where the steps of a loop stand side by side."""

    spots: dict[str, ValuePlace]
    unrolled: bool


def arrange(net: Graph) -> NetworkLayout:
    """A place for each value.

    Modules stand in the row above the highest of those that they take; where the text has a loop, each step
    has its own columns, and rows count within it. What is given stands to the left of the first module that
    takes it, or below the lowest one.
    """
    modules = net.tape.modules
    steps = _steps(net)
    rows: dict[str, int] = {}
    for node in modules:
        inner = [rows[i.name] for i in node.inputs if i.name in rows and steps[i.name] == steps[node.name]]
        rows[node.name] = 1 + max(inner, default=-1)
    counts = Counter((steps[node.name], rows[node.name]) for node in modules)
    widest: Counter[int] = Counter()
    for (step, _), count in counts.items():
        widest[step] = max(widest[step], count)
    firsts, column = {}, 0
    for step in sorted(widest):
        firsts[step] = column
        column += widest[step]
    taken: Counter[tuple[int, int]] = Counter()
    spots: dict[str, ValuePlace] = {}
    for node in modules:
        cell = (steps[node.name], rows[node.name])
        spare = widest[cell[0]] - counts[cell]  # to the right, where the next step begins
        spots[node.name] = ValuePlace(cell[1], firsts[cell[0]] + spare + taken[cell], MODULE)
        taken[cell] += 1
    for node in net.nodes:
        if node.kind != COMPUTED:
            spots[node.name] = _beside(node, spots)
    return NetworkLayout(spots, len(widest) > 1)


def _steps(net: Graph) -> dict[str, int]:
    """The step of each module: its own, or else the last one of what it takes; 0 where no loop is."""
    found: dict[str, int] = {}
    for node in net.nodes:
        own = step_of(node.name)
        before = max((found[input.name] for input in node.inputs if input.kind == COMPUTED), default=0)
        found[node.name] = before if own is None else own
    if len({found[node.name] for node in net.tape.modules}) == 1:
        return dict.fromkeys(found, 0)
    return found


def _beside(node: Node, spots: dict[str, ValuePlace]) -> ValuePlace:
    """The place of something given: at the first module that takes it."""
    users = [spots[consumer.name] for consumer in node.consumers]
    if not users:
        return ValuePlace(0, 0, LEFT)
    first = min(users, key=lambda spot: (spot.column, spot.row))
    if node.kind == INPUT and first.row == 0 and (first.column > 0 or all(s.row == 0 for s in users)):
        return ValuePlace(0, first.column, BELOW)
    return ValuePlace(first.row, 0, LEFT)
