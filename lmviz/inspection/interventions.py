"""Functions that make the usual interventions: ablation, activation patching, steering.

Values may be numbers, arrays, or functions of the cells that are meant, and indices may be negative; see
`lmviz.inspection.intervention.Intervention`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from lmviz.base.counting import head_name
from lmviz.base.errors import LmvizError
from lmviz.inspection.attention import attention_place
from lmviz.inspection.indices import from_start
from lmviz.inspection.intervention import TOKENS, Intervention, Where, describe_value
from lmviz.models.address import SIDES

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
    "silence_direction",
    "swap_tokens",
    "zero",
]


def replace(address: str, value: Any, **where: Where) -> Intervention:
    """Cells of a tap set to a value: replace("layers/0/hidden", 0.9, position=3, unit=17).

    With the mean of the cells it is mean ablation; with those of another text's trace, activation patching.
    """
    return Intervention(address, "replace", value, where)


def scale(address: str, factor: Any, **where: Where) -> Intervention:
    """Cells of a tap multiplied."""
    return Intervention(address, "scale", factor, where)


def add(address: str, amount: Any, **where: Where) -> Intervention:
    """Something added to cells of a tap, such as a direction of the residual stream."""
    return Intervention(address, "add", amount, where)


def zero(address: str, **where: Where) -> Intervention:
    """Zero ablation: zero("layers/0/hidden", unit=17) sets a unit to zero at all positions."""
    return replace(address, 0.0, **where)


def scale_head(layer: int, head: int, factor: Any = 0.0, side: str = "") -> Intervention:
    """An intervention that multiplies what an attention head contributes; with 0 the head is removed.

    The layer counts from 0, as in addresses; `side` is "encoder" or "decoder" of a model that translates.
    LmvizError for a negative layer, for a head that is no whole number, and for another side.
    """
    if not isinstance(layer, Integral) or layer < 0:
        raise LmvizError(f"Layers are counted from 0, as in the address layers/0/attention, not {layer!r}.")
    if not isinstance(head, Integral):
        raise LmvizError(f"{head!r} is not a head: give a whole number, from 0 on, or from the end with -1.")
    if not isinstance(side, str) or side not in ("", *SIDES):
        raise LmvizError(f"There is no side {side!r}: choose {' or '.join(SIDES)} of what translates.")
    change = Intervention(f"{attention_place(layer, side)}/mixed", "scale", factor, {"head": head})
    how = "off" if change.value == 0.0 else f"× {describe_value(change.value)}"
    label = f"{side} head {head_name(layer, head)} {how}".lstrip()
    return dataclasses.replace(change, label=label)


def silence_direction(direction: str) -> Intervention:
    """All states of one direction of a recurrent network set to zero, "forward" or "backward".

    What reads both directions then has only what the other has read. LmvizError for another word.
    """
    if direction not in ("forward", "backward"):
        raise LmvizError(f"There is no direction {direction!r}: choose forward or backward.")
    return Intervention(f"layers/*/{direction}/hidden", "replace", 0.0, label=f"{direction} direction off")


def swap_tokens(first: int, second: int, tokens: Sequence[str] = ()) -> Intervention:
    """Two tokens of the prefix exchanged, by their positions from 0; `tokens` only name them."""
    named = max(first, second) < len(tokens)
    label = f"swap “{tokens[first]}”, “{tokens[second]}”" if named else ""
    return Intervention(TOKENS, "swap", where={"position": (first, second)}, label=label)


def paint_attention(
    trace: Trace, layer: int, head: int, query: int, key: int, weight: float, side: str = ""
) -> Intervention:
    """One attention weight set, and the others of its row scaled so that the row still sums to one.

    Where all the others are zero they share what is left evenly. `side` is "encoder" or "decoder" of a model
    that translates. LmvizError for a key that the mask hides from the query, and for a query that sees
    nothing else.
    """
    address = f"{attention_place(layer, side)}/weights"
    weights, (_, rows, columns) = trace[address].array, trace[address].axes
    words = trace.names(rows)
    query, key = from_start("query", query, len(words)), from_start("key", key, len(words))
    head = from_start("head", head, len(weights))
    seen = np.flatnonzero(~trace.unseen(address, **{"head": head, rows: query}))
    if key not in seen:
        raise LmvizError("The mask hides this key from the query: choose another.")
    if len(seen) == 1:
        raise LmvizError("This position can only look at itself: choose another row.")
    row = weights[head, query, seen].astype(np.float64)
    others = seen != key
    weight = min(max(float(weight), 0.0), 1.0)
    left = row[others].sum()
    row[others] = row[others] * ((1 - weight) / left) if left > 0 else (1 - weight) / (len(seen) - 1)
    row[~others] = weight
    # Only keys that are seen are stated, so that a causal row still fits when the text goes on.
    stated = slice(int(seen[0]), int(seen[-1]) + 1) if len(seen) == np.ptp(seen) + 1 else tuple(seen.tolist())
    where: dict[str, Where] = {"head": head, rows: query, columns: stated}
    label = f"{side} head {head_name(layer, head)} set at {query + 1} “{words[query]}”".lstrip()
    return Intervention(address, "replace", tuple(row.tolist()), where, label=label)


def remove_positions(model: Model) -> tuple[Intervention, ...]:
    """What makes a Transformer blind to positions, except for the causal mask.

    Position vectors and biases by distance become zero; rotary turns are passed by. LmvizError where a model
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
            "This model has no position vectors, rotations or biases to remove: it knows the order in "
            "another way."
        )
    return found
