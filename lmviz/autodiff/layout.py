"""Where each value of a network is drawn: rows from inputs up to the output, steps side by side."""

from __future__ import annotations

from dataclasses import dataclass

from lmviz.autodiff.graph import Graph
from lmviz.autodiff.names import step_of
from lmviz.autodiff.node import COMPUTED, INPUT, Node

MODULE, LEFT, BELOW = "module", "left", "below"


@dataclass(frozen=True)
class ValuePlace:
    """The place of a value. Rows count upwards from 0, below which −1 is.

    `side` says whether it is a module, or an input or parameter to the left of a row or below all of them.
    """

    row: int
    step: int
    side: str


@dataclass(frozen=True)
class NetworkLayout:
    """A place for each value, by name; `unrolled` where the steps of a loop stand side by side."""

    spots: dict[str, ValuePlace]
    unrolled: bool


def arrange(net: Graph) -> NetworkLayout:
    """A place for each value.

    Modules stand in the row above the highest of those that they take; where the text has a loop, rows count
    within each step. What is given stands to the left of the first module that takes it, or below the lowest
    row.
    """
    steps = _steps(net)
    spots: dict[str, ValuePlace] = {}
    for node in net.tape.modules:
        step = steps[node.name]
        taken = [spots[input.name] for input in node.inputs if input.name in spots]
        row = 1 + max((spot.row for spot in taken if spot.step == step), default=-1)
        spots[node.name] = ValuePlace(row, step, MODULE)
    first = min((spot.step for spot in spots.values()), default=0)
    for node in net.nodes:
        if node.kind != COMPUTED:
            spots[node.name] = _beside(node, spots, first)
    return NetworkLayout(spots, len({steps[node.name] for node in net.tape.modules}) > 1)


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


def _beside(node: Node, spots: dict[str, ValuePlace], first_step: int) -> ValuePlace:
    """The place of something given: at the first module that takes it."""
    users = [spots[consumer.name] for consumer in node.consumers]
    if not users:
        return ValuePlace(0, first_step, LEFT)
    first = min(users, key=lambda spot: (spot.step, spot.row))
    is_lowest = all(spot.row == 0 for spot in users)
    if node.kind == INPUT:
        is_below = first.row == 0 and (first.step > first_step or is_lowest)
    else:  # one that several take is drawn below all of them
        is_below = is_lowest and len(set(users)) == 1 < len(users)
    return ValuePlace(-1, first.step, BELOW) if is_below else ValuePlace(first.row, first_step, LEFT)
