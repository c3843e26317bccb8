"""Smoothing: how much probability each context gives to seen tokens, and how much it leaves for the others.

All three smoothings are one formula. With c the count of token w after a context and N all counts there,

    p(w | context) = (c - D(c)) / (N + A) + backoff * lower(w)

where `backoff`, (sum of D + A) / (N + A), is the share that the discounts D and the added mass A leave.
Maximum likelihood has no discount and adds nothing: it leaves nothing if the context was seen, and
everything if it was not. Modified Kneser-Ney subtracts D1, D2 or D3 from counts of one, two, or more, and
`lower` is the next shorter context (Chen & Goodman 1998, estimated as by Heafield et al. 2013). Add-k adds
k for every token, A = k * tokens, and `lower` is uniform.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lmviz.models.ngram.configuration import ADD_K, KNESER_NEY, NgramConfiguration
from lmviz.models.ngram.counts import NgramCounts
from lmviz.models.ngram.level import Level

FALLBACK_DISCOUNTS = (0.5, 1.0, 1.5)
"""D1, D2, D3 where a text is too small or too regular to estimate them; also those of lmplz."""


@dataclass(frozen=True)
class SmoothedLevel:
    """One order ready to predict from.

    `discounts` is (4,), what is taken from a count of 0, 1, 2, and 3 or more; `added` is the mass A of
    add-k. `totals` is (context,). `backoffs` (context + 1,) is what each context leaves to the lower order,
    and `shares` (ngram + 1,) the share of its context that each n-gram has of its own; their last entries,
    1 and 0, are those of what is ABSENT.
    """

    level: Level
    discounts: np.ndarray
    added: float
    totals: np.ndarray
    backoffs: np.ndarray
    shares: np.ndarray


def counted_levels(counts: NgramCounts, configuration: NgramConfiguration) -> tuple[Level, ...]:
    """The levels with the counts that the smoothing uses: adjusted ones for Kneser-Ney."""
    return counts.adjusted() if configuration.smoothing == KNESER_NEY else counts.levels


def smooth(level: Level, configuration: NgramConfiguration, predictable: int) -> SmoothedLevel:
    """Smooth one order; `predictable` is the number of tokens that can be predicted."""
    kneser_ney = configuration.smoothing == KNESER_NEY
    discounts = estimate_discounts(level.counts) if kneser_ney else np.zeros(4)
    added = configuration.added * predictable if configuration.smoothing == ADD_K else 0.0
    taken = discounts[np.minimum(level.counts, 3)]  # (ngram,)
    totals = level.sums(level.counts)
    mass = totals + added
    is_seen = mass > 0
    divisors = np.where(is_seen, mass, 1.0)
    backoffs = np.where(is_seen, (level.sums(taken) + added) / divisors, 1.0)
    shares = (level.counts - taken) / np.repeat(divisors, np.diff(level.first))
    return SmoothedLevel(level, discounts, added, totals, np.append(backoffs, 1.0), np.append(shares, 0.0))


def estimate_discounts(counts: np.ndarray) -> np.ndarray:
    """The discounts of modified Kneser-Ney for counts of 0, 1, 2, and 3 or more; (4,).

    Chen & Goodman 1998, equation 26, from the numbers of n-grams counted once, twice, three and four
    times. Where one of the first three is zero, or a discount would be negative or exceed its count,
    FALLBACK_DISCOUNTS are taken, as by `lmplz --discount_fallback`.
    """
    times = np.bincount(np.minimum(counts, 5), minlength=6)  # (6,) how many n-grams have each count
    if not times[1:4].all():
        return np.array((0.0, *FALLBACK_DISCOUNTS))
    seen = np.arange(4)
    ratios = np.append(0.0, times[2:5] / times[1:4])
    discounts = seen - (seen + 1) * times[1] / (times[1] + 2 * times[2]) * ratios
    if (discounts < 0).any() or (discounts > seen).any():
        return np.array((0.0, *FALLBACK_DISCOUNTS))
    return discounts
