"""How one token's numbers are computed: the comparison of each filter, and the parts of the softmax."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lmviz.decoding.distribution import Candidate, Distribution


@dataclass(frozen=True)
class Derivation:
    """The numbers behind a row of the pipeline.

    `share_before` is what top-p compares: of the probability that top-k left, the share of the tokens
    ranked before this one. `ratio` is what min-p compares: the probability over that of the likeliest
    token; it is also the token's weight in the softmax, e to the scaled logit less the largest one.
    `total` is the sum of the weights of all tokens that are kept, and `cumulative_before` the
    probability of those ranked before this one.
    """

    candidate: Candidate
    share_before: float
    ratio: float
    total: float
    cumulative_before: float


def derive(distribution: Distribution, rank: int) -> Derivation:
    """The numbers behind the token at a rank from 1."""
    ranked, before = distribution.ranked, rank - 1
    survivors = int(np.count_nonzero(distribution.kept_top_k))
    return Derivation(
        candidate=distribution.candidate(rank),
        share_before=min(1.0, float(ranked[:before].sum() / ranked[:survivors].sum())),
        ratio=float(ranked[before] / ranked[0]),
        total=1.0 / distribution.probability_of(distribution.best),
        cumulative_before=float(distribution.cumulative[before - 1]) if before else 0.0,
    )
