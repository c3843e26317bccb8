"""Softmax, and the mask that lets no position see a later one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lmviz.autodiff.modules.module import Formula, Module, gradient_of
from lmviz.autodiff.modules.shapes import Shape, ShapeFault, in_words, need_axis
from lmviz.autodiff.modules.use import Use
from lmviz.models.arithmetic import Factor, Terms, constant


def shares(scores: np.ndarray) -> np.ndarray:
    """exp of each score over the sum of its row; the largest is taken off first, so that none overflows."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def handed_back(gradient: np.ndarray, output: np.ndarray) -> np.ndarray:
    """The gradient of the scores: gᵀ(diag b − bbᵀ) for each row."""
    return output * (gradient - (gradient * output).sum(axis=-1, keepdims=True))


def seen(shape: Shape) -> np.ndarray:
    """Which keys each query sees, (query, key): none that come after it."""
    return np.tri(shape[0], shape[1]) > 0


class Softmax(Module):
    """each row made into shares that add up to 1"""

    word = "softmax"

    def shape(self, *shapes: Shape) -> Shape:
        need_axis(self.word, shapes[0])
        return shapes[0]

    def forward(self, *inputs: np.ndarray) -> np.ndarray:
        return shares(inputs[0])

    def backward(self, gradient: np.ndarray, output: np.ndarray, *inputs: np.ndarray) -> list[np.ndarray]:
        return [handed_back(gradient, output)]

    def explain(self, use: Use, index: tuple[int, ...]) -> Formula:
        scores = use.inputs[0]
        row = scores.factor([(*index[:-1], column) for column in range(scores.array.shape[-1])])
        return Formula((Terms("its own", (scores.cell(index),)), Terms("row", (row,))), rule="softmax")

    def explain_gradient(self, use: Use, place: int, index: tuple[int, ...]) -> tuple[Factor, ...]:
        columns = range(use.output.array.shape[-1])
        row = [(*index[:-1], column) for column in columns]
        own = np.array([1.0 if column == index[-1] else 0.0 for column in columns])
        # du_i/da_j = b_i (δ_ij − b_j)
        rest = own - float(use.output.array[index])
        local = Factor("constant", np.zeros((len(row), 0), dtype=np.int64), rest)
        return use.output_gradient.factor(row), use.output.factor(row), local

    def equations(self, output: str, inputs: Sequence[str]) -> list[str]:
        return [rf"{gradient_of(output)}^T (\operatorname{{diag}} {output} - {output} {output}^T)"]

    def torch(self, inputs: Sequence[str], shapes: Sequence[Shape]) -> str:
        return f"torch.softmax({inputs[0]}, dim=-1)"


class Causal(Module):
    """scores (query, key) with −∞ where the key comes after the query"""

    word, arguments = "causal", ("scores",)

    def shape(self, *shapes: Shape) -> Shape:
        (scores,) = shapes
        if len(scores) != 2 or scores[0] != scores[1]:
            raise ShapeFault(
                f"causal needs as many queries as keys, and this is {in_words(scores)}: give it the scores "
                "of every position with every position."
            )
        return scores

    def forward(self, *inputs: np.ndarray) -> np.ndarray:
        (scores,) = inputs
        return np.where(seen(scores.shape), scores, scores.dtype.type(-np.inf))

    def backward(self, gradient: np.ndarray, output: np.ndarray, *inputs: np.ndarray) -> list[np.ndarray]:
        return [np.where(seen(gradient.shape), gradient, 0)]

    def explain(self, use: Use, index: tuple[int, ...]) -> Formula:
        rule = "mask" if index[1] > index[0] else "sum"
        return Formula((Terms("score", (use.inputs[0].cell(index),)),), rule=rule)

    def explain_gradient(self, use: Use, place: int, index: tuple[int, ...]) -> tuple[Factor, ...]:
        return use.output_gradient.cell(index), constant(1.0 if index[1] <= index[0] else 0.0)

    def equations(self, output: str, inputs: Sequence[str]) -> list[str]:
        return [rf"{gradient_of(output)} \; \text{{where key}} \leq \text{{query}}"]

    def torch(self, inputs: Sequence[str], shapes: Sequence[Shape]) -> str:
        upper = f"torch.ones_like({inputs[0]}).triu(1).bool()"
        return f"{inputs[0]}.masked_fill({upper}, -torch.inf)"
