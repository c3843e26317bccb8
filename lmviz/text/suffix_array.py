"""A suffix array: all places of a stream of ids in the order of what follows them, to look passages up.

Built by doubling (Manber & Myers 1993), only within groups that are not told apart yet (Larsson & Sadakane
2007). A passage is found by binary search, for many at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.base.reporting import Report, unheard

AT_ONCE = 1 << 19
"""How many places are sorted at once, so that a report can end the work soon."""

KEY_BITS, FIRST_BITS = 62, 16
END, UNKNOWN = -1, -2
"""What stands behind the last id of a stream; and in a question, what equals no id of a stream."""

FIRST_WINDOW = 16


def suffix_array(ids: np.ndarray, progress: Report = unheard) -> np.ndarray:
    """The places (token,) of ids (token,), not negative, in the order of the suffixes that begin there.

    A suffix stands before those that go on where it ends. `progress` may raise to end the work.
    """
    ids = np.asarray(ids)
    count = len(ids)
    if count == 0:
        return np.zeros(0, dtype=np.int64)
    bits = int(ids.max() + 1).bit_length()
    packed = max(1, KEY_BITS // bits)
    looked_at = max(1, min(packed, FIRST_BITS // bits))
    order, rank, groups = _by_first_ids(ids, bits, looked_at, progress)
    known, rounds = 0, 0  # so many ids of each suffix are told apart
    while len(groups.starts):
        left: list[_Groups] = []
        for some, done in groups.in_parts():
            where, group = some.places()
            suffixes = order[where].astype(np.int64)
            key = _ranks_behind(rank, suffixes, known) if known else _pack(ids, suffixes, packed, bits)
            # Packed ids begin with the one that makes the group, and so sort by themselves.
            sorting = np.lexsort((key, group)) if known else np.argsort(key)
            suffixes, key = suffixes[sorting], key[sorting]
            differs = np.ones(len(key), dtype=bool)
            differs[1:] = (key[1:] != key[:-1]) | (group[1:] != group[:-1])
            begins = np.flatnonzero(differs)
            sizes = np.diff(np.append(begins, len(key)))
            order[where] = suffixes
            rank[suffixes] = np.repeat(where[begins], sizes)
            left.append(_Groups(where[begins][sizes > 1], sizes[sizes > 1]))
            progress(min(0.99, (rounds + done) / (rounds + 2)))
        known = 2 * known if known else packed
        rounds += 1
        groups = _Groups(*(np.concatenate(part) for part in zip(*left, strict=True)))
    progress(1.0)
    return order


def _by_first_ids(
    ids: np.ndarray, bits: int, looked_at: int, progress: Report
) -> tuple[np.ndarray, np.ndarray, _Groups]:
    """All places in the order of the first ids there, the rank of each, and those that are alike.

    So many ids are `looked_at`. Places are counted, and then put where they belong, so many
    at a time.
    """
    count = len(ids)
    kind = np.uint16 if looked_at * bits <= 16 else np.int64  # of 16 bits numpy sorts by digits

    def keys(first: int) -> np.ndarray:
        return _pack(ids, np.arange(first, min(first + AT_ONCE, count)), looked_at, bits).astype(kind)

    sizes = np.zeros(1 << (looked_at * bits), dtype=np.int64)
    for first in range(0, count, AT_ONCE):
        sizes += np.bincount(keys(first), minlength=len(sizes))
        progress(0.0)
    begins = np.cumsum(sizes) - sizes
    dtype = np.dtype(np.int32 if count < 2**31 else np.int64)
    order, rank = np.zeros(count, dtype=dtype), np.zeros(count, dtype=dtype)
    free = begins.copy()
    for first in range(0, count, AT_ONCE):
        key = keys(first)
        rank[first : first + len(key)] = begins[key]
        sorting = np.argsort(key, kind="stable")
        ordered = key[sorting]
        here = np.bincount(key, minlength=len(sizes))
        within = np.arange(len(key)) - (np.cumsum(here) - here)[ordered]
        order[free[ordered] + within] = sorting + first
        free += here
        progress(0.0)
    several = sizes > 1
    return order, rank, _Groups(begins[several], sizes[several])


class _Groups(NamedTuple):
    """Suffixes that are not told apart yet: where each group begins in the order (group,), and its size."""

    starts: np.ndarray
    sizes: np.ndarray

    def in_parts(self) -> Iterator[tuple[_Groups, float]]:
        """Some groups at a time, of about `AT_ONCE` suffixes, and the share that is done with them."""
        ends = np.cumsum(self.sizes)
        first = 0
        while first < len(ends):
            before = int(ends[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(ends, before + AT_ONCE, side="right")))
            yield _Groups(self.starts[first:last], self.sizes[first:last]), float(ends[last - 1] / ends[-1])
            first = last

    def places(self) -> tuple[np.ndarray, np.ndarray]:
        """The places in the order of all suffixes, and the number of the group of each, (suffix,) both."""
        group = np.repeat(np.arange(len(self.sizes)), self.sizes)
        within = np.arange(len(group)) - np.repeat(np.cumsum(self.sizes) - self.sizes, self.sizes)
        return self.starts[group] + within, group


def _ranks_behind(rank: np.ndarray, suffixes: np.ndarray, known: int) -> np.ndarray:
    """The rank of what follows so many ids later, 0 behind the end; every other is larger."""
    following = suffixes + known
    inside = following < len(rank)
    key = np.zeros(len(suffixes), dtype=np.int64)
    key[inside] = rank[following[inside]] + 1
    return key


def _pack(ids: np.ndarray, places: np.ndarray, packed: int, bits: int) -> np.ndarray:
    """So many ids from each place on as one number, 0 behind the end."""
    key = np.zeros(len(places), dtype=np.int64)
    for offset in range(packed):
        at = places + offset
        inside = at < len(ids)
        key <<= bits
        key[inside] |= ids[at[inside]].astype(np.int64) + 1
    return key


@dataclass(frozen=True, eq=False)
class FoundPassage:
    """For each place of a question (place,): the longest passage from there on that stands in the stream.

    `lengths` are in tokens; `first` and `counts` are the part of the suffix array that begins with it.
    """

    lengths: np.ndarray
    first: np.ndarray
    counts: np.ndarray


class PassageIndex:
    """Finds the passages of a question in a stream of ids, and all their places, exactly."""

    def __init__(self, ids: np.ndarray, progress: Report = unheard) -> None:
        self.ids = ids
        self.order = suffix_array(ids, progress)

    def longest(self, question: np.ndarray) -> FoundPassage:
        """What stands in the stream from each place of a question (place,) on, as far as it does.

        Ids that are negative stand nowhere.
        """
        asked = np.asarray(question, dtype=np.int64)
        if asked.ndim != 1:
            raise LmvizError(f"A question is one row of token ids, but its shape is {asked.shape}.")
        asked = np.where(asked < 0, UNKNOWN, asked)
        starts = np.arange(len(asked))
        if not len(asked) or not len(self.ids):
            nothing = np.zeros(len(asked), dtype=np.int64)
            return FoundPassage(nothing, nothing, nothing)
        whole = len(asked) - starts
        place, below, above = self._bound(asked, starts, whole, behind=False)
        lengths = np.maximum(below, above)
        first, _, _ = self._bound(asked, starts, lengths, behind=False)
        end, _, _ = self._bound(asked, starts, lengths, behind=True)
        is_found = lengths > 0
        return FoundPassage(lengths, np.where(is_found, first, place), np.where(is_found, end - first, 0))

    def counts(self, question: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """How often passages of a question (place,) stand in the stream: from `starts` on, of `lengths`."""
        asked = np.asarray(question, dtype=np.int64)
        asked = np.where(asked < 0, UNKNOWN, asked)
        if not len(self.ids):
            return np.zeros(len(starts), dtype=np.int64)
        first, _, _ = self._bound(asked, starts, lengths, behind=False)
        end, _, _ = self._bound(asked, starts, lengths, behind=True)
        return end - first

    def places(self, first: int, count: int, most: int = 20) -> np.ndarray:
        """The first places in the stream, at most so many, of what `longest` has found, ascending."""
        found = self.order[first : first + count]
        if count > most:
            found = np.partition(found, most - 1)[:most]
        return np.sort(found).astype(np.int64)

    def _bound(
        self, asked: np.ndarray, starts: np.ndarray, limits: np.ndarray, *, behind: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where in the order passages belong, in front of or `behind` all that begin with them.

        And how many ids they have in common with what stands before and at that place.
        """
        low = np.zeros(len(starts), dtype=np.int64)
        high = np.full(len(starts), len(self.order), dtype=np.int64)
        below, above = np.zeros_like(low), np.zeros_like(low)
        while True:
            running = np.flatnonzero(low < high)
            if not len(running):
                break
            middle = (low[running] + high[running]) // 2
            known = np.minimum(below[running], above[running])
            common, smaller = self._compare(
                self.order[middle].astype(np.int64), asked, starts[running], limits[running], known
            )
            goes_on = smaller | (behind & (common >= limits[running]))
            up, down = running[goes_on], running[~goes_on]
            low[up], below[up] = middle[goes_on] + 1, common[goes_on]
            high[down], above[down] = middle[~goes_on], common[~goes_on]
        return low, below, above

    def _compare(
        self,
        places: np.ndarray,
        asked: np.ndarray,
        starts: np.ndarray,
        limits: np.ndarray,
        known: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """How many ids the stream from places on has in common with the question, and whether it is smaller.

        So many are `known` to be; no more than `limits` are compared.
        """
        common = known.copy()
        running = np.arange(len(places))
        window = FIRST_WINDOW
        while len(running):
            offsets = common[running][:, None] + np.arange(window)
            here = self._at(places[running][:, None] + offsets)
            there = _asked_at(asked, starts[running][:, None] + offsets)
            equal = (here == there) & (offsets < limits[running][:, None])
            same = np.where(equal.all(axis=1), window, np.argmin(equal, axis=1))
            common[running] += same
            running = running[same == window]
            window *= 2
        here, there = self._at(places + common), _asked_at(asked, starts + common)
        return common, (common < limits) & (here < there)

    def _at(self, places: np.ndarray) -> np.ndarray:
        """The ids at places, END behind the last."""
        inside = np.minimum(places, len(self.ids) - 1)
        return np.where(places < len(self.ids), self.ids[inside].astype(np.int64), END)


def _asked_at(asked: np.ndarray, places: np.ndarray) -> np.ndarray:
    return np.where(places < len(asked), asked[np.minimum(places, len(asked) - 1)], UNKNOWN)
