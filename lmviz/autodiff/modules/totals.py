"""All cells of a value made into one number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lmviz.autodiff.modules.module import Formula, Module, gradient_of
from lmviz.autodiff.modules.shapes import Shape
from lmviz.autodiff.modules.use import Use, places
from lmviz.models.arithmetic import Terms, constant


class Sum(Module):
    """the sum of all cells"""

    word = "sum"

    def shape(self, *shapes: Shape) -> Shape:
        return ()

    def forward(self, *inputs: np.ndarray) -> np.ndarray:
        return np.asarray(inputs[0].sum())

    def backward(self, gradient: np.ndarray, output: np.ndarray, *inputs: np.ndarray) -> list[np.ndarray]:
        return [np.broadcast_to(gradient, inputs[0].shape).copy()]

    def explain(self, use: Use, index: tuple[int, ...]) -> Formula:
        cells = use.inputs[0].factor(places(use.inputs[0].array.shape))
        return Formula((Terms("cells", (cells,)),))

    def equations(self, output: str, inputs: Sequence[str]) -> list[str]:
        return [gradient_of(output)]

    def torch(self, inputs: Sequence[str], shapes: Sequence[Shape]) -> str:
        return f"{inputs[0]}.sum()"


class Mean(Module):
    """the mean of all cells"""

    word = "mean"

    def shape(self, *shapes: Shape) -> Shape:
        return ()

    def forward(self, *inputs: np.ndarray) -> np.ndarray:
        return np.asarray(inputs[0].mean())

    def backward(self, gradient: np.ndarray, output: np.ndarray, *inputs: np.ndarray) -> list[np.ndarray]:
        (a,) = inputs
        return [np.broadcast_to(gradient / a.size, a.shape).copy()]

    def explain(self, use: Use, index: tuple[int, ...]) -> Formula:
        a = use.inputs[0]
        share = constant(1 / a.array.size, a.array.size)
        return Formula((Terms("cells", (a.factor(places(a.array.shape)), share)),))

    def equations(self, output: str, inputs: Sequence[str]) -> list[str]:
        return [rf"\frac{{1}}{{N}} {gradient_of(output)}"]

    def torch(self, inputs: Sequence[str], shapes: Sequence[Shape]) -> str:
        return f"{inputs[0]}.mean()"
