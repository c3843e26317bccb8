"""The sequences that a model reads, and the axes that run along each."""

from __future__ import annotations

from collections.abc import Iterable

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


def is_along(axes: Iterable[str], sequence: str) -> bool:
    """Whether one of the axes runs along a sequence."""
    return any(ALONG.get(axis) == sequence for axis in axes)
