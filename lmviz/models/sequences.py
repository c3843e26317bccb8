"""The sequences that a model reads, and the axes that run along each."""

from __future__ import annotations

from functools import lru_cache

TEXT = "text"
"""The sequence that every model reads: its prefix, or what a translation has come to."""

SOURCE = "source"
"""The sequence that an encoder reads, whole, before the text begins."""

ALONG = {
    "position": TEXT,
    "query": TEXT,
    "key": TEXT,
    "source": SOURCE,
    "source_query": SOURCE,
    "source_key": SOURCE,
    "pixel": SOURCE,
}
"""For each axis that is as long as a sequence, which one it is; other axes belong to the model."""


@lru_cache(maxsize=256)  # asked for of every tap with every token that is typed
def places_along(axes: tuple[str, ...], sequence: str) -> tuple[int, ...]:
    """Which of the axes run along a sequence, counted from 0."""
    return tuple(place for place, axis in enumerate(axes) if ALONG.get(axis) == sequence)


def is_along(axes: tuple[str, ...], sequence: str) -> bool:
    """Whether one of the axes runs along a sequence."""
    return bool(places_along(axes, sequence))
