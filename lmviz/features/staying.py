"""Whether features stay on over the words: what remembers would be on for long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.features.dictionary import Dictionary
from lmviz.features.feature_pass import FeaturePass
from lmviz.looks.shown import Shown
from lmviz.models.interruption import look_up, uncounted_work
from lmviz.models.model import Model

WORDS_ON = 12


@dataclass(frozen=True, eq=False, repr=False)
class StayingFeatures(Shown):
    """How long features stay on over `tokens` tokens of texts.

    `still` (distance,) is the share of firings at which the same feature is on so many tokens later, from 1
    on, among those whose text goes on so far. `chance` is that share for two tokens of different texts.
    `longest` (feature,) is how many tokens a stay lasts, the mean over the tokens of all its stays with one
    token of a gap allowed; NaN for a feature that never fires. `stays` (feature,) are how many there are.
    """

    still: np.ndarray
    chance: float
    longest: np.ndarray
    stays: np.ndarray
    tokens: int

    @property
    def best(self) -> int:
        """The feature that stays longest of those with at least eight stays, of all where none has."""
        many = np.where(self.stays >= 8, np.nan_to_num(self.longest), 0.0)
        return int(np.argmax(many if many.any() else np.nan_to_num(self.longest)))


def staying_features(
    model: Model, dictionary: Dictionary, rows: Sequence[np.ndarray], distances: int = WORDS_ON
) -> Iterator[StayingFeatures]:
    """How long features stay on over rows of ids (token,), known better after each batch."""
    read = FeaturePass(model, dictionary)
    on = np.zeros(dictionary.size, dtype=np.int64)
    again, asked = np.zeros(distances), np.zeros(distances)
    lengths, squares, stays = (np.zeros(dictionary.size) for _ in range(3))
    tokens = 0
    for number, batch in enumerate(read.batches(rows)):
        look_up(number * len(batch) / len(rows))
        with uncounted_work():
            found = read.read([rows[at] for at in batch])
            for row, at in enumerate(batch):
                states = found.states[row, 1 : len(rows[at])].float()
                fired = (read.coding.encoded(states) > 0).cpu().numpy()
                tokens += len(fired)
                on += fired.sum(axis=0)
                for distance in range(1, min(distances, len(fired) - 1) + 1):
                    asked[distance - 1] += fired[:-distance].sum()
                    again[distance - 1] += (fired[:-distance] & fired[distance:]).sum()
                for feature, length in _stays(torch.from_numpy(fired)):
                    lengths[feature] += length
                    squares[feature] += length**2
                    stays[feature] += 1
        rates = on / max(tokens, 1)
        yield StayingFeatures(
            still=np.divide(again, asked, out=np.full(distances, np.nan), where=asked > 0),
            chance=float((rates**2).sum() / rates.sum()) if rates.any() else float("nan"),
            longest=np.divide(squares, lengths, out=np.full(len(on), np.nan), where=lengths > 0),
            stays=stays.astype(np.int64),
            tokens=tokens,
        )


def _stays(fired: torch.Tensor) -> Iterator[tuple[int, int]]:
    """Each stay in a text, as the feature and how many tokens it lasts; one token may be left out within."""
    places = fired.T.nonzero().numpy()  # by feature, then by position
    begin = 0
    for at in range(1, len(places) + 1):
        goes_on = (
            at < len(places) and places[at, 0] == places[at - 1, 0] and places[at, 1] - places[at - 1, 1] <= 2
        )
        if not goes_on:
            yield int(places[begin, 0]), int(places[at - 1, 1] - places[begin, 1] + 1)
            begin = at
