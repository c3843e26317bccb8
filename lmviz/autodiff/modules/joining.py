"""Several values put together into one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lmviz.autodiff.modules.module import Formula, Module, gradient_of
from lmviz.autodiff.modules.shapes import Shape, ShapeFault, in_words, need_axis
from lmviz.autodiff.modules.use import Use
from lmviz.models.arithmetic import Terms


class Concatenate(Module):
    """vectors end to end; matrices side by side"""

    word, many = "concatenate", True

    def shape(self, *shapes: Shape) -> Shape:
        for shape in shapes:
            need_axis(self.word, shape)
            if shape[:-1] != shapes[0][:-1]:
                raise ShapeFault(
                    f"concatenate cannot put {in_words(shape)} beside {in_words(shapes[0])}: give them as "
                    "many rows."
                )
        return (*shapes[0][:-1], sum(shape[-1] for shape in shapes))

    def forward(self, *inputs: np.ndarray) -> np.ndarray:
        return np.concatenate(inputs, axis=-1)

    def backward(self, gradient: np.ndarray, output: np.ndarray, *inputs: np.ndarray) -> list[np.ndarray]:
        borders = np.cumsum([value.shape[-1] for value in inputs])[:-1]
        return list(np.split(gradient, borders, axis=-1))

    def explain(self, use: Use, index: tuple[int, ...]) -> Formula:
        left, place = index[-1], 0
        while left >= use.inputs[place].array.shape[-1]:
            left -= use.inputs[place].array.shape[-1]
            place += 1
        return Formula((Terms("", (use.inputs[place].cell((*index[:-1], left)),)),))

    def equations(self, output: str, inputs: Sequence[str]) -> list[str]:
        return [rf"\text{{its part of }} {gradient_of(output)}" for _ in inputs]

    def torch(self, inputs: Sequence[str], shapes: Sequence[Shape]) -> str:
        return f"torch.cat([{', '.join(inputs)}], dim=-1)"


class Stack(Module):
    """vectors as the rows of a matrix; numbers as the cells of a vector"""

    word, many = "stack", True

    def shape(self, *shapes: Shape) -> Shape:
        for shape in shapes:
            if shape != shapes[0] or len(shape) > 1:
                raise ShapeFault(
                    f"stack takes numbers, or vectors of one size, and not {in_words(shapes[0])} with "
                    f"{in_words(shape)}."
                )
        return (len(shapes), *shapes[0])

    def forward(self, *inputs: np.ndarray) -> np.ndarray:
        return np.stack(inputs)

    def backward(self, gradient: np.ndarray, output: np.ndarray, *inputs: np.ndarray) -> list[np.ndarray]:
        return [np.asarray(row) for row in gradient]

    def explain(self, use: Use, index: tuple[int, ...]) -> Formula:
        return Formula((Terms("", (use.inputs[index[0]].cell(index[1:]),)),))

    def equations(self, output: str, inputs: Sequence[str]) -> list[str]:
        return [rf"{gradient_of(output)}[{place}]" for place in range(len(inputs))]

    def torch(self, inputs: Sequence[str], shapes: Sequence[Shape]) -> str:
        return f"torch.stack([{', '.join(inputs)}])"
