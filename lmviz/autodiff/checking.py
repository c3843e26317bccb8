"""Gradients checked by nudging: central differences, cell by cell and module by module.

(J(θ + ε) − J(θ − ε)) / 2ε is the slope up to an error that grows with ε² (truncation) and with 1/ε
(rounding), so that some ε between is best.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from numbers import Real
from typing import Any

import numpy as np

from lmviz.autodiff.graph import Graph
from lmviz.autodiff.node import COMPUTED, Node
from lmviz.autodiff.tape import Tape
from lmviz.base.errors import LmvizError

EPSILON = 1e-5
GOOD_DIGITS = 6
"""From how many agreeing digits on a gradient counts as right."""


@dataclass(frozen=True)
class NudgedCell:
    """One cell: the output with a little more and a little less of it, the slope, and the gradient."""

    name: str
    index: tuple[int, ...]
    more: float
    less: float
    eps: float
    gradient: float

    @property
    def slope(self) -> float:
        """The central difference."""
        return (self.more - self.less) / (2 * self.eps)

    @property
    def error(self) -> float:
        """How far slope and gradient are apart."""
        return abs(self.slope - self.gradient)

    @property
    def rounding(self) -> float:
        """How far the slope can be off because outputs in float64 are rounded."""
        size = max(abs(self.more), abs(self.less))
        return 10 * float(np.finfo(np.float64).eps) * size / self.eps

    @property
    def digits(self) -> int:
        """How many leading digits of slope and gradient agree, from 0 to 16."""
        return agreeing_digits(self.slope, self.gradient)


@dataclass(frozen=True)
class Check:
    """All cells that were nudged."""

    cells: tuple[NudgedCell, ...]

    @property
    def error(self) -> float:
        """The largest error of all."""
        return max((cell.error for cell in self.cells), default=0.0)

    @property
    def worst(self) -> NudgedCell:
        """The cell with the largest error."""
        return max(self.cells, key=lambda cell: cell.error)

    @property
    def digits(self) -> int:
        """The digits that agree, the largest error held against the largest gradient."""
        largest = max((abs(cell.gradient) for cell in self.cells), default=0.0)
        return _digits(self.error, largest)

    @property
    def agrees(self) -> bool:
        """Whether the gradients are right: what is left is truncation, or the rounding of the output."""
        largest = max((abs(cell.gradient) for cell in self.cells), default=0.0)
        return all(cell.error <= 10**-GOOD_DIGITS * largest + cell.rounding for cell in self.cells)

    def __repr__(self) -> str:
        return (
            f"<Check of {len(self.cells)} cells: largest error {self.error:.1e}, {self.digits} digits agree>"
        )


def check(
    net: Graph,
    name: str = "",
    index: Sequence[int] | None = None,
    eps: float = EPSILON,
) -> Check:
    """Nudge cells of a value, or of all parameters where no name is given, at the network's own numbers.

    The network itself is left as it is. LmvizError where ε is not positive or the value has no such cell.
    """
    _check_nudge(eps)
    nodes = [net[name]] if name else list(net.parameters or net.inputs)
    gradients = _gradients(net)
    cells: list[NudgedCell] = []
    for node in nodes:
        cells += _nudged_cells(Nudging(net, node.name, np.float64), gradients[node.name], index, eps)
    return Check(tuple(cells))


def _gradients(net: Graph) -> dict[str, np.ndarray]:
    """The gradient of every value, once all is swept; the network itself is left as it is."""
    return {node.name: node.gradient for node in net.copy().backward() if node.gradient is not None}


def _nudged_cells(
    nudging: Nudging, gradient: np.ndarray, index: Sequence[int] | None, eps: float
) -> list[NudgedCell]:
    """All cells of a value, or one of them, each with a little more and a little less."""
    indices = list(np.ndindex(*gradient.shape)) if index is None else [nudging.cell(index)]
    return [
        NudgedCell(
            nudging.name, cell, nudging.loss(cell, eps), nudging.loss(cell, -eps), eps, float(gradient[cell])
        )
        for cell in indices
    ]


MOST_EFFORT = 20_000
"""Modules times cells up to which all are nudged at once, which takes a second or two."""


def _check_nudge(eps: float) -> None:
    """LmvizError where nothing follows from nudging by so much."""
    if not (isinstance(eps, Real) and eps > 0 and math.isfinite(eps)):
        raise LmvizError(f"Nudging by {eps!r} shows nothing: choose an ε above 0, such as 1e-5.")


def check_all(net: Graph, eps: float = EPSILON) -> Check:
    """Nudge every parameter, or every input where nothing learns; LmvizError where there are too many."""
    nodes = net.parameters or net.inputs
    cells = sum(prod(node.shape) for node in nodes)
    if cells * len(net.tape.modules) > MOST_EFFORT:
        raise LmvizError(f"Nudging all {cells:,} numbers takes too long here: nudge one of them.")
    return check(net, "", None, eps)


def check_module(net: Graph, name: str, eps: float = EPSILON) -> Check:
    """Check the backward of one module alone, as it stands on the tape.

    The output gets a gradient of random numbers, always the same; then each input is nudged, and the
    slope of (output · those numbers) is held against what the module hands back. LmvizError where the
    value is not computed by a module, and where an ε says nothing.
    """
    _check_nudge(eps)
    node = net[name]
    if node.module is None:
        raise LmvizError(f"{name} is given, not computed: only modules can be checked.")
    whole = net.copy().forward()
    own = whole[name]
    inputs = [
        Node(f"{place}", "input", input.shape, 0, value=input.numbers)
        for place, input in enumerate(own.inputs)
    ]
    weights = np.random.default_rng(0).normal(size=own.shape)
    alone = Node(name, COMPUTED, own.shape, own.line, own.module, tuple(inputs), begins_at=own.begins_at)
    Tape([*inputs, alone]).push()
    alone.gradient = weights + alone.begins_at
    cells = []
    for place, gradient in enumerate(alone.hand_back()):
        for cell in np.ndindex(*inputs[place].shape):
            more, less = (_nudged_output(alone, place, cell, sign * eps, weights) for sign in (1, -1))
            handed = float(gradient[cell])
            cells.append(NudgedCell(own.inputs[place].name, cell, more, less, eps, handed))
    return Check(tuple(cells))


def _nudged_output(node: Node, place: int, cell: tuple[int, ...], by: float, weights: np.ndarray) -> float:
    """What one module computes with one cell of one input changed, weighted into one number."""
    assert node.module is not None
    values = [input.numbers for input in node.inputs]
    values[place] = values[place].copy()
    values[place][cell] += by
    with np.errstate(all="ignore"):
        output = np.asarray(node.module.forward(*values))
    seen = np.isfinite(output)  # what is masked does not move
    return float((output[seen] * weights[seen]).sum())


def errors_over_epsilon(
    net: Graph,
    name: str,
    index: Sequence[int] | None = None,
    dtype: Any = np.float64,
    exponents: Sequence[float] = tuple(np.arange(-13, -0.5, 0.5)),
) -> np.ndarray:
    """The largest error for each ε = 10 to the power of an exponent: (exponent, 2), ε and error."""
    nudging, gradient = Nudging(net, name, dtype), _gradients(net)[name]
    found = []
    for eps in (10.0**power for power in exponents):
        cells = _nudged_cells(nudging, gradient, index, eps)
        found.append((eps, Check(tuple(cells)).error))
    return np.array(found)


EFFORT = 120
"""Modules times cells up to which the curve is that of the worst cell of a value."""


def is_of_cell(net: Graph, name: str) -> bool:
    """Whether the curve of a value is that of one cell, and not of the worst of all."""
    return not net[name].shape or prod(net[name].shape) * len(net.tape.modules) > EFFORT


def error_curves(net: Graph, name: str, index: Sequence[int]) -> dict[str, np.ndarray]:
    """The error over ε in both precisions, (ε, 2), under a name that says of what.

    It is the largest error among all cells of a value, or that of the one cell where there are many.
    """
    of_cell = is_of_cell(net, name)
    of = "this cell" if of_cell else "worst cell"
    return {
        f"{kind.__name__}, {of}": errors_over_epsilon(net, name, index if of_cell else None, kind)
        for kind in (np.float64, np.float32)
    }


def agreeing_digits(first: float, second: float) -> int:
    """How many leading digits two numbers share, from 0 to 16."""
    return _digits(abs(first - second), max(abs(first), abs(second)))


def _digits(error: float, size: float) -> int:
    if not (math.isfinite(error) and math.isfinite(size)):
        return 0
    if error == 0:
        return 16
    if size == 0:
        return 0
    return int(min(16, max(0, math.floor(-math.log10(error / size)))))


class Nudging:
    """A copy of a network, of which only what follows from the nudged value is computed anew.

    `dtype` is the precision in which it computes. The network itself is left as it is.
    """

    def __init__(self, net: Graph, name: str, dtype: Any = np.float64) -> None:
        self.name = name
        self._net = net.copy(dtype=dtype).forward()
        self._node = self._net[name]
        self._before = self._node.numbers
        self._following = _following(self._net, self._node)

    def cell(self, index: Sequence[int]) -> tuple[int, ...]:
        """A cell of the value; LmvizError where it has no such cell."""
        return self._node.cell(index)

    def loss(self, cell: tuple[int, ...], by: float) -> float:
        """The output with one cell changed by so much from what it was before."""
        changed = self._before.copy()
        changed[cell] += by
        self._node.value = changed
        for node in self._following:
            node.apply()
        return self._net.loss


def _following(net: Graph, start: Node) -> tuple[Node, ...]:
    """The modules that a value reaches, in the order of computation."""
    reached = {start}
    for node in net.tape.modules:
        if not reached.isdisjoint(node.inputs):
            reached.add(node)
    return tuple(node for node in net.tape.modules if node in reached - {start})
