"""Gradient descent on a small network: one step, a training, and the loss as a surface."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lmviz.autodiff.graph import Graph
from lmviz.autodiff.node import Node
from lmviz.errors import LmvizError

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
    if not math.isfinite(rate):
        raise LmvizError("A rate is a finite number, such as 0.1.")
    here = net.copy().backward()
    moved = {node.name: node.numbers - rate * gradient for node, gradient in _gradients(here)}
    squares = sum(float((gradient**2).sum()) for _, gradient in _gradients(here))
    after = here.copy(moved).forward().loss
    return DescentStep(rate, here.loss, after, here.loss - rate * squares, moved)


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
    for _ in range(steps):
        step = descend(trained, rate)
        yield step
        if not math.isfinite(step.after):
            return
        move_to(trained, step.parameters)


def _gradients(net: Graph) -> list[tuple[Node, np.ndarray]]:
    """The parameters with their gradients, once the sweep is over."""
    return [(node, node.gradient) for node in net.parameters if node.gradient is not None]


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
    net: Graph, across: Direction, up: Direction, path: Sequence[Parameters] = (), points: int = 25
) -> Surface:
    """The loss of a network with two of its parameters moved, and all others as they are.

    The place holds the path, and as much again around it. LmvizError for one and the same parameter.
    """
    if across == up:
        raise LmvizError("A surface needs two different parameters.")
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
    low, high = min(values), max(values)
    room = max(high - low, 1.0) * 0.75
    return np.linspace(low - room, high + room, points)
