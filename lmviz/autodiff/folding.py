"""A small recurrent network as units and weighted arrows, to be drawn folded or unrolled.

A line of the text such as `h[t] = tanh(add(linear(U, h[t-1]), linear(W, x[t])))` is one unit: a function of a
sum of values, each of which comes along an arrow with its weight. Folded, the units of all steps are one,
and an arrow that comes from an earlier step is a loop.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from lmviz.autodiff.graph import Graph
from lmviz.autodiff.names import step_of
from lmviz.autodiff.node import COMPUTED, Node

FUNCTIONS = {"identity": "", "tanh": "tanh", "sigmoid": "σ", "relu": "relu", "sum": "Σ"}
"""Modules of one input that a unit may apply, as they are written in it."""

MOST_NUMBERS, MOST_STEPS = 4, 12  # of a value or weight, and side by side


@dataclass(frozen=True)
class Arrow:
    """A value that a unit adds, by the names of both, and the weight it is multiplied by; "" for none."""

    source: str
    target: str
    weight: str = ""


@dataclass(frozen=True)
class Unit:
    """A value that is drawn: given, or a function of the sum of what comes along its arrows.

    `base` is its name without the step. Rows count upwards from what is given.
    """

    name: str
    base: str
    step: int
    row: int
    function: str
    is_given: bool


@dataclass(frozen=True)
class Units:
    """All units, and the arrows between them."""

    units: tuple[Unit, ...]
    arrows: tuple[Arrow, ...]

    def unit(self, name: str) -> Unit:
        """One of them by the name of its value."""
        return next(unit for unit in self.units if unit.name == name)

    def delay(self, arrow: Arrow) -> int:
        """How many steps an arrow spans; 0 within one."""
        return self.unit(arrow.target).step - self.unit(arrow.source).step


def units_of(net: Graph) -> Units | None:
    """The units of a recurrent network; None where it is none, or not made of such units, or too large.

    Nor where arrows would lie on one another: two between the same units, or one to another step that is no
    recurrence of a unit to itself.
    """
    arrows: list[Arrow] = []
    functions: dict[str, str] = {}
    for node in net.tape.modules:
        if not _is_named(node):
            continue
        read = _read(node)
        if read is None:
            return None
        functions[node.name], incoming = read
        arrows += incoming
    steps = _steps(net, arrows)
    named = {arrow.source for arrow in arrows} | set(functions)
    rows = _rows([node.name for node in net.nodes if node.name in named], functions)
    units = tuple(
        Unit(
            name, _base(name), steps[name], rows[_base(name)], functions.get(name, ""), name not in functions
        )
        for name in steps
        if name in named
    )
    found = Units(units, tuple(arrows))
    ends = [(_base(arrow.source), _base(arrow.target), arrow.weight, found.delay(arrow)) for arrow in arrows]
    is_plain = len({end[:2] for end in ends}) == len(set(ends)) and all(
        abs(delay) <= (source == target) for source, target, _, delay in ends
    )
    is_recurrent = any(found.delay(arrow) and _base(arrow.source) == _base(arrow.target) for arrow in arrows)
    sizes = [math.prod(net[name].shape) for name in {*named, *(a.weight for a in arrows if a.weight)}]
    fits = max(sizes, default=0) <= MOST_NUMBERS and len(set(steps.values())) <= MOST_STEPS + 1
    return found if is_recurrent and is_plain and fits else None


def _read(node: Node) -> tuple[str, list[Arrow]] | None:
    """The function of a unit and what it adds; None where its line is not made that way."""
    words, at = [], node
    while at.module is not None and at.module.word in FUNCTIONS and len(at.inputs) == 1:
        words.append(FUNCTIONS[at.module.word])
        at = at.inputs[0]
        if _is_named(at):
            break
    is_own = at is node or not _is_named(at)
    terms = at.inputs if is_own and _word(at) == "add" else (at,)
    found = [_arrow(term, node) for term in terms]
    arrows = [arrow for arrow in found if arrow is not None]
    return (" ".join(filter(None, words)), arrows) if len(arrows) == len(terms) else None


def _arrow(term: Node, unit: Node) -> Arrow | None:
    """What one term of a sum contributes; None where it is no value of a step, with or without a weight."""
    if term is not unit and _is_named(term):
        return Arrow(term.name, unit.name) if step_of(term.name) is not None else None
    if _word(term) not in ("linear", "multiply") or len(term.inputs) != 2:
        return None
    weight, value = term.inputs
    if not (_is_given(weight) and weight.name[0].isalpha() and step_of(weight.name) is None):
        return None
    has_step = _is_named(value) and step_of(value.name) is not None
    return Arrow(value.name, unit.name, weight.name) if has_step else None


def _is_named(node: Node) -> bool:
    """Whether it has a line of its own; calls within calls have none."""
    return "·" not in node.name


def _is_given(node: Node) -> bool:
    return node.kind != COMPUTED


def _word(node: Node) -> str:
    return "" if node.module is None else node.module.word


def _steps(net: Graph, arrows: list[Arrow]) -> dict[str, int]:
    """The step of each value: its own, or else the last one of what it takes."""
    found: dict[str, int] = {}
    for node in net.nodes:
        own = step_of(node.name)
        taken = [found[arrow.source] for arrow in arrows if arrow.target == node.name]
        found[node.name] = max(taken, default=0) if own is None else own
    return found


def _rows(names: list[str], functions: dict[str, str]) -> dict[str, int]:
    """A row for each base, counted upwards: what is given lowest, then units in the order of the text."""
    made = [_base(name) for name in names if name in functions]
    given = [_base(name) for name in names if _base(name) not in made]
    return {base: row for row, base in enumerate(dict.fromkeys([*given, *made]))}


def _base(name: str) -> str:
    return name.partition("[")[0]
