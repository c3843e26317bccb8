"""What probes read at the places of one text: labels with their probabilities, layer by layer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class ProbeReading:
    """The labels that the probe of each place reads at each position.

    `places` are tap addresses in the order of computation, `positions` those that were read, `names` the
    labels. `scores` (place, position, label) are what the probes compute, w · h + b, `biases` (place, label)
    the b in it.
    """

    places: tuple[str, ...]
    positions: tuple[int, ...]
    names: tuple[str, ...]
    scores: np.ndarray
    biases: np.ndarray

    @property
    def shares(self) -> np.ndarray:
        """(place, position, label) the probability of each label, the softmax of the scores."""
        powers = np.exp(self.scores - self.scores.max(axis=-1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=-1, keepdims=True))

    @property
    def likeliest(self) -> np.ndarray:
        """(place, position) which label is read."""
        return np.asarray(self.scores.argmax(axis=-1))
