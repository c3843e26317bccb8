"""Where a model that translates looks in its source: its attention weights, (position, source).

What is found here is found from axes and stages, so that it holds for every family with such attention.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.inspection.attention import largest_of_squares
from lmviz.inspection.trace import Trace
from lmviz.inspection.views import View, likeliest_answers, matrix
from lmviz.models.address import Address
from lmviz.models.sequences import SOURCE

TO_SOURCE = ("position", "source")


@dataclass(frozen=True)
class SourceAttention:
    """One attention to the source, by the addresses of its taps.

    `weights` (position, source) are shares of each row, `states` (source, unit) what they average, `context`
    (position, unit) the average. Where there are heads each has them as its first axis. `steps` are the taps
    that lead to the weights, the weights last.
    """

    weights: str
    states: str
    context: str
    heads: int
    steps: tuple[str, ...]


def source_attentions(trace: Trace) -> tuple[SourceAttention, ...]:
    """Those of a trace, layer by layer; none for a model that reads no source, or has no attention to it."""
    found = []
    for address, traced in trace.arrays.items():
        if traced.scale != "share" or traced.axes[-2:] != TO_SOURCE:
            continue
        stage = next((stage for stage in trace.stages if address in stage.operands), None)
        if stage is None:
            continue
        states = next(operand for operand in stage.operands if operand != address)
        place = Address.parse(address).place
        steps = [
            other
            for other, its in trace.arrays.items()
            if its.axes == traced.axes and Address.parse(other).is_in(place)
        ]
        heads = traced.shape[0] if traced.axes[0] == "head" else 1
        found.append(SourceAttention(address, states, stage.results[0], heads, tuple(steps)))
    return tuple(found)


def alignment_view(trace: Trace, address: str, head: int = 0) -> View:
    """A tap (…, position, source) of one head, with a row for each position."""
    traced = trace[address]
    if traced.axes[-2:] != TO_SOURCE:
        raise LmvizError(f"{address} is not attention to a source: its axes are {', '.join(traced.axes)}.")
    return matrix(trace, address, head, 0, ())


def combined_alignment(trace: Trace, heads: Sequence[tuple[int, int]]) -> np.ndarray:
    """The mean over some heads (layer, head), cell by cell; (position, source)."""
    if not heads:
        raise LmvizError("No head is chosen: choose at least one.")
    found = source_attentions(trace)
    parts = np.stack([alignment_view(trace, found[layer].weights, head).values for layer, head in heads])
    mean: np.ndarray = parts.mean(axis=0)
    return mean


def alignment_thumbnails(trace: Trace, side: int = 64) -> np.ndarray:
    """Every head small, (layer, head, row, column) float32, as `lmviz.inspection.attention.thumbnails`."""
    layers = [trace[attention.weights].array for attention in source_attentions(trace)]
    return np.stack(
        [largest_of_squares(weights if weights.ndim == 3 else weights[None], side) for weights in layers]
    )


def sharpest_head(trace: Trace) -> tuple[int, int] | None:
    """The head (layer, head) whose rows put most on one word of the source; None where there are no heads.

    It is the one that reads most like an alignment.
    """
    found = {
        (layer, head): float(alignment_view(trace, attention.weights, head).values.max(axis=1).mean())
        for layer, attention in enumerate(source_attentions(trace))
        if "head" in trace[attention.weights].axes
        for head in range(attention.heads)
    }
    return max(found, key=found.__getitem__) if found else None


def written_words(trace: Trace) -> tuple[str, ...]:
    """For each position the token that was written there: the one after the token that was read.

    At the last position none has been written yet: it is the likeliest, with a question mark.
    """
    (likeliest,) = likeliest_answers(trace, len(trace) - 1, 1)
    known = trace.vocabulary
    name = known[likeliest] if likeliest < len(known) else str(likeliest)
    return (*trace.tokens[1:], f"{name}?")


def encoded_states(trace: Trace) -> str:
    """The tap (source, unit) with what was made of each word of the source, which the decoder reads.

    LmvizError for a model that reads no source.
    """
    found = [
        address
        for address, traced in trace.arrays.items()
        if Address.parse(address).side == "encoder" and len(traced.axes) == 2 and traced.axes[0] == SOURCE
    ]
    if not found:
        raise LmvizError("This model reads no source: open one that translates.")
    return found[-1]
