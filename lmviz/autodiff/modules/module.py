"""The base of every module: forward, backward, and the explanation of both."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lmviz.autodiff.modules.shapes import Shape
from lmviz.autodiff.modules.use import Use, places
from lmviz.models.arithmetic import Factor, Terms


@dataclass(frozen=True, eq=False)
class Formula:
    """How a cell comes from its operands: `function(rule(terms))`, as in `Arithmetic`."""

    terms: tuple[Terms, ...]
    rule: str = "sum"
    function: str = ""


class Module(ABC):
    """One kind of computation. A module holds no numbers: they go in and come out.

    `word` is its name in the language and `arguments` are those of its inputs, of which the last
    `optional` may be left out; with `many` the last may be repeated. An array in one of the places
    `weights` is a parameter unless the text says otherwise.
    """

    word: ClassVar[str]
    arguments: ClassVar[tuple[str, ...]] = ("a",)
    optional: ClassVar[int] = 0
    many: ClassVar[bool] = False
    weights: ClassVar[frozenset[int]] = frozenset()

    @abstractmethod
    def shape(self, *shapes: Shape) -> Shape:
        """The shape of the output; ShapeFault where the inputs do not fit."""

    @abstractmethod
    def forward(self, *inputs: np.ndarray) -> np.ndarray:
        """The output."""

    @abstractmethod
    def backward(self, gradient: np.ndarray, output: np.ndarray, *inputs: np.ndarray) -> list[np.ndarray]:
        """The gradient of each input, from that of the output."""

    @abstractmethod
    def explain(self, use: Use, index: tuple[int, ...]) -> Formula:
        """The operands of one cell of the output."""

    def explain_gradient(self, use: Use, place: int, index: tuple[int, ...]) -> tuple[Factor, ...]:
        """The factors of what is handed back to one cell of the input at a place, one term for each cell
        of the output: *its gradient × local derivative*.

        Backward is linear in the gradient, so that gradients of a single 1 show each local derivative.
        """
        inputs = [operand.array for operand in use.inputs]
        cells = places(use.output.array.shape)
        slopes = np.zeros(len(cells))
        for which, cell in enumerate(cells):
            single = np.zeros_like(use.output.array)
            single[tuple(cell)] = 1
            slopes[which] = self.backward(single, use.output.array, *inputs)[place][index]
        kept = np.flatnonzero(slopes)
        if not len(kept):
            kept = np.arange(1)
        local = Factor("constant", np.zeros((len(kept), 0), dtype=np.int64), slopes[kept])
        return use.output_gradient.factor(cells[kept]), local

    @abstractmethod
    def equations(self, output: str, inputs: Sequence[str]) -> list[str]:
        """In LaTeX what is handed back to each input, from the names of output and inputs."""

    @abstractmethod
    def torch(self, inputs: Sequence[str], shapes: Sequence[Shape]) -> str:
        """The same as an expression of PyTorch, from the names and shapes of the inputs."""


def gradient_of(name: str) -> str:
    """The gradient of a value in LaTeX, from the name of the value."""
    return f"g_{{{name}}}"
