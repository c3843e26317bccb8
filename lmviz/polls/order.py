"""The experiment of the position poll: two words change places before one that attends to them.

Real attention, small enough for the board: W_k = W_v = I, and W_q turns the last vector into the query given,
and what is at right angles to it into 0. In a second layer the same matrices read what the first has added to
its residual stream. Scaled dot-product attention is that of Vaswani et al. (2017).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lmviz.base.errors import LmvizError

LAYERS = (1, 2)
MOST_WORDS, MOST_CHANNELS = 6, 6


@dataclass(frozen=True, eq=False)
class AttendedWords:
    """What attention made of words in one order, layer by layer, the first layer first.

    `inputs`, `outputs` are (layer, position, channel) and `weights` is (layer, query, key), each row of
    which adds up to 1. `outputs` are without the residual stream.
    """

    inputs: np.ndarray
    weights: np.ndarray
    outputs: np.ndarray

    @property
    def last(self) -> np.ndarray:
        """(channel,) What the last position has from the last layer."""
        return np.asarray(self.outputs[-1, -1])


@dataclass(frozen=True, eq=False)
class OrderExperiment:
    """Vectors (position, channel), the query of the last one (channel,), and two places that are exchanged.

    `swapped` are two different positions before the last, counted from 0. LmvizError says what does not fit.
    """

    vectors: np.ndarray
    query: np.ndarray
    swapped: tuple[int, int] = (1, 2)
    causal: bool = True
    layers: int = 1

    def __post_init__(self) -> None:
        words, channels = self.vectors.shape
        if not (3 <= words <= MOST_WORDS and 1 <= channels <= MOST_CHANNELS):
            raise LmvizError(
                f"The experiment takes 3 to {MOST_WORDS} vectors of at most {MOST_CHANNELS} numbers: "
                f"write as many, not {words} of {channels}."
            )
        if self.query.shape != (channels,):
            raise LmvizError(
                f"The query has {len(self.query)} numbers and the vectors have {channels}: "
                "give it as many as each vector has."
            )
        if not (np.isfinite(self.vectors).all() and np.isfinite(self.query).all()):
            raise LmvizError("Vectors and query must have finite numbers: write others.")
        if not np.any(self.vectors[-1]):
            raise LmvizError("The last vector is 0 and so has no query: give it a number other than 0.")
        with np.errstate(over="ignore", under="ignore"):
            square = self.vectors[-1] @ self.vectors[-1]
        if not 0 < square < np.inf:
            raise LmvizError("The last vector is too small or too large to be divided by: write another.")
        first, second = self.swapped
        if first == second or not (0 <= first < words - 1 and 0 <= second < words - 1):
            raise LmvizError(
                f"Places {first + 1} and {second + 1} cannot be exchanged: choose two of 1 to {words - 1}."
            )
        if self.layers not in LAYERS:
            raise LmvizError(f"The experiment has one layer or two, not {self.layers}: write 1 or 2.")

    @property
    def order(self) -> np.ndarray:
        """(position,) Which vector stands at each place once two have been exchanged."""
        order = np.arange(len(self.vectors))
        order[list(self.swapped)] = order[list(self.swapped[::-1])]
        return order

    @cached_property
    def before(self) -> AttendedWords:
        """The words as they are written."""
        return self._attend(self.vectors)

    @cached_property
    def after(self) -> AttendedWords:
        """The same words when two of them have changed places."""
        return self._attend(self.vectors[self.order])

    @property
    def weights_kept(self) -> np.ndarray:
        """(channel,) What the last position would have if the weights stayed at their places: a mistake."""
        return np.asarray(self.before.weights[-1, -1] @ self.before.inputs[-1][self.order])

    @property
    def is_unchanged(self) -> bool:
        """Whether the exchange makes no difference to the last position."""
        return bool(np.allclose(self.before.last, self.after.last, rtol=0, atol=1e-9))

    def queries(self, stream: np.ndarray) -> np.ndarray:
        """W_q times what stands in the stream, (position, channel)."""
        last = self.vectors[-1]
        return np.outer(stream @ last / (last @ last), self.query)

    def _attend(self, vectors: np.ndarray) -> AttendedWords:
        stream, inputs, weights, outputs = vectors, [], [], []
        for _ in range(self.layers):
            shares = _softmax(self._masked(self.queries(stream) @ stream.T / np.sqrt(stream.shape[1])))
            inputs.append(stream)
            weights.append(shares)
            outputs.append(shares @ stream)
            stream = stream + outputs[-1]
        return AttendedWords(np.stack(inputs), np.stack(weights), np.stack(outputs))

    def _masked(self, scores: np.ndarray) -> np.ndarray:
        """Scores (query, key), −∞ for keys that come later where the mask is on."""
        return np.where(np.tri(len(scores), dtype=bool), scores, -np.inf) if self.causal else scores


def _softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))
