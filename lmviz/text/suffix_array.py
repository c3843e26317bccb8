"""Suffix arrays: the places of a stream of ids in the order of what follows them, to look passages up.

Places are divided into classes by their remainder, and each class has an order of its own. Only the first is
sorted: several ids at once as one number, then by doubling (Manber & Myers 1993), only within groups that are
not told apart yet (Larsson & Sadakane 2007). The others follow, since the order of suffixes and one id before
each give the order of those that begin one id earlier. A passage is looked for in all classes at once, by
binary search.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.base.reporting import Report, part_of, unheard

AT_ONCE = 1 << 17
"""How many places are sorted at once, so that a report can end the work soon."""

KEY_BYTES, FIRST_BITS = 8, 16
MANY_KINDS = 1 << 10

END, UNKNOWN = -1, -2
"""What stands behind the last id of a stream; and in a question, what equals no id of a stream."""

FIRST_WINDOW = 4
FAR = 1 << 40
"""A step beyond the end of every order."""


def suffix_array(ids: np.ndarray, progress: Report = unheard) -> tuple[np.ndarray, np.ndarray]:
    """All places of ids (token,), those of one class after those of another, and where each class ends.

    A class has the places of one remainder, from 0 on, in the order of their suffixes; there are as many
    classes as ids fit into 8 bytes. Ids are not negative, and 4 bytes hold them. A suffix stands before
    those that go on where it ends. `progress` may raise to end the work.
    """
    ids = np.asarray(ids)
    count, classes = len(ids), KEY_BYTES // _unit(ids).itemsize
    ends = np.cumsum([len(range(remainder, count, classes)) for remainder in range(classes)])
    order: np.ndarray = np.zeros(count, dtype=np.int32 if count < 2**31 else np.int64)
    found: list[np.ndarray] = [
        order[end - size : end] for end, size in zip(ends, np.diff(ends, prepend=0), strict=True)
    ]
    _sort(_symbols(ids, progress), found[0], part_of(progress, 0.0, 0.5))
    for done, remainder in enumerate(reversed(range(1, classes))):
        said = part_of(progress, 0.5 + 0.5 * done / classes, 0.5 + 0.5 * (done + 1) / classes)
        after = found[(remainder + 1) % classes]
        if remainder == classes - 1:
            after = after[after > 0] - 1
        if count and (count - 1) % classes == remainder:  # nothing follows the last place, which comes first
            after = np.concatenate([np.array([len(found[remainder]) - 1], dtype=order.dtype), after])
        _put_before(np.ascontiguousarray(ids[remainder::classes]), after, found[remainder], said)
    for remainder, places in enumerate(found):  # so far they are those of symbols
        places *= classes
        places += remainder
        progress(0.99)
    progress(1.0)
    return order, ends


def _unit(ids: np.ndarray) -> np.dtype[np.unsignedinteger]:
    """The smallest unsigned integers, the first byte first, that hold all ids plus 1."""
    largest = int(ids.max(initial=0)) + 1
    return np.dtype(next(kind for kind in (">u1", ">u2", ">u4") if largest < 256 ** np.dtype(kind).itemsize))


def _symbols(ids: np.ndarray, progress: Report) -> np.ndarray:
    """As many ids as 8 bytes hold as one number, (symbol,), in whose order they stand; 0 behind the end."""
    unit = _unit(ids)
    classes = KEY_BYTES // unit.itemsize
    symbols = np.zeros(-(-len(ids) // classes), dtype=np.uint64)
    units = np.zeros(min(AT_ONCE, len(symbols)) * classes, dtype=unit)
    for first in range(0, len(symbols), AT_ONCE):
        part, rows = ids[first * classes : (first + AT_ONCE) * classes], symbols[first : first + AT_ONCE]
        units[: len(part)] = part
        units[: len(part)] += 1
        units[len(part) :] = 0
        rows[:] = units.view(">u8")[: len(rows)]
        progress(0.0)
    return symbols


def _put_before(ids: np.ndarray, after: np.ndarray, found: np.ndarray, progress: Report) -> None:
    """Puts places into the order of their ids, and those with one id into the order `after`."""

    def parts() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for first in range(0, len(after), AT_ONCE):
            places = after[first : first + AT_ONCE]
            yield places, ids[places]
            progress(min(1.0, (first + AT_ONCE) / len(after)))

    _put_by_key(parts(), np.bincount(ids), found)


def _put_by_key(parts: Iterable[tuple[np.ndarray, np.ndarray]], sizes: np.ndarray, found: np.ndarray) -> None:
    """Places in the order of their keys, and of those with one key in their own order; both come in parts.

    `sizes` says how many there are of each key.
    """
    free = np.cumsum(sizes) - sizes
    for places, key in parts:
        sorting = _stable(key)
        here = np.bincount(key, minlength=len(sizes))
        behind = np.cumsum(here)
        if len(here) < MANY_KINDS:
            sorted_places = places[sorting]
            for kind in np.flatnonzero(here).tolist():
                size, end, to = int(here[kind]), int(behind[kind]), int(free[kind])
                found[to : to + size] = sorted_places[end - size : end]
        else:
            found[np.repeat(free - (behind - here), here) + np.arange(len(key))] = places[sorting]
        free += here


def _stable(key: np.ndarray) -> np.ndarray:
    """What sorts keys and keeps the order of equal ones."""
    if key.dtype.itemsize <= 2:
        return np.argsort(key, kind="stable")  # by digits
    bits = len(key).bit_length()
    return np.sort((key.astype(np.int64) << bits) + np.arange(len(key))) & ((1 << bits) - 1)


def _sort(symbols: np.ndarray, order: np.ndarray, progress: Report) -> None:
    """The places of symbols (symbol,) in the order of the suffixes that begin there."""
    groups = _by_first_bits(symbols, order, progress)
    rank = np.zeros(len(symbols), dtype=order.dtype)
    bits = len(symbols).bit_length()
    known, rounds = 0, 0  # so many symbols of each suffix are told apart
    while len(groups.starts):
        left: list[_Groups] = []
        for some, done in groups.in_parts():
            where, group = some.places()
            suffixes = order[where]
            # Symbols begin with what makes the group, and so sort by themselves.
            key = (group << bits) | _ranks_behind(rank, suffixes, known) if known else symbols[suffixes]
            sorting = np.argsort(key)
            suffixes, key = suffixes[sorting], key[sorting]
            differs = np.ones(len(key), dtype=bool)
            np.not_equal(key[1:], key[:-1], out=differs[1:])
            begins = np.flatnonzero(differs)
            sizes = np.diff(begins, append=len(key))
            order[where] = suffixes
            firsts = where[begins]
            rank[suffixes] = np.repeat(firsts, sizes)
            several = sizes > 1
            left.append(_Groups(firsts[several], sizes[several]))
            progress(min(0.99, (rounds + done) / (rounds + 2)))
        known = 2 * known or 1
        rounds += 1
        groups = _Groups(*(np.concatenate(part) for part in zip(*left, strict=True)))


def _by_first_bits(symbols: np.ndarray, order: np.ndarray, progress: Report) -> _Groups:
    """All places in the order of the first bits there, and which of them agree in these."""
    bits = min(FIRST_BITS, len(symbols).bit_length())  # no more than tell a few places apart

    def parts() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for first in range(0, len(symbols), AT_ONCE):
            key = (symbols[first : first + AT_ONCE] >> (8 * KEY_BYTES - bits)).astype(np.uint16)
            yield np.arange(first, first + len(key), dtype=order.dtype), key
            progress(0.0)

    sizes = np.zeros(1 << bits, dtype=np.int64)
    for _, key in parts():
        sizes += np.bincount(key, minlength=len(sizes))
    _put_by_key(parts(), sizes, order)
    begins = np.cumsum(sizes) - sizes
    return _Groups(begins[sizes > 0], sizes[sizes > 0])


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


@dataclass(frozen=True, eq=False)
class FoundPassage:
    """For each place of a question (place,): the longest passage from there on that stands in the stream.

    `lengths` are in tokens, `counts` says how often it stands there. `first` and `within` (class, place)
    are the part of each class's order that begins with it.
    """

    lengths: np.ndarray
    counts: np.ndarray
    first: np.ndarray
    within: np.ndarray

    def parts(self, place: int) -> tuple[tuple[int, int], ...]:
        """The parts of the order, (first, how many), that begin with what was found at a place."""
        held = np.flatnonzero(self.within[:, place])
        return tuple((int(self.first[at, place]), int(self.within[at, place])) for at in held)


class PassageIndex:
    """Finds the passages of a question in a stream of ids, and all their places, exactly."""

    def __init__(self, ids: np.ndarray, progress: Report = unheard) -> None:
        self.ids = ids
        self._order, self._ends = suffix_array(ids, progress)

    @property
    def bytes(self) -> int:
        """What is held beside the ids."""
        return int(self._order.nbytes)

    def longest(self, question: np.ndarray) -> FoundPassage:
        """What stands in the stream from each place of a question (place,) on, as far as it does.

        Ids that are negative stand nowhere.
        """
        asked = _as_question(question)
        starts = np.arange(len(asked))
        return self._found(asked, starts, len(asked) - starts, whole=False)

    def counts(self, question: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """How often passages of a question (place,) stand in the stream: from `starts` on, of `lengths`."""
        return self._found(_as_question(question), starts, lengths, whole=True).counts

    def places(self, parts: Sequence[tuple[int, int]], most: int = 20) -> np.ndarray:
        """The first places in the stream, at most so many, of parts of `FoundPassage`, ascending."""
        found = [self._order[first : first + count] for first, count in parts]
        smallest = [np.partition(each, most - 1)[:most] if len(each) > most else each for each in found]
        together = np.concatenate([np.zeros(0, dtype=self._order.dtype), *smallest])
        return np.sort(together)[:most].astype(np.int64)

    def _found(
        self, asked: np.ndarray, starts: np.ndarray, limits: np.ndarray, *, whole: bool
    ) -> FoundPassage:
        """The longest beginnings of passages, no longer than `limits`; with `whole`, these or nothing."""
        shape = classes, _ = len(self._ends), len(starts)
        first, within = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        if not len(starts) or not len(self.ids):
            return FoundPassage(np.zeros(len(starts), dtype=np.int64), within.sum(axis=0), first, within)
        low = np.repeat(np.concatenate([[0], self._ends[:-1]]), len(starts))
        high = np.repeat(self._ends, len(starts))
        rows = _Rows(asked, np.tile(starts, classes), np.tile(limits, classes))
        place, common = self._bound(rows, low, high)
        lengths = common.reshape(shape).max(axis=0)
        if whole:
            lengths = np.where(lengths >= limits, lengths, 0)
        held = np.flatnonzero((common == np.tile(lengths, classes)) & (common > 0))
        rows = _Rows(asked, rows.starts[held], common[held])
        begin = self._edge(rows, place[held], low[held], -1)
        first.ravel()[held] = begin
        within.ravel()[held] = self._edge(rows, place[held], high[held], 1) - begin
        return FoundPassage(lengths, within.sum(axis=0), first, within)

    def _bound(self, rows: _Rows, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where in the order passages belong, between places of it, and how many ids they have in common with
        what stands before or at that place."""
        low, high = low.copy(), high.copy()
        below, above = np.zeros_like(low), np.zeros_like(low)
        while len(running := np.flatnonzero(low < high)):
            middle = (low[running] + high[running]) // 2
            known = np.minimum(below[running], above[running])
            common, smaller = self._compare(middle, rows.some(running), known)
            up, down = running[smaller], running[~smaller]
            low[up], below[up] = middle[smaller] + 1, common[smaller]
            high[down], above[down] = middle[~smaller], common[~smaller]
        return low, np.maximum(below, above)

    def _edge(self, rows: _Rows, place: np.ndarray, last: np.ndarray, way: int) -> np.ndarray:
        """How far from a place of the order on, one way, all begin with a passage: in steps that double, and
        then by halves; `last` is the end of the class."""
        reached, missed = place.copy(), last + way  # up to the one all do, to the other not
        step = np.ones_like(place)
        while len(running := np.flatnonzero(np.abs(missed - reached) > 1)):
            near, far = reached[running], missed[running]
            probe = near + way * step[running]
            probe = np.where(way * (far - probe) > 0, probe, (near + far) // 2)
            some = rows.some(running)
            common, _ = self._compare(np.minimum(probe, probe - way), some, np.zeros_like(probe))
            is_in = common >= some.limits
            reached[running[is_in]], missed[running[~is_in]] = probe[is_in], probe[~is_in]
            step[running] = np.where(is_in, np.minimum(2 * step[running], FAR), FAR)
        return reached

    def _compare(self, at: np.ndarray, rows: _Rows, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How many ids the stream has in common with passages, each from one place of the order on, and
        whether it is smaller. So many are `known` to be."""
        places, starts = self._order[at].astype(np.int64), rows.starts
        common = known.copy()
        running = np.arange(len(places))
        window = FIRST_WINDOW
        while len(running):
            offsets = common[running][:, None] + np.arange(window)
            equal = self._at(places[running][:, None] + offsets) == rows.at(
                starts[running][:, None] + offsets
            )
            equal &= offsets < rows.limits[running][:, None]
            same = np.where(equal.all(axis=1), window, np.argmin(equal, axis=1))
            common[running] += same
            running = running[same == window]
            window *= 2
        is_smaller = self._at(places + common) < rows.at(starts + common)
        return common, (common < rows.limits) & is_smaller

    def _at(self, places: np.ndarray) -> np.ndarray:
        """The ids at places, END behind the last."""
        inside = np.minimum(places, len(self.ids) - 1)
        return np.where(places < len(self.ids), self.ids[inside].astype(np.int64), END)


class _Rows(NamedTuple):
    """Passages of a question: ids from `starts` (passage,) on, as many as `limits` says."""

    asked: np.ndarray
    starts: np.ndarray
    limits: np.ndarray

    def some(self, which: np.ndarray) -> _Rows:
        return _Rows(self.asked, self.starts[which], self.limits[which])

    def at(self, places: np.ndarray) -> np.ndarray:
        """The ids at places of the question, UNKNOWN behind the last."""
        inside = np.minimum(places, len(self.asked) - 1)
        return np.where(places < len(self.asked), self.asked[inside], UNKNOWN)


def _as_question(question: np.ndarray) -> np.ndarray:
    """One row of ids, of which negative ones equal none; LmvizError for anything else."""
    asked = np.asarray(question, dtype=np.int64)
    if asked.ndim != 1:
        raise LmvizError(f"A question is one row of token ids, but its shape is {asked.shape}.")
    return np.where(asked < 0, UNKNOWN, asked)
