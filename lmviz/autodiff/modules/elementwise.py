"""Functions of one number, applied to each cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from lmviz.autodiff.modules.module import Formula, Module, gradient_of
from lmviz.autodiff.modules.shapes import Shape
from lmviz.autodiff.modules.use import Use
from lmviz.models.arithmetic import Factor, Terms, constant


class Elementwise(Module):
    """The base: `function` is its name in `FUNCTIONS`, `slope` the factors of its derivative.

    A factor of the slope is "output" or "input" with a function of it, or a number.
    """

    function: ClassVar[str]
    slope: ClassVar[tuple[tuple[str, str] | float, ...]]
    latex: ClassVar[str]
    tensor: ClassVar[str]

    def shape(self, *shapes: Shape) -> Shape:
        return shapes[0]

    def explain(self, use: Use, index: tuple[int, ...]) -> Formula:
        return Formula((Terms("argument", (use.inputs[0].cell(index),)),), function=self.function)

    def explain_gradient(self, use: Use, place: int, index: tuple[int, ...]) -> tuple[Factor, ...]:
        factors = [use.output_gradient.cell(index)]
        for part in self.slope:
            if isinstance(part, float):
                factors.append(constant(part))
            else:
                operand = use.output if part[0] == "output" else use.inputs[0]
                factors.append(operand.cell(index, part[1]))
        return tuple(factors)

    def equations(self, output: str, inputs: Sequence[str]) -> list[str]:
        return [gradient_of(output) + self.latex.format(a=inputs[0], b=output)]

    def torch(self, inputs: Sequence[str], shapes: Sequence[Shape]) -> str:
        return self.tensor.format(inputs[0])


class Sigmoid(Elementwise):
    """σ(a) = 1 / (1 + e^−a)"""

    word, function, tensor = "sigmoid", "sigmoid", "torch.sigmoid({})"
    slope = (("output", ""), ("output", "one minus"))
    latex = r" \odot {b} \odot (1 - {b})"

    def forward(self, *inputs: np.ndarray) -> np.ndarray:
        (a,) = inputs
        return 1 / (1 + np.exp(-a))

    def backward(self, gradient: np.ndarray, output: np.ndarray, *inputs: np.ndarray) -> list[np.ndarray]:
        return [gradient * output * (1 - output)]


class Tanh(Elementwise):
    """the hyperbolic tangent"""

    word, function, tensor = "tanh", "tanh", "torch.tanh({})"
    slope = (("output", "one minus square"),)
    latex = r" \odot (1 - {b}^2)"

    def forward(self, *inputs: np.ndarray) -> np.ndarray:
        (a,) = inputs
        return np.tanh(a)

    def backward(self, gradient: np.ndarray, output: np.ndarray, *inputs: np.ndarray) -> list[np.ndarray]:
        return [gradient * (1 - output**2)]


class Relu(Elementwise):
    """the larger of a and 0"""

    word, function, tensor = "relu", "relu", "torch.relu({})"
    slope = ()
    latex = r" \odot [{a} > 0]"

    def explain_gradient(self, use: Use, place: int, index: tuple[int, ...]) -> tuple[Factor, ...]:
        is_open = use.inputs[0].array[index] > 0
        return use.output_gradient.cell(index), constant(1.0 if is_open else 0.0)

    def forward(self, *inputs: np.ndarray) -> np.ndarray:
        (a,) = inputs
        return np.maximum(a, 0)

    def backward(self, gradient: np.ndarray, output: np.ndarray, *inputs: np.ndarray) -> list[np.ndarray]:
        (a,) = inputs
        return [gradient * (a > 0)]


class Identity(Elementwise):
    """a itself"""

    word, function, tensor = "identity", "", "{}"
    slope: ClassVar[tuple[tuple[str, str] | float, ...]] = ()
    latex = ""

    def forward(self, *inputs: np.ndarray) -> np.ndarray:
        return inputs[0].copy()

    def backward(self, gradient: np.ndarray, output: np.ndarray, *inputs: np.ndarray) -> list[np.ndarray]:
        return [gradient]


class Stop(Identity):
    """a itself, but no gradient goes back through it, as where backpropagation through time is truncated"""

    word, tensor = "stop", "{}.detach()"
    slope = (0.0,)

    def backward(self, gradient: np.ndarray, output: np.ndarray, *inputs: np.ndarray) -> list[np.ndarray]:
        return [np.zeros_like(gradient)]

    def equations(self, output: str, inputs: Sequence[str]) -> list[str]:
        return ["0"]


class Log(Elementwise):
    """the natural logarithm"""

    word, function, tensor = "log", "log", "torch.log({})"
    slope = (("input", "reciprocal"),)
    latex = r" \div {a}"

    def forward(self, *inputs: np.ndarray) -> np.ndarray:
        (a,) = inputs
        return np.log(a)

    def backward(self, gradient: np.ndarray, output: np.ndarray, *inputs: np.ndarray) -> list[np.ndarray]:
        (a,) = inputs
        return [gradient / a]


class Exp(Elementwise):
    """e to the power of a"""

    word, function, tensor = "exp", "exp", "torch.exp({})"
    slope = (("output", ""),)
    latex = r" \odot {b}"

    def forward(self, *inputs: np.ndarray) -> np.ndarray:
        (a,) = inputs
        return np.exp(a)

    def backward(self, gradient: np.ndarray, output: np.ndarray, *inputs: np.ndarray) -> list[np.ndarray]:
        return [gradient * output]


class Square(Elementwise):
    """a times itself"""

    word, function, tensor = "square", "square", "torch.square({})"
    slope = (2.0, ("input", ""))
    latex = r" \odot 2 {a}"

    def forward(self, *inputs: np.ndarray) -> np.ndarray:
        (a,) = inputs
        return a * a

    def backward(self, gradient: np.ndarray, output: np.ndarray, *inputs: np.ndarray) -> list[np.ndarray]:
        (a,) = inputs
        return [gradient * 2 * a]
