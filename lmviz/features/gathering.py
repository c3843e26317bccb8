"""What is gathered of features while texts are read: counts, sums by word, places and histograms.

Each of these takes what fires in one batch and keeps a bounded amount of it, so that a text of any length
can be read.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

BINS = 32
"""Bins of a histogram. Its range doubles where it is too small: two bins then become one."""

PAIRS = 2**21
"""So many sums of a feature and a word are kept; the smallest give way."""


@dataclass(frozen=True, eq=False)
class Firing:
    """What fires in a batch, one entry for each feature at each position: (entry,) arrays.

    `texts` are numbers of texts, `positions` places in them, `words` and `following` token ids; −1 where
    nothing follows.
    """

    features: np.ndarray
    values: np.ndarray
    texts: np.ndarray
    positions: np.ndarray
    words: np.ndarray
    following: np.ndarray


class PairSums:
    """Sums of numbers by feature and token, of the largest of which so many are kept."""

    def __init__(self, most: int = PAIRS) -> None:
        self._most = most
        self.features: np.ndarray = np.zeros(0, dtype=np.int64)
        self.tokens: np.ndarray = np.zeros(0, dtype=np.int64)
        self.sums: np.ndarray = np.zeros(0, dtype=np.float64)

    def add(self, features: np.ndarray, tokens: np.ndarray, values: np.ndarray) -> None:
        """Add a number to each pair of a feature and a token."""
        keys = np.concatenate([_key(self.features, self.tokens), _key(features, tokens)])
        numbers = np.concatenate([self.sums, values.astype(np.float64)])
        found, places = np.unique(keys, return_inverse=True)
        sums = np.bincount(places, weights=numbers, minlength=len(found))
        if len(found) > self._most:
            kept = np.sort(np.argsort(-sums, kind="stable")[: self._most])
            found, sums = found[kept], sums[kept]
        self.features, self.tokens, self.sums = found >> 32, found & 0xFFFFFFFF, sums

    def largest(self, count: int, size: int) -> tuple[np.ndarray, np.ndarray]:
        """The tokens with the largest sums of each of `size` features, and the sums: (feature, count).

        Where there are fewer, the tokens are −1 and the sums 0.
        """
        tokens = np.full((size, count), -1, dtype=np.int64)
        sums = np.zeros((size, count))
        order = np.lexsort((self.tokens, -self.sums, self.features))
        features = self.features[order]
        ranks = ranks_within(features)
        first = ranks < count
        tokens[features[first], ranks[first]] = self.tokens[order][first]
        sums[features[first], ranks[first]] = self.sums[order][first]
        return tokens, sums


class KeptPlaces:
    """Of each feature the places with the largest keys, at most one in each text."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.features = np.zeros(0, dtype=np.int64)
        self.texts = np.zeros(0, dtype=np.int64)
        self.positions = np.zeros(0, dtype=np.int64)
        self.values = np.zeros(0, dtype=np.float32)
        self._keys = np.zeros(0, dtype=np.float64)

    def copy(self) -> KeptPlaces:
        """The same places, which what is added later leaves as they are."""
        found = KeptPlaces(self._most)
        vars(found).update(vars(self))  # each addition makes new arrays
        return found

    def add(self, fired: Firing, keys: np.ndarray) -> None:
        """Take the places of a batch, which holds each of its texts whole."""
        order = np.lexsort((fired.positions, -keys, fired.texts, fired.features))
        features, texts = fired.features[order], fired.texts[order]
        first = np.ones(len(order), dtype=bool)
        first[1:] = (features[1:] != features[:-1]) | (texts[1:] != texts[:-1])
        chosen = order[first]
        joined = [
            np.concatenate([old, new])
            for old, new in (
                (self.features, fired.features[chosen]),
                (self.texts, fired.texts[chosen]),
                (self.positions, fired.positions[chosen]),
                (self.values, fired.values[chosen]),
                (self._keys, keys[chosen]),
            )
        ]
        order = np.lexsort((joined[1], -joined[4], joined[0]))
        kept = order[ranks_within(joined[0][order]) < self._most]
        self.features, self.texts, self.positions, self.values, self._keys = (each[kept] for each in joined)


class Histograms:
    """How often each feature fires how strongly: `counts` (feature, BINS), from 0 to `ends` (feature,).

    The end of a range is a power of two that no value reaches, 0 where a feature has not fired.
    """

    def __init__(self, size: int) -> None:
        self.counts = np.zeros((size, BINS), dtype=np.int64)
        self.ends = np.zeros(size)

    def add(self, features: np.ndarray, values: np.ndarray) -> None:
        """Count some more values, all above 0."""
        largest = np.zeros(len(self.ends))
        np.maximum.at(largest, features, values)
        begun = largest > 0
        needed = np.zeros(len(self.ends))
        needed[begun] = 2.0 ** (np.floor(np.log2(largest[begun])) + 1)
        first = begun & (self.ends == 0)
        self.ends[first] = needed[first]
        for feature in np.flatnonzero(self.ends < needed):
            while self.ends[feature] < needed[feature]:
                halves = self.counts[feature].reshape(-1, 2).sum(axis=1)
                self.counts[feature] = np.concatenate([halves, np.zeros(BINS - len(halves), dtype=np.int64)])
                self.ends[feature] *= 2
        if len(features):
            places = np.minimum((values / self.ends[features] * BINS).astype(np.int64), BINS - 1)
            np.add.at(self.counts, (features, places), 1)


def ranks_within(groups: np.ndarray) -> np.ndarray:
    """(entry,) The place of each entry among those of its group, from 0, where groups stand together."""
    if not len(groups):
        return np.zeros(0, dtype=np.int64)
    begins = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]])
    lengths = np.diff(np.r_[begins, len(groups)])
    return np.arange(len(groups)) - np.repeat(begins, lengths)


def _key(features: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    return (features.astype(np.int64) << 32) | tokens.astype(np.int64)
