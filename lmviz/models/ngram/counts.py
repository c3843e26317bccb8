"""Counting n-grams by sorting: every order of a million tokens in a fraction of a second.

Sort the pieces of text that begin at each token in lexicographic order, and equal n-grams of every order
are next to each other: one sort serves all orders. A piece ends at the end of the text and before the next
START: START is never predicted, so it can only be the first token of an n-gram. END needs no such rule,
since only START follows it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lmviz.models.ngram.level import ABSENT, Level

KEY_BITS = 63


@dataclass(frozen=True)
class NgramCounts:
    """How often every n-gram up to some order occurs in a text; `levels` from order 1 upwards.

    `suffixes` is for each level (ngram,), the id of the n-gram of the order below that is left without
    the first token; for order 1 it is empty.
    """

    levels: tuple[Level, ...]
    suffixes: tuple[np.ndarray, ...]
    start_id: int | None

    @property
    def order(self) -> int:
        """The largest order counted."""
        return len(self.levels)

    def up_to(self, order: int) -> NgramCounts:
        """The counts of the orders up to a smaller one."""
        return NgramCounts(self.levels[:order], self.suffixes[:order], self.start_id)

    def adjusted(self) -> tuple[Level, ...]:
        """The levels with the counts that Kneser-Ney smoothing uses.

        The highest order keeps its counts. Below, an n-gram counts the different tokens that it
        follows; one that begins with START, which follows nothing, keeps its count (Heafield et al.
        2013, section 3.2).
        """
        low, high = (0, 0) if self.start_id is None else (self.start_id, self.start_id + 1)
        adjusted = []
        for order, (level, suffixes) in enumerate(zip(self.levels, self.suffixes[1:], strict=False), 1):
            if order > 1:
                low, high = level.first[low], level.first[high]  # START's descendants are neighbours
            counts = np.bincount(suffixes, minlength=len(level))
            counts[low:high] = level.counts[low:high]
            adjusted.append(level.with_counts(counts))
        return (*adjusted, self.levels[-1])


def count_ngrams(tokens: np.ndarray, order: int, vocabulary_size: int, start_id: int | None) -> NgramCounts:
    """Count the n-grams of all orders up to `order` in a stream of token ids, (token,).

    With a `start_id` no n-gram reaches across a START; without, they run over the whole stream.
    """
    whole = np.int32 if len(tokens) < np.iinfo(np.int32).max else np.int64  # half the memory to walk through
    tokens = np.asarray(tokens, dtype=whole)
    targets = np.append(tokens, whole(ABSENT))  # (token + 1,) what may follow; ABSENT ends every stretch
    if start_id is not None:
        targets[targets == start_id] = ABSENT
    unigrams = np.bincount(targets[targets != ABSENT], minlength=vocabulary_size)
    levels = [Level(np.arange(vocabulary_size), unigrams, 1, vocabulary_size)]
    suffixes = [np.zeros(0, dtype=np.int64)]
    begins = _sort_stretches(tokens, targets, order, vocabulary_size)
    contexts = tokens[begins]  # (stretch,) the id of the n-gram of the order below that each begins with
    ids = tokens  # (token,) the same by place in the text
    for reach in range(1, order):
        last = targets.take(begins + reach, mode="clip")
        goes_on = last != ABSENT
        begins, contexts, last = begins[goes_on], contexts[goes_on], last[goes_on]
        is_new = _differs(contexts) | _differs(last)
        heads = np.flatnonzero(is_new)
        counts = np.diff(heads, append=len(begins))
        keys = contexts[heads].astype(np.int64) * vocabulary_size + last[heads]
        levels.append(Level(keys, counts, len(levels[-1]), vocabulary_size))
        suffixes.append(ids[begins[heads] + 1])
        contexts = np.cumsum(is_new, dtype=whole) - 1
        ids = np.full(len(tokens), ABSENT, dtype=whole)
        ids[begins] = contexts
    return NgramCounts(tuple(levels), tuple(suffixes), start_id)


def _sort_stretches(tokens: np.ndarray, targets: np.ndarray, length: int, vocabulary_size: int) -> np.ndarray:
    """The places of the text, (token,), in lexicographic order of the `length` tokens from there on.

    As many tokens as fit are packed into one integer, then replaced by their rank, which makes room for
    more. A stretch that ends comes before those that go on; what lies beyond its end does no harm.
    """
    base = vocabulary_size + 1  # 0 stands for the end of a stretch
    keys, bound = tokens.astype(np.int64) + 1, base
    place_bits = len(tokens).bit_length()
    places = np.arange(len(tokens))
    for reach in range(1, length):
        if (bound * base) << place_bits > 1 << KEY_BITS:
            keys = _ranks(keys, bound)
            bound = len(tokens)
        keys = keys * base + (targets.take(places + reach, mode="clip") + 1)
        bound *= base
    return _sort(keys, bound)[1]


def _sort(keys: np.ndarray, bound: int) -> tuple[np.ndarray, np.ndarray]:
    """The keys, all below `bound`, in ascending order, and the place where each was; both (key,)."""
    bits = len(keys).bit_length()
    if bound << bits > 1 << KEY_BITS:
        places = np.argsort(keys)
        return keys[places], places
    packed = keys << bits | np.arange(len(keys))  # with its place in the low bits: faster than argsort
    packed.sort()
    return packed >> bits, packed & ((1 << bits) - 1)


def _ranks(keys: np.ndarray, bound: int) -> np.ndarray:
    """The keys replaced by their rank among the different ones, (key,)."""
    ascending, places = _sort(keys, bound)
    ranks = np.empty_like(keys)
    ranks[places] = np.cumsum(_differs(ascending)) - 1
    return ranks


def _differs(values: np.ndarray) -> np.ndarray:
    """Whether each value differs from the one before, as the first one does; (value,) bool."""
    differs = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=differs[1:])
    return differs
