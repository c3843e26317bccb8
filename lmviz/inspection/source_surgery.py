"""Interventions on what a translation takes from its source.

To put there what the model makes of another source is activation patching.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lmviz.base.counting import head_name, numbered
from lmviz.base.errors import LmvizError
from lmviz.inspection.alignment import alignment_view, encoded_states, source_attentions
from lmviz.inspection.indices import from_start
from lmviz.inspection.intervention import Intervention, Where
from lmviz.inspection.trace import Trace
from lmviz.inspection.tracing import trace as trace_model
from lmviz.models.address import Address
from lmviz.models.model import Model

SHOWN = 24
"""How many characters of another source a label shows."""


def paint_alignment(
    trace: Trace, address: str, head: int, position: int, source: int, weight: float
) -> Intervention:
    """One weight of attention to the source set, and the others of its row scaled to sum to one with it.

    Where all the others are zero they share what is left evenly. It holds for sources of this length, and
    where it is not required it leaves others as they are.
    LmvizError for a source of a single token, which has the whole weight.
    """
    weights = alignment_view(trace, address, head).values
    position = from_start("position", position, len(weights))
    source = from_start("source", source, weights.shape[1])
    row = weights[position].astype(np.float64)
    if len(row) == 1:
        raise LmvizError("A source of one token has the whole weight: give a longer source.")
    others = np.arange(len(row)) != source
    weight = min(max(float(weight), 0.0), 1.0)
    left = row[others].sum()
    row[others] = row[others] * ((1 - weight) / left) if left > 0 else (1 - weight) / (len(row) - 1)
    row[source] = weight
    where: dict[str, Where] = {"position": position}
    named = "alignment"
    if trace[address].axes[0] == "head":
        where["head"] = head
        layer = [found.weights for found in source_attentions(trace)].index(address)
        named = f"alignment of head {head_name(layer, head)}"
    where["source"] = slice(None)  # all of it: part of a row would not sum to one beside the rest
    label = f"{named} set after {position + 1} “{trace.tokens[position]}”, for sources of {len(row)} tokens"
    return Intervention(address, "replace", tuple(row.tolist()), where, label=label)


def scale_source_head(trace: Trace, layer: int, head: int, factor: float = 0.0) -> Intervention:
    """What a head that looks at the source contributes multiplied; with 0 the head is removed.

    The layer counts from 0 among those that look at the source. LmvizError where there is no such head.
    """
    found = source_attentions(trace)
    attention = found[from_start("layer", layer, len(found))]
    if "head" not in trace[attention.context].axes:
        raise LmvizError(
            "This model looks at its source without heads: silence a word of the source instead."
        )
    head = from_start("head", head, attention.heads)
    how = "off" if factor == 0.0 else f"× {factor:.3g}"
    label = f"head {head_name(layer, head)} to the source {how}"
    return Intervention(attention.context, "scale", factor, {"head": head}, label=label)


def silence_source(trace: Trace, source: int) -> Intervention:
    """What the encoder made of one token of the source set to zero.

    Scores, keys and values that the decoder makes of it follow. Where the encoder is a recurrence in one
    direction the state is part of it, and the rest of the source is read on from zero.
    """
    tokens = trace.sequences["source"].tokens
    source = from_start("source", source, len(tokens))
    label = f"state of source {source + 1} “{tokens[source]}” off"
    return Intervention(encoded_states(trace), "replace", 0.0, {"source": source}, label=label)


def swap_context(
    model: Model, trace: Trace, position: int, other: str | np.ndarray
) -> tuple[Intervention, ...]:
    """The context at a position replaced by the one that the same text has there beside another source.

    One intervention for each attention to the source. LmvizError where the model has none.
    """
    found = source_attentions(trace)
    if not found:
        raise LmvizError("This model has no attention to its source: swap the last state instead.")
    position = from_start("position", position, len(trace))
    taken = _beside(model, trace, other, [attention.context for attention in found])
    label = f"context after {position + 1} “{trace.tokens[position]}” from {_named(other)}"
    return tuple(
        Intervention(
            attention.context,
            "replace",
            _plain(taken[attention.context].at(position=position)),
            {"position": position},
            label=label if len(found) == 1 else f"layer {numbered(layer)}: {label}",
        )
        for layer, attention in enumerate(found)
    )


def swap_last_state(model: Model, trace: Trace, other: str | np.ndarray) -> tuple[Intervention, ...]:
    """The encoder's last state, of each layer, replaced by that of another source.

    LmvizError for a model that hands no last state to its decoder.
    """
    found = last_states(trace)
    if not found:
        raise LmvizError("This model hands no last state to its decoder: swap the context at a word instead.")
    taken = _beside(model, trace, other, found)
    return tuple(
        Intervention(
            address,
            "replace",
            _plain(taken[address].array),
            label=("" if len(found) == 1 else f"layer {numbered(layer)}: ")
            + f"last state from {_named(other)}",
        )
        for layer, address in enumerate(found)
    )


def last_states(trace: Trace) -> tuple[str, ...]:
    """The taps (unit) of what an encoder that is a recurrence hands to the decoder, layer by layer."""
    return tuple(address for address in trace.arrays if Address.parse(address).matches("encoder/**/last"))


def _beside(model: Model, trace: Trace, other: str | np.ndarray, taps: Sequence[str]) -> Trace:
    """The same text beside another source, without interventions."""
    return trace_model(model, trace.ids, taps=list(taps), source=other)


def _named(source: str | np.ndarray) -> str:
    """A source in a label."""
    if not isinstance(source, str):
        return "another source"
    return f"“{source if len(source) <= SHOWN else source[: SHOWN - 1] + '…'}”"


def _plain(values: np.ndarray) -> tuple[Any, ...]:
    """An array as nested tuples, as interventions hold it."""
    rows = [_plain(row) if values.ndim > 1 else float(row) for row in values]
    return tuple(rows)
