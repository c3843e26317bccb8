"""One rule for indices: they count from 0, and negative ones from the end, as in Python."""

from __future__ import annotations

from collections.abc import Sequence

from lmviz.errors import LmvizError


def from_start(axis: str, index: int, size: int) -> int:
    """An index counted from 0, whichever way it was given; LmvizError where there is no such place."""
    if not -size <= index < size:
        raise LmvizError(
            f"There is no {axis} {index}: there are {size}, counted from 0, or from the end with -1 first."
        )
    return index % size


def cell(axes: Sequence[str], index: Sequence[int], shape: Sequence[int]) -> tuple[int, ...]:
    """The index of a cell, each of its numbers counted from 0; LmvizError where there is no such cell."""
    if len(index) != len(axes):
        raise LmvizError(f"{tuple(index)} is no cell: it takes one index for each of {', '.join(axes)}.")
    return tuple(from_start(axis, int(at), size) for axis, at, size in zip(axes, index, shape, strict=True))
