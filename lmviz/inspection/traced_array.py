"""The value of one tap in a trace. It may be stored in parts, which are joined when it is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.inspection.indices import from_start
from lmviz.models.address import Address
from lmviz.models.sequences import TEXT, places_along

MOST_PARTS = 8
"""Rows that were typed one by one lie apart until there are so many parts; then they become one."""

SMALL_SHARE = 0.25
"""Of an array of which less is wanted, that much is copied, so that the rest can go."""


@dataclass(frozen=True, eq=False, repr=False)
class TracedArray:
    """The value of one tap: a read-only array, the names of its axes, and what its numbers are.

    `scale` is one of `lmviz.models.tap.SCALES`.
    """

    array: np.ndarray
    axes: tuple[str, ...]
    scale: str

    def __repr__(self) -> str:
        sizes = " × ".join(f"{axis} {size}" for axis, size in zip(self.axes, self.shape, strict=True))
        return f"<TracedArray {sizes} ({self.scale})>"

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of its axes, without joining or computing anything."""
        return self.array.shape

    @property
    def is_deferred(self) -> bool:
        """Whether the numbers are computed only when they are read."""
        return False

    def is_known(self, **indices: int) -> bool:
        """Whether `at` has nothing to compute there."""
        return not self.is_deferred

    def at(self, **indices: int) -> np.ndarray:
        """The part at some indices, by the names of their axes: at(head=2, query=5) is (key,).

        Negative indices count from the end. LmvizError where there is no such axis or place.
        """
        unknown = set(indices) - set(self.axes)
        if unknown:
            raise LmvizError(f"There is no axis {min(unknown)!r}: the axes are {', '.join(self.axes)}.")
        sizes = dict(zip(self.axes, self.shape, strict=True))
        return self._at({axis: from_start(axis, at, sizes[axis]) for axis, at in indices.items()})

    def beginning(self, positions: int) -> tuple[np.ndarray, ...]:
        """The first positions along every axis that is as long as the text, as parts along "position".

        Parts are views, unless they would keep alive an array that is far larger than they are.
        """
        array, along = self.array, places_along(self.axes, TEXT)
        if all(array.shape[place] == positions for place in along):
            return (array,)
        places = tuple(slice(positions if place in along else None) for place in range(array.ndim))
        return (unburdened(array[places]),)

    def up_to(self, positions: int) -> TracedArray:
        """The same for the first positions alone."""
        return of_parts(self.beginning(positions), self.axes, self.scale)

    @property
    def hides_later(self) -> bool:
        """Whether minus infinity stands wherever the key comes after the query, known without computing."""
        return False

    @property
    def depth(self) -> int:
        """How many arrays of shorter texts lie within one another here."""
        return 0

    def blocks(self, multiple: int = 1) -> Iterator[tuple[int, np.ndarray]]:
        """A value (head, query, key) as stretches of its rows, each with its first query.

        Where it is recorded there is one, the whole; else each is computed when its turn comes. All but the
        last have a `multiple` of rows.
        """
        yield 0, self.array

    def rows(self, positions: Sequence[int]) -> np.ndarray:
        """What stands at some places of its first axis, in that order."""
        return self.array[list(positions)]

    def lock(self) -> None:
        """Make the numbers read-only."""
        self.array.flags.writeable = False

    def _at(self, indices: dict[str, int]) -> np.ndarray:
        """The part at indices that exist, counted from 0."""
        return self.array[tuple(indices.get(axis, slice(None)) for axis in self.axes)]


class PartedArray(TracedArray):
    """One stored in parts along its axis "position", which are joined when it is first read whole.

    Typing at the end of a text adds a row to the logits; a copy of all the others, of 26 MB for a
    model such as GPT-2 and a text of 128 tokens, would take longer than computing the row.
    """

    _parts: tuple[np.ndarray, ...]
    _axis: int

    def __init__(self, parts: Sequence[np.ndarray], axes: tuple[str, ...], scale: str) -> None:
        own = {"axes": axes, "scale": scale, "_parts": tuple(parts), "_axis": axes.index("position")}
        vars(self).update(own)  # at once: one is made of every tap with every token that is typed

    @cached_property
    def array(self) -> np.ndarray:
        """The whole."""
        whole = np.concatenate(self._parts, axis=self._axis)
        whole.flags.writeable = False
        object.__setattr__(self, "_parts", (whole,))  # so that nothing is kept twice
        return whole

    @property
    def shape(self) -> tuple[int, ...]:
        first, axis = self._parts[0].shape, self._axis
        return (*first[:axis], sum(part.shape[axis] for part in self._parts), *first[axis + 1 :])

    def beginning(self, positions: int) -> tuple[np.ndarray, ...]:
        if self._is_whole:
            return super().beginning(positions)
        axis, parts = self._axis, self._parts
        if sum([part.shape[axis] for part in parts]) == positions:
            return parts
        kept, missing, before = [], positions, (slice(None),) * axis
        for part in parts:
            if missing > 0:
                kept.append(unburdened(part[(*before, slice(missing))]))
                missing -= part.shape[axis]
        return tuple(kept)

    def lock(self) -> None:
        for part in self._parts:
            part.flags.writeable = False

    @property
    def _is_whole(self) -> bool:
        return "array" in self.__dict__

    def _at(self, indices: dict[str, int]) -> np.ndarray:
        position = indices.get("position")
        if self._is_whole or position is None:
            return super()._at(indices)
        parts = iter(self._parts)
        part = next(parts)
        while position >= part.shape[self._axis]:
            position -= part.shape[self._axis]
            part = next(parts)
        return TracedArray(part, self.axes, self.scale).at(**{**indices, "position": position})


def scores_behind(arrays: Mapping[str, TracedArray], address: str) -> TracedArray | None:
    """The scores that say which cells of a square of attention enter; None where there are none recorded."""
    scores = arrays.get(Address.parse(address).beside("scores"))
    is_behind = scores is not None and scores.axes == arrays[address].axes and scores.axes[0] == "head"
    return scores if is_behind else None


def of_parts(parts: Sequence[np.ndarray], axes: tuple[str, ...], scale: str) -> TracedArray:
    """Parts along the positions; where there are many, all but the first, which is the largest, as one."""
    if len(parts) == 1:
        return TracedArray(parts[0], axes, scale)
    if len(parts) > MOST_PARTS:
        parts = (parts[0], np.concatenate(parts[1:], axis=axes.index("position")))
    return PartedArray(parts, axes, scale)


def unburdened(view: np.ndarray) -> np.ndarray:
    """The view, or a copy of it where it is a small share of the array behind it."""
    behind = view.base
    is_small = isinstance(behind, np.ndarray) and view.nbytes < SMALL_SHARE * behind.nbytes
    return view.copy() if is_small else view
