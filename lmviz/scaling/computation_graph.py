"""The computation graph of one hidden layer over a text: that of a recurrent network and that of attention.

Both have a node for the input and one for the hidden state at each of T positions. An edge says that one
value is computed from another.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

FEEDFORWARD = 12
"""Multiplications of a Transformer layer for each token, in units of d²: those of its matrices."""


@dataclass(frozen=True)
class LayerGraph:
    """The edges into one hidden layer over `positions` tokens.

    `from_below` is (edge, 2): input position, state position. `from_before` is (edge, 2) among the states.
    """

    positions: int
    from_below: np.ndarray
    from_before: np.ndarray

    @property
    def edges(self) -> int:
        """How many edges there are."""
        return len(self.from_below) + len(self.from_before)

    @property
    def longest_path(self) -> int:
        """Edges on the longest way into the last state: how much of it cannot be computed at once."""
        return _longest(self)


def recurrent_graph(positions: int) -> LayerGraph:
    """h_t is computed from x_t and h_{t−1}."""
    own = np.arange(positions)
    below = np.stack([own, own], axis=1)
    return LayerGraph(positions, below, np.stack([own[:-1], own[1:]], axis=1))


def attention_graph(positions: int) -> LayerGraph:
    """h_t is computed from x_1 … x_t."""
    state, source = np.tril_indices(positions)
    below = np.stack([source, state], axis=1)
    return LayerGraph(positions, below, np.empty((0, 2), dtype=below.dtype))


def recurrent_edges(positions: int) -> int:
    """2T − 1."""
    return 2 * positions - 1


def attention_edges(positions: int) -> int:
    """T(T + 1) / 2."""
    return positions * (positions + 1) // 2


def crossing(width: int) -> int:
    """The length of text at which the scores and the mixture of a layer take as many multiplications as its
    matrices: 2 T² d, without the causal mask, equals 12 T d² at T = 6 d."""
    return FEEDFORWARD * width // 2


def _longest(graph: LayerGraph) -> int:
    """By dynamic programming over the states, which come in topological order."""
    longest = np.zeros(graph.positions, dtype=np.int64)
    longest[graph.from_below[:, 1]] = 1
    for before, after in graph.from_before:
        longest[after] = max(longest[after], longest[before] + 1)
    return int(longest.max(initial=0))
