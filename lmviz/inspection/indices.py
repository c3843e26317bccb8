"""One rule for indices: they count from 0, and negative ones from the end, as in Python."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index as whole

from lmviz.base.errors import LmvizError


def from_start(axis: str, index: int, size: int) -> int:
    """An index counted from 0, whichever way it was given; LmvizError where there is no such place."""
    try:
        place = whole(index)
    except TypeError:
        raise LmvizError(
            f"{index!r} is no {axis}: give a whole number, counted from 0, or from the end with -1 first."
        ) from None
    if not -size <= place < size:
        raise LmvizError(
            f"There is no {axis} {place}: there are {size}, counted from 0, or from the end with -1 first."
        )
    return place % size


def cell(axes: Sequence[str], index: Sequence[int], shape: Sequence[int]) -> tuple[int, ...]:
    """The index of a cell, each of its numbers counted from 0; LmvizError where there is no such cell."""
    try:
        given = tuple(index)
    except TypeError:
        given = ()
    if len(given) != len(axes) or isinstance(index, str):
        shown = index if isinstance(index, str) else given or index
        raise LmvizError(f"{shown!r} is not a cell: give one index for each of {', '.join(axes)}.")
    return tuple(from_start(axis, at, size) for axis, at, size in zip(axes, given, shape, strict=True))
