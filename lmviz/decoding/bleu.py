"""BLEU, how much translations have in common with those that were wanted (Papineni et al. 2002)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

import numpy as np

ORDER = 4
"""Sequences of up to so many tokens are compared."""

COUNTS = 2 * ORDER + 2
"""How many numbers of a pair decide about BLEU."""


def bleu(pairs: Iterable[tuple[Sequence[Hashable], Sequence[Hashable]]]) -> float:
    """BLEU-4 of a whole corpus, from 0 to 1, of pairs of what was written and what was wanted, as tokens.

    The geometric mean of the precisions of 1-grams to 4-grams over all pairs, each n-gram counted at most
    as often as it is wanted, times exp(1 - wanted/written) where less was written than wanted. Nothing is
    smoothed: without a 4-gram in common it is 0.
    """
    totals = sum((bleu_counts(written, wanted) for written, wanted in pairs), np.zeros(COUNTS, np.int64))
    return float(bleu_of_counts(totals))


def sentence_bleu(written: Sequence[Hashable], wanted: Sequence[Hashable]) -> float:
    """BLEU-4 of one sentence, from 0 to 1, so that sentences can be told apart that share no 4-gram.

    One is added to the counts of 2-grams and longer (Lin and Och 2004).
    """
    counts = bleu_counts(written, wanted)
    counts[1:ORDER] += 1
    counts[ORDER + 1 : 2 * ORDER] += 1
    return float(bleu_of_counts(counts))


def bleu_counts(written: Sequence[Hashable], wanted: Sequence[Hashable]) -> np.ndarray:
    """What decides about BLEU-4, (count,) int64, to be added up over pairs.

    How many of the n-grams that were written are wanted, for n from 1 to 4; how many were written; the
    tokens written, and those wanted.
    """
    found, made = [], []
    for order in range(1, ORDER + 1):
        said, right = _ngrams(written, order), _ngrams(wanted, order)
        found.append((said & right).total())
        made.append(said.total())
    return np.array([*found, *made, len(written), len(wanted)], dtype=np.int64)


def bleu_of_counts(counts: np.ndarray) -> np.ndarray:
    """BLEU-4 of counts (…, count) as `bleu_counts` gives them, (…) float64."""
    found, made = counts[..., :ORDER].astype(np.float64), counts[..., ORDER : 2 * ORDER]
    written, wanted = counts[..., -2], counts[..., -1]
    has_all = np.asarray((found > 0).all(axis=-1))
    precisions = np.where(has_all[..., None], found, 1.0) / np.maximum(made, 1)
    brevity = np.minimum(0.0, 1 - wanted / np.maximum(written, 1))
    return np.where(has_all, np.exp(np.log(precisions).mean(axis=-1) + brevity), 0.0)


def _ngrams(tokens: Sequence[Hashable], order: int) -> Counter[tuple[Hashable, ...]]:
    return Counter(tuple(tokens[at : at + order]) for at in range(len(tokens) - order + 1))
