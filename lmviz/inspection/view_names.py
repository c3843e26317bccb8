"""What stands along the axes of a view: words of the text, words of the vocabulary, labels or numbers."""

from __future__ import annotations

from collections.abc import Sequence

from lmviz.inspection.names import coordinate
from lmviz.inspection.trace import Trace


def names_along(trace: Trace, axis: str, indices: Sequence[int]) -> tuple[str, ...]:
    """The names at indices of an axis; "unit 3" where nothing has a name, and nothing without an axis."""
    if not axis:
        return ()
    known = trace.names(axis)
    return tuple(known[index] if index < len(known) else coordinate(axis, index) for index in indices)
