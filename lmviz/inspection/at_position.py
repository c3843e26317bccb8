"""What a trace says of one position: where taps are read, through which window, and what stands there."""

from __future__ import annotations

from lmviz.inspection.trace import Trace
from lmviz.models.sequences import SOURCE, TEXT, is_along


def source_place(trace: Trace, position: int) -> int:
    """The place of the source at which an encoder is drawn: that of the same number, as in every view of one.

    −1 where the model reads no source.
    """
    return min(position, len(trace.sequences[SOURCE].tokens) - 1) if SOURCE in trace.sequences else -1


def place_along(trace: Trace, address: str, position: int, source_position: int) -> int:
    """Where a tap is read: at the position, or at that of the source if it runs along the source alone."""
    axes = trace[address].axes
    return source_position if is_along(axes, SOURCE) and not is_along(axes, TEXT) else position


def looked_at_most(trace: Trace, address: str, position: int) -> list[tuple[int, float]]:
    """For each head of attention weights the key that a query gives most weight, and that weight."""
    rows = trace[address].at(**{trace[address].axes[-2]: position})  # (head, key)
    keys = rows.argmax(axis=-1)
    return [(int(key), float(row[key])) for key, row in zip(keys, rows, strict=True)]


def mean_share(trace: Trace, address: str, position: int) -> float:
    """How far a gate is open on average."""
    return float(trace[address].at(**{trace[address].axes[0]: position}).mean())


def window_taps(trace: Trace) -> tuple[str, str, int] | None:
    """The taps that a window reads and makes, and how many words it holds.

    None for other models, and for those that do not predict the next word.
    """
    stage = next((stage for stage in trace.stages if max(stage.spans, default=1) > 1), None)
    is_next_word = trace["probabilities"].axes[-1] == "token"
    if stage is None or stage.place == "output" or not is_next_word:
        return None
    return stage.operands[0], stage.results[0], stage.spans[0]
