"""Scaled dot-product attention (Vaswani et al. 2017) as one module."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lmviz.autodiff.modules.module import Formula, Module, gradient_of
from lmviz.autodiff.modules.shapes import Shape, ShapeFault, in_words, need_axis, need_matrix
from lmviz.autodiff.modules.softmax import handed_back, seen, shares
from lmviz.autodiff.modules.use import Use
from lmviz.models.arithmetic import Factor, Terms


class Attention(Module):
    """values mixed by softmax(query · keys / √width); queries are one vector or the rows of a matrix"""

    word, arguments = "attention", ("query", "keys", "values")

    def shape(self, *shapes: Shape) -> Shape:
        query, keys, values = shapes
        need_axis(self.word, query)
        need_matrix(self.word, "keys", keys)
        need_matrix(self.word, "values", values)
        if query[-1] != keys[1]:
            raise ShapeFault(
                f"{self.word} compares queries of width {query[-1]} with keys of width {keys[1]}: they need "
                "the same width."
            )
        if keys[0] != values[0]:
            raise ShapeFault(
                f"{self.word} has {keys[0]} keys and {values[0]} values: each key needs a value."
            )
        return (*query[:-1], values[1])

    def forward(self, *inputs: np.ndarray) -> np.ndarray:
        query, keys, values = inputs
        return self.mixture(query, keys) @ values

    def backward(self, gradient: np.ndarray, output: np.ndarray, *inputs: np.ndarray) -> list[np.ndarray]:
        query, keys, values = inputs
        weights = self.mixture(query, keys)
        scores = handed_back(gradient @ values.T, weights) / np.sqrt(keys.dtype.type(keys.shape[1]))
        return [
            scores @ keys,
            np.atleast_2d(scores).T @ np.atleast_2d(query),
            np.atleast_2d(weights).T @ np.atleast_2d(gradient),
        ]

    def mixture(self, query: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """The weights of the values, (…, key)."""
        return shares(query @ keys.T / np.sqrt(keys.dtype.type(keys.shape[1])))

    def explain(self, use: Use, index: tuple[int, ...]) -> Formula:
        query, keys, values = use.inputs
        weights = self.mixture(query.array, keys.array)[index[:-1]]
        share = Factor("constant", np.zeros((len(weights), 0), dtype=np.int64), weights.astype(np.float64))
        column = values.factor([(key, index[-1]) for key in range(len(weights))])
        return Formula((Terms("weight × value", (share, column)),))

    def equations(self, output: str, inputs: Sequence[str]) -> list[str]:
        query, keys, _ = inputs
        g = gradient_of(output)
        return [rf"g_s {keys} / \sqrt{{d}}", rf"g_s^T {query} / \sqrt{{d}}", rf"w^T {g}"]

    def torch(self, inputs: Sequence[str], shapes: Sequence[Shape]) -> str:
        query, keys, values = inputs
        return f"torch.softmax({query} @ {keys}.T / {keys}.shape[1] ** 0.5, dim=-1) @ {values}"


class CausalAttention(Attention):
    """the same with no weight on keys that come after the query"""

    word = "causal_attention"

    def shape(self, *shapes: Shape) -> Shape:
        query, keys, _ = shapes
        found = super().shape(*shapes)
        if len(query) != 2 or query[0] != keys[0]:
            raise ShapeFault(
                f"causal_attention needs as many queries as keys, but these are {in_words(query)} and "
                f"{in_words(keys)}."
            )
        return found

    def mixture(self, query: np.ndarray, keys: np.ndarray) -> np.ndarray:
        scores = query @ keys.T / np.sqrt(keys.dtype.type(keys.shape[1]))
        return shares(np.where(seen(scores.shape), scores, scores.dtype.type(-np.inf)))

    def torch(self, inputs: Sequence[str], shapes: Sequence[Shape]) -> str:
        query, keys, values = inputs
        later = f"torch.ones(len({query}), len({keys})).triu(1).bool()"
        scores = f"({query} @ {keys}.T / {keys}.shape[1] ** 0.5).masked_fill({later}, -torch.inf)"
        return f"torch.softmax({scores}, dim=-1) @ {values}"
