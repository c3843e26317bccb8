"""Predictions from smoothed counts: single probabilities, and whole distributions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lmviz.models.ngram.level import NgramIndex
from lmviz.models.ngram.smoothing import SmoothedLevel


@dataclass(frozen=True)
class NgramTables:
    """The smoothed levels, from order 1 upwards.

    `chained` says that each order backs off to the one below, and the lowest to the uniform distribution;
    otherwise, as with add-k, each backs off to the uniform distribution at once. The uniform distribution
    is over all tokens but START, which is never predicted.
    """

    levels: tuple[SmoothedLevel, ...]
    vocabulary_size: int
    start_id: int | None
    chained: bool

    @property
    def order(self) -> int:
        """The largest order."""
        return len(self.levels)

    @cached_property
    def uniform(self) -> np.ndarray:
        """The distribution that knows nothing, (token,)."""
        uniform = np.ones(self.vocabulary_size)
        if self.start_id is not None and self.vocabulary_size > 1:
            uniform[self.start_id] = 0.0
        return uniform / uniform.sum()

    @cached_property
    def index(self) -> NgramIndex:
        """Where n-grams and contexts are found."""
        return NgramIndex(tuple(smoothed.level for smoothed in self.levels))

    def probabilities_of(self, tokens: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The probability of each target (batch, position) after the tokens up to its position."""
        chain = list(zip(self.levels, self.index.contexts(tokens), strict=True))
        probabilities = self.uniform[targets]
        for smoothed, contexts in chain if self.chained else chain[-1:]:
            own = smoothed.shares[smoothed.level.find(contexts, targets)]
            probabilities = own + smoothed.backoffs[contexts] * probabilities
        return probabilities

    def distributions(self, tokens: np.ndarray) -> np.ndarray:
        """The distribution of the next token at every position, (batch, position, token) float32."""
        chain = list(zip(self.levels, self.index.contexts(tokens), strict=True))
        base = self.uniform
        if self.chained:
            unigram = chain.pop(0)[0]  # the same at every position
            base = unigram.shares[:-1] + unigram.backoffs[0] * base
        else:
            chain = chain[-1:]
        weight = np.ones(tokens.size)  # (row,) what the longer contexts leave to this one
        pairs = []
        for smoothed, contexts in reversed(chain):
            rows, ids = smoothed.level.followers(contexts.ravel())
            pairs.append((rows, smoothed.level.words[ids], smoothed.shares[ids] * weight[rows]))
            weight = weight * smoothed.backoffs[contexts.ravel()]
        dense = np.multiply.outer(weight.astype(np.float32), base.astype(np.float32))  # (row, token)
        for rows, words, shares in pairs:
            dense[rows, words] += shares
        return dense.reshape(*tokens.shape, self.vocabulary_size)
