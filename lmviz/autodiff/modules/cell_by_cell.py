"""Sums and products of several values, cell by cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lmviz.autodiff.modules.module import Formula, Module, gradient_of
from lmviz.autodiff.modules.shapes import Shape, broadcast, fitted
from lmviz.autodiff.modules.use import NamedArray, Use, places
from lmviz.models.arithmetic import Factor, Terms, constant


class Add(Module):
    """the sum of its inputs"""

    word, arguments, many = "add", ("a", "b"), True

    def shape(self, *shapes: Shape) -> Shape:
        return broadcast(self.word, shapes)

    def forward(self, *inputs: np.ndarray) -> np.ndarray:
        total = inputs[0]
        for other in inputs[1:]:
            total = total + other
        return np.array(total)

    def backward(self, gradient: np.ndarray, output: np.ndarray, *inputs: np.ndarray) -> list[np.ndarray]:
        return [fitted(gradient, value.shape) for value in inputs]

    def explain(self, use: Use, index: tuple[int, ...]) -> Formula:
        return Formula(tuple(Terms(each.source, (_own(each, index),)) for each in use.inputs))

    def equations(self, output: str, inputs: Sequence[str]) -> list[str]:
        return [gradient_of(output) for _ in inputs]

    def torch(self, inputs: Sequence[str], shapes: Sequence[Shape]) -> str:
        return " + ".join(inputs)


class Subtract(Module):
    """the first less the second"""

    word, arguments = "subtract", ("a", "b")

    def shape(self, *shapes: Shape) -> Shape:
        return broadcast(self.word, shapes)

    def forward(self, *inputs: np.ndarray) -> np.ndarray:
        a, b = inputs
        return np.array(a - b)

    def backward(self, gradient: np.ndarray, output: np.ndarray, *inputs: np.ndarray) -> list[np.ndarray]:
        a, b = inputs
        return [fitted(gradient, a.shape), -fitted(gradient, b.shape)]

    def explain(self, use: Use, index: tuple[int, ...]) -> Formula:
        a, b = use.inputs
        return Formula(
            (Terms("", (_own(a, index),)), Terms("", (constant(-1.0), _own(b, index)))),
        )

    def equations(self, output: str, inputs: Sequence[str]) -> list[str]:
        return [gradient_of(output), f"-{gradient_of(output)}"]

    def torch(self, inputs: Sequence[str], shapes: Sequence[Shape]) -> str:
        return f"{inputs[0]} - {inputs[1]}"


class Multiply(Module):
    """the product of its inputs, cell by cell"""

    word, arguments, many = "multiply", ("a", "b"), True

    def shape(self, *shapes: Shape) -> Shape:
        return broadcast(self.word, shapes)

    def forward(self, *inputs: np.ndarray) -> np.ndarray:
        product = inputs[0]
        for other in inputs[1:]:
            product = product * other
        return np.array(product)

    def backward(self, gradient: np.ndarray, output: np.ndarray, *inputs: np.ndarray) -> list[np.ndarray]:
        handed = []
        for place, value in enumerate(inputs):
            others = gradient
            for other in inputs[:place] + inputs[place + 1 :]:
                others = others * other
            handed.append(fitted(others, value.shape))
        return handed

    def explain(self, use: Use, index: tuple[int, ...]) -> Formula:
        return Formula((Terms("", tuple(_own(each, index) for each in use.inputs)),))

    def explain_gradient(self, use: Use, place: int, index: tuple[int, ...]) -> tuple[Factor, ...]:
        cells = places(use.output.array.shape)
        own = cells[:, cells.shape[1] - len(index) :]
        cells = cells[(own == np.array(index, dtype=np.int64)).all(axis=1)]
        others = use.inputs[:place] + use.inputs[place + 1 :]
        repeated = [each.factor(cells[:, cells.shape[1] - each.array.ndim :]) for each in others]
        return use.output_gradient.factor(cells), *repeated

    def equations(self, output: str, inputs: Sequence[str]) -> list[str]:
        return [
            r" \odot ".join([gradient_of(output), *inputs[:place], *inputs[place + 1 :]])
            for place in range(len(inputs))
        ]

    def torch(self, inputs: Sequence[str], shapes: Sequence[Shape]) -> str:
        return " * ".join(inputs)


def _own(operand: NamedArray, index: tuple[int, ...]) -> Factor:
    """The cell of an input that goes into a cell of the output."""
    return operand.cell(index[len(index) - operand.array.ndim :])
