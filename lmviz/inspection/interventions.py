"""The interventions that a person makes, each in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lmviz.errors import LmvizError
from lmviz.inspection.intervention import TOKENS, Intervention, Where

if TYPE_CHECKING:
    from lmviz.inspection.trace import Trace
    from lmviz.models.model import Model

__all__ = [
    "Intervention",
    "add",
    "paint_attention",
    "remove_positions",
    "replace",
    "scale",
    "scale_head",
    "swap_tokens",
    "zero",
]


def replace(address: str, value: Any, **where: Where) -> Intervention:
    """Cells of a tap set to a value: replace("layers/0/hidden", 0.9, position=3, unit=17)."""
    return Intervention(address, "replace", value, where)


def scale(address: str, factor: Any, **where: Where) -> Intervention:
    """Cells of a tap multiplied."""
    return Intervention(address, "scale", factor, where)


def add(address: str, amount: Any, **where: Where) -> Intervention:
    """Something added to cells of a tap."""
    return Intervention(address, "add", amount, where)


def zero(address: str, **where: Where) -> Intervention:
    """Cells of a tap set to zero: zero("layers/0/hidden", unit=17) removes a unit at all positions."""
    return replace(address, 0.0, **where)


def scale_head(layer: int, head: int, factor: float = 0.0) -> Intervention:
    """What an attention head contributes multiplied; with 0 the head is removed. Counted from 0."""
    label = f"head {layer + 1}·{head + 1} " + ("off" if factor == 0 else f"× {factor:.3g}")
    return Intervention(f"layers/{layer}/attention/mixed", "scale", factor, {"head": head}, label=label)


def swap_tokens(first: int, second: int, tokens: Sequence[str] = ()) -> Intervention:
    """Two tokens of the prefix exchanged, by their positions from 0; `tokens` only name them."""
    named = max(first, second) < len(tokens)
    label = f"swap “{tokens[first]}”, “{tokens[second]}”" if named else ""
    return Intervention(TOKENS, "swap", where={"position": (first, second)}, label=label)


def paint_attention(trace: Trace, layer: int, head: int, query: int, key: int, weight: float) -> Intervention:
    """One attention weight set, and the others of its row scaled so that the row still sums to one.

    Where all the others are zero they share what is left evenly. LmvizError for a key after the query,
    and for the first position, which has nothing else to look at.
    """
    if not 0 <= key <= query < len(trace.ids):
        raise LmvizError("A position can only look at itself and at those before it: choose an earlier key.")
    if query == 0:
        raise LmvizError("The first position has nothing but itself to look at: paint a later row.")
    address = f"layers/{layer}/attention/weights"
    row = trace[address].array[head, query, : query + 1].astype(np.float64)
    others = np.arange(query + 1) != key
    weight = min(max(float(weight), 0.0), 1.0)
    left = row[others].sum()
    row[others] = row[others] * ((1 - weight) / left) if left > 0 else (1 - weight) / query
    row[key] = weight
    # Only keys up to the query are stated, so that the row still fits when the text goes on.
    where = {"head": head, "query": query, "key": slice(0, query + 1)}
    label = f"head {layer + 1}·{head + 1} painted at {query + 1} “{trace.tokens[query]}”"
    return Intervention(address, "replace", row, where, label=label)


def remove_positions(model: Model) -> tuple[Intervention, ...]:
    """What makes a Transformer blind to positions, except for the causal mask.

    Position vectors and ALiBi's bias become zero; rotary turns are passed by. LmvizError where a model
    has nothing of the kind.
    """
    label = "no positions"
    made = {
        "embedding/position": Intervention("embedding/position", "replace", label=label),
        "bias": Intervention("layers/*/attention/bias", "replace", label=label),
        "rotated": Intervention("layers/*/attention/*_rotated", "bypass", label=label),
    }
    addresses = [tap.address for tap in model.taps()]
    found = tuple(item for item in made.values() if any(item.concerns(address) for address in addresses))
    if not found:
        raise LmvizError(
            "This model has no position vectors, turns or biases to remove: order reaches it another way."
        )
    return found
