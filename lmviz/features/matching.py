"""Two dictionaries of the same states held beside one another: which features have a partner."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.features.dictionary import Dictionary
from lmviz.looks.shown import Shown

ROWS = 1024
"""So many features are compared at once."""

ALIKE, NEARLY_THE_SAME = 0.7, 0.9
"""Cosines from which on two features are called so."""


@dataclass(frozen=True, eq=False, repr=False)
class MatchedFeatures(Shown):
    """For each feature of one dictionary the nearest of another: `partners` and `cosines` (feature,)."""

    partners: np.ndarray
    cosines: np.ndarray

    def share(self, cosine: float) -> float:
        """The share of the features whose nearest is at least so near."""
        return float((self.cosines >= cosine).mean())


def match_features(one: Dictionary, other: Dictionary) -> MatchedFeatures:
    """The nearest of another dictionary by the directions that features write.

    LmvizError where they write states of different width.
    """
    if one.decoder.shape[1] != other.decoder.shape[1]:
        raise LmvizError(
            f"{one!r} and {other!r} write states of different width: open a dictionary of the same states."
        )
    partners, cosines = np.zeros(one.size, dtype=np.int64), np.zeros(one.size)
    for first in range(0, one.size, ROWS):
        found = one.directions[first : first + ROWS] @ other.directions.T
        partners[first : first + ROWS] = found.argmax(axis=1)
        cosines[first : first + ROWS] = found.max(axis=1)
    return MatchedFeatures(partners, cosines)
