"""Probabilities and back-off weights of n-grams, the form in which n-gram models are exchanged.

Every listed n-gram has its probability. For any other, the probability after the context without its first
token is multiplied by the context's back-off weight (Katz 1987). Interpolated models, such as Kneser-Ney
ones, can be written this way too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lmviz.models.ngram.level import ABSENT, Level, NgramIndex
from lmviz.models.ngram.tables import NgramTables


@dataclass(frozen=True)
class BackoffLevel:
    """One order: the probability of each n-gram, and the backoff weights of its contexts.

    `level` lists the n-grams. `probabilities` is (ngram,); `backoffs` is (context + 1,), its last entry, 1,
    that of a context that is ABSENT.
    """

    level: Level
    probabilities: np.ndarray
    backoffs: np.ndarray

    @cached_property
    def totals(self) -> np.ndarray:
        """How many n-grams begin with each context, (context,)."""
        return np.diff(self.level.first)


@dataclass(frozen=True)
class BackoffTables:
    """The levels, from order 1 upwards.

    START is never predicted. `start` is the probability that a file lists for it nevertheless, which counts
    in a text where it is written as a word.
    """

    levels: tuple[BackoffLevel, ...]
    start_id: int | None
    start: float = 0.0

    @property
    def order(self) -> int:
        """The largest order."""
        return len(self.levels)

    @cached_property
    def index(self) -> NgramIndex:
        """Where n-grams and contexts are found."""
        return NgramIndex(tuple(listed.level for listed in self.levels))

    def probabilities_of(self, tokens: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The probability of each target (batch, position) after the tokens up to its position."""
        probabilities = np.zeros(tokens.shape)
        for listed, contexts in zip(self.levels, self.index.contexts(tokens), strict=True):
            ids = listed.level.find(contexts, targets)
            known = np.append(listed.probabilities, 0.0)[ids]
            if listed is self.levels[0]:
                known[targets == self.start_id] = self.start
            probabilities = np.where(ids == ABSENT, listed.backoffs[contexts] * probabilities, known)
        return probabilities

    def distributions(self, tokens: np.ndarray) -> np.ndarray:
        """The distribution of the next token at every position, (batch, position, token) float32."""
        unigrams = self.levels[0].probabilities.astype(np.float32)
        dense = np.tile(unigrams, (tokens.size, 1))  # (row, token)
        higher = zip(self.levels[1:], self.index.contexts(tokens)[1:], strict=True)
        for listed, contexts in higher:
            dense *= listed.backoffs[contexts.ravel(), np.newaxis].astype(np.float32)
            rows, ids = listed.level.followers(contexts.ravel())
            dense[rows, listed.level.words[ids]] = listed.probabilities[ids]
        return dense.reshape(*tokens.shape, len(unigrams))


def as_backoff(tables: NgramTables) -> BackoffTables:
    """The same model with the probability of each counted n-gram written out."""
    levels: list[BackoffLevel] = []
    probabilities = tables.uniform  # of the order below, where order 0 is the uniform distribution
    suffixes = np.zeros(tables.vocabulary_size, dtype=np.int64)  # (ngram,) ids in the order below
    for smoothed in tables.levels:
        level = smoothed.level
        contexts = level.keys // level.vocabulary_size
        if levels:
            suffixes = levels[-1].level.find(suffixes[contexts], level.words)
        used = tables.chained or smoothed is tables.levels[-1]
        lower = probabilities[suffixes] if levels else probabilities
        backoffs = smoothed.backoffs if used else np.ones(level.contexts + 1)
        shares = smoothed.shares[:-1] if used else 0.0
        probabilities = shares + backoffs[contexts] * lower
        levels.append(BackoffLevel(level, probabilities, backoffs))
    return BackoffTables(tuple(levels), tables.start_id)
