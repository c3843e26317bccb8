"""Which place of its source one looks at, of a reading of a model that translates."""

from __future__ import annotations

from lmviz.app.session.session import Session
from lmviz.models.sequences import SOURCE


def source_position(session: Session) -> int:
    """The place of the source under the pointer, or the pinned one; −1 where the reading has no source.

    Where none is pinned it is the place of the same number as the position of the text.
    """
    reading, focus = session.reading, session.focus
    sequences = {} if reading.current is None else reading.current.trace.sequences
    if SOURCE not in sequences:
        return -1
    shown = next(at for at in (focus.hovered_source, focus.source, reading.position) if at is not None)
    return min(shown, len(sequences[SOURCE].tokens) - 1)
