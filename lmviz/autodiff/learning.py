"""Gradient descent on a small network: one step, a training, and the loss as a surface."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np

from lmviz.autodiff.graph import Graph
from lmviz.autodiff.node import Node
from lmviz.base.arguments import whole_number
from lmviz.base.errors import LmvizError

EFFORT = 6_000
"""Modules that are computed for one surface, so that it takes tens of milliseconds."""

FEWEST_POINTS, MOST_POINTS = 7, 25

Parameters = Mapping[str, np.ndarray]
"""The numbers of each parameter by its name."""


@dataclass(frozen=True)
class DescentStep:
    """One step θ ← θ − η g: the loss before and after, and what a straight line says of it."""

    rate: float
    before: float
    after: float
    predicted: float
    parameters: Parameters


def parameters_of(net: Graph) -> dict[str, np.ndarray]:
    """The numbers of each parameter now."""
    return {node.name: node.numbers.copy() for node in net.parameters}


def descend(net: Graph, rate: float) -> DescentStep:
    """What one step of gradient descent with a rate would do; the network is left as it is.

    A straight line predicts J − η |g|². LmvizError where the network has no parameter or the rate is
    not finite.
    """
    if not net.parameters:
        raise LmvizError("The network has no parameter to learn: write `parameter` before one of its inputs.")
    if not isinstance(rate, Real) or not math.isfinite(rate):
        raise LmvizError(f"A rate is a finite number, such as 0.1, and not {rate!r}.")
    here = net.copy().backward()
    moved = {node.name: _short(node.numbers - rate * gradient) for node, gradient in _gradients(here)}
    squares = sum(float((gradient**2).sum()) for _, gradient in _gradients(here))
    after = here.copy(moved).forward().loss
    return DescentStep(rate, here.loss, after, here.loss - rate * squares, moved)


def _short(numbers: np.ndarray) -> np.ndarray:
    """The same to 15 digits: 1 − 0.09 is 0.91 in the program, and not 0.9100000000000001."""
    return np.array([float(f"{number:.15g}") for number in numbers.ravel()]).reshape(numbers.shape)


def losses_along(net: Graph, rates: Sequence[float]) -> np.ndarray:
    """The loss after one step with each of several rates, (rate,)."""
    here = net.copy().backward()
    found = []
    for rate in rates:
        moved = {node.name: node.numbers - rate * gradient for node, gradient in _gradients(here)}
        found.append(here.copy(moved).forward().loss)
    return np.array(found)


def move_to(net: Graph, parameters: Parameters) -> Graph:
    """Give a network other parameters; all that follows is computed again, as far as its tape had come."""
    for name, value in parameters.items():
        net[name].value = np.array(value)
    return net.refresh()


def train(net: Graph, rate: float, steps: int) -> Iterator[DescentStep]:
    """Step after step of gradient descent from the network's own parameters, which stay as they are.

    It ends early where the loss is no longer finite.
    """
    trained = net.copy()
    for _ in range(whole_number("steps", steps)):
        step = descend(trained, rate)
        yield step
        if not math.isfinite(step.after):
            return
        move_to(trained, step.parameters)


def _gradients(net: Graph) -> list[tuple[Node, np.ndarray]]:
    """The parameters with their gradients, once the sweep is over."""
    return [(node, node.gradient) for node in net.parameters if node.gradient is not None]


def inputs_of(net: Graph) -> dict[str, np.ndarray]:
    """The numbers of everything that is given, parameters included."""
    return {node.name: node.numbers.copy() for node in (*net.inputs, *net.parameters)}


@dataclass(frozen=True)
class Direction:
    """One cell of a parameter."""

    name: str
    index: tuple[int, ...]

    def of(self, parameters: Parameters) -> float:
        """Its number among those of all parameters."""
        return float(parameters[self.name][self.index])


def directions(net: Graph) -> tuple[Direction, ...]:
    """Every cell of every parameter."""
    return tuple(Direction(node.name, cell) for node in net.parameters for cell in np.ndindex(*node.shape))


@dataclass(frozen=True, eq=False)
class Surface:
    """The loss over two parameters: `losses` is (second, first), at the places `first` and `second`."""

    first: np.ndarray
    second: np.ndarray
    losses: np.ndarray


def surface(
    net: Graph, across: Direction, up: Direction, path: Sequence[Parameters] = (), points: int = 0
) -> Surface:
    """The loss of a network with two of its parameters moved, and all others as they are.

    The place holds the path, and as much again around it. There are as many `points` on each side as can
    be computed at once, unless it is said how many. LmvizError for one and the same parameter.
    """
    if across == up:
        raise LmvizError("A surface needs two different parameters.")
    points = points or int(min(MOST_POINTS, max(FEWEST_POINTS, (EFFORT / len(net.tape.modules)) ** 0.5)))
    here = parameters_of(net)
    axes = [_around([each.of(place) for place in (here, *path)], points) for each in (across, up)]
    moved = net.copy(here)
    losses = np.empty((points, points))
    for row, second in enumerate(axes[1]):
        for column, first in enumerate(axes[0]):
            moved[across.name].numbers[across.index] = first
            moved[up.name].numbers[up.index] = second
            losses[row, column] = moved.forward().loss
    return Surface(axes[0], axes[1], losses)


def _around(values: Sequence[float], points: int) -> np.ndarray:
    """Evenly spaced places that hold some values with room on both sides."""
    finite = [value for value in values if math.isfinite(value)] or [0.0]
    low, high = min(finite), max(finite)
    room = max(high - low, 1.0) * 0.75
    return np.linspace(low - room, high + room, points)


def steepest(net: Graph) -> tuple[Direction, Direction] | None:
    """The two cells of parameters with the largest gradients; None where there are no two."""
    here = net.copy().backward()
    found = [
        (-abs(float(gradient[cell])), Direction(node.name, cell))
        for node, gradient in _gradients(here)
        for cell in np.ndindex(*node.shape)
    ]
    found.sort(key=lambda pair: pair[0])
    return (found[0][1], found[1][1]) if len(found) > 1 else None


@dataclass(frozen=True, eq=False)
class StepCurve:
    """The loss after one step with each of several rates, and where a straight line leads; all (rate,)."""

    rates: np.ndarray
    losses: np.ndarray
    line: np.ndarray


def step_curve(net: Graph, rate: float, points: int = 25) -> StepCurve:
    """Losses for rates from a little below 0 up to several times a rate."""
    step = descend(net, rate)
    rates = np.linspace(-rate, max(6 * rate, 1e-6), points)
    slope = (step.predicted - step.before) / rate if rate else 0.0
    return StepCurve(rates, losses_along(net, rates.tolist()), step.before + slope * rates)
