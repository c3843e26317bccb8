"""One module whose backward is broken on purpose, to be found by checking modules."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lmviz.autodiff.checking import check_module
from lmviz.autodiff.modules.module import Formula, Module
from lmviz.autodiff.modules.shapes import Shape
from lmviz.autodiff.modules.use import Use
from lmviz.autodiff.network import Network
from lmviz.autodiff.node import Node

SIGN = "the sign is wrong"
FACTOR = "a factor is missing"
TRANSPOSE = "a matrix is transposed"
ONES = "its gradient begins at 1 instead of 0"


class BrokenModule(Module):
    """A module that computes as it should and hands back what is wrong to one of its inputs."""

    def __init__(self, module: Module, breakage: str, place: int) -> None:
        self.word = module.word  # type: ignore[misc]  # it stands for another module
        self.arguments = module.arguments  # type: ignore[misc]  # and takes what that takes
        self._module, self._breakage, self._place = module, breakage, place

    def shape(self, *shapes: Shape) -> Shape:
        return self._module.shape(*shapes)

    def forward(self, *inputs: np.ndarray) -> np.ndarray:
        return self._module.forward(*inputs)

    def backward(self, gradient: np.ndarray, output: np.ndarray, *inputs: np.ndarray) -> list[np.ndarray]:
        handed = list(self._module.backward(gradient, output, *inputs))
        right, value = handed[self._place], inputs[self._place]
        if self._breakage == SIGN:
            handed[self._place] = -right
        elif self._breakage == TRANSPOSE:
            handed[self._place] = right.T
        elif self._breakage == FACTOR:
            handed[self._place] = np.broadcast_to(_without_factor(gradient, value.shape), value.shape).copy()
        return handed

    def explain(self, use: Use, index: tuple[int, ...]) -> Formula:
        return self._module.explain(use, index)

    def equations(self, output: str, inputs: Sequence[str]) -> list[str]:
        return self._module.equations(output, inputs)

    def torch(self, inputs: Sequence[str], shapes: Sequence[Shape]) -> str:
        return self._module.torch(inputs, shapes)


@dataclass(frozen=True)
class Sabotage:
    """Which module was broken, and how."""

    name: str
    breakage: str


def sabotage(net: Network, seed: int) -> tuple[Network, Sabotage]:
    """A copy of a network with one module broken at random, in a way that its check can notice."""
    chance = random.Random(seed)
    ways = [way for node in net.tape.modules for way in _ways(net, node)]
    chance.shuffle(ways)
    for name, breakage, place in ways:
        broken = net.copy()
        _break(broken[name], breakage, place)
        broken.forward()
        if not check_module(broken, name).agrees:
            return broken, Sabotage(name, breakage)
    raise ValueError("no module of this network can be broken so that it shows")


def _ways(net: Network, node: Node) -> list[tuple[str, str, int]]:
    ways = [(node.name, ONES, 0)] if node is not net.output else []
    for place, input in enumerate(node.inputs):
        ways += [(node.name, SIGN, place), (node.name, FACTOR, place)]
        if len(input.shape) == 2 and input.shape[0] == input.shape[1]:
            ways.append((node.name, TRANSPOSE, place))
    return ways


def _break(node: Node, breakage: str, place: int) -> None:
    assert node.module is not None
    if breakage == ONES:
        node.begins_at = 1.0
    else:
        node.module = BrokenModule(node.module, breakage, place)


def _without_factor(gradient: np.ndarray, shape: Shape) -> np.ndarray:
    """The gradient alone, without the local derivative, in a shape that fits the input."""
    return gradient if gradient.shape == shape else np.asarray(gradient.sum())
