"""BLEU, how much translations have in common with those that were wanted (Papineni et al. 2002)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

ORDER = 4
"""Sequences of up to so many tokens are compared."""


def bleu(pairs: Iterable[tuple[Sequence[Hashable], Sequence[Hashable]]]) -> float:
    """BLEU-4 of a whole corpus, from 0 to 1, of pairs of what was written and what was wanted, as tokens.

    The geometric mean of the precisions of 1-grams to 4-grams over all pairs, each n-gram counted at most
    as often as it is wanted, times exp(1 - wanted/written) where less was written than wanted. Nothing is
    smoothed: without a 4-gram in common it is 0.
    """
    found, written = [0] * ORDER, [0] * ORDER
    tokens_written = tokens_wanted = 0
    for answer, wanted in pairs:
        tokens_written += len(answer)
        tokens_wanted += len(wanted)
        for order in range(1, ORDER + 1):
            ours, theirs = _counts(answer, order), _counts(wanted, order)
            found[order - 1] += sum((ours & theirs).values())
            written[order - 1] += sum(ours.values())
    if not all(found):
        return 0.0
    precision = sum(math.log(a / b) for a, b in zip(found, written, strict=True)) / ORDER
    return math.exp(precision + min(0.0, 1 - tokens_wanted / tokens_written))


def _counts(tokens: Sequence[Hashable], order: int) -> Counter[tuple[Hashable, ...]]:
    return Counter(tuple(tokens[at : at + order]) for at in range(len(tokens) - order + 1))
