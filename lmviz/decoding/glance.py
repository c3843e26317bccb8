"""The likeliest tokens only, found without sorting the whole vocabulary."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lmviz.decoding.distribution import checked_logits
from lmviz.models.largest import largest


@dataclass(frozen=True, eq=False)
class Glance:
    """What follows from `logits` (token,) without filters, at temperature 1.

    `ids` are the likeliest tokens, ties by id, and `probabilities` theirs, both (count,); `entropy` is
    Shannon's, in bits, over the whole vocabulary.
    """

    logits: np.ndarray
    ids: np.ndarray
    probabilities: np.ndarray
    entropy: float

    def probability_of(self, id: int) -> float:
        """The probability of any token."""
        first = self.ids[0]
        return float(self.probabilities[0] * np.exp(self.logits[id] - self.logits[first]))

    def probabilities_of_all(self) -> np.ndarray:
        """The probability of every token, (token,)."""
        return self.probabilities[0] * np.exp(self.logits - self.logits[self.ids[0]])


def glance(logits: np.ndarray, count: int) -> Glance:
    """The `count` likeliest tokens of logits (token,); LmvizError where they cannot be normalised."""
    logits = checked_logits(logits)
    shifted = logits - logits.max()
    weights = np.exp(shifted)
    total = weights.sum()
    # A token that cannot follow has weight 0 and a logit of −inf, whose product would be no number.
    product = np.dot(weights, np.maximum(shifted, -np.finfo(np.float64).max))
    entropy = max(0.0, (math.log(total) - product / total) / math.log(2))
    ids = largest(logits, count)
    return Glance(logits, ids, weights[ids] / total, entropy)
