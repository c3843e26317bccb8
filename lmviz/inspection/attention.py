"""Attention weights for pictures: several heads combined, and thumbnails of all heads."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.inspection.indices import from_start
from lmviz.inspection.trace import Trace
from lmviz.inspection.traced_array import TracedArray
from lmviz.models.address import Address

COMBINATIONS = ("mean", "max")


def attention_place(layer: int, side: str = "") -> str:
    """Where the taps of a layer's self-attention lie; `side` is "encoder" or "decoder" of what translates."""
    return "/".join(part for part in (side, "layers", str(layer), "attention") if part)


def attention_layers(trace: Trace, side: str = "") -> tuple[int, ...]:
    """The layers whose attention weights were recorded, counted from 0; none for other families.

    Of a model that translates, those of a `side`, "encoder" or "decoder".
    """
    weights = (at for at in map(Address.parse, trace.arrays) if at.name == "weights" and at.side == side)
    return tuple(at.layer for at in weights if at.block == "attention" and at.layer is not None)


def attention_weights(trace: Trace, layer: int, side: str = "") -> np.ndarray:
    """The attention weights of a layer, (head, query, key)."""
    return trace[f"{attention_place(layer, side)}/weights"].array


def combine_heads(
    trace: Trace, heads: Sequence[tuple[int, int]], how: str = "mean", side: str = ""
) -> np.ndarray:
    """The mean or the maximum over some heads, each given as (layer, head), cell by cell; (query, key)."""
    if how not in COMBINATIONS:
        raise LmvizError(f"Heads cannot be combined by {how!r}: choose one of {', '.join(COMBINATIONS)}.")
    if not heads:
        raise LmvizError("No head is chosen: choose at least one.")
    parts = [_head(trace, layer, head, side) for layer, head in heads]
    combined = parts[0].copy()
    for part in parts[1:]:
        np.maximum(combined, part, out=combined) if how == "max" else np.add(combined, part, out=combined)
    return combined if how == "max" else combined / len(parts)


def unseen_by_all(trace: Trace, heads: Sequence[tuple[int, int]], side: str = "") -> np.ndarray:
    """The keys that a mask hides from a query in all of some heads, (query, key) bool."""
    hidden = (trace.unseen(f"{attention_place(layer, side)}/weights", head=head) for layer, head in heads)
    return reduce(np.logical_and, hidden)


def farthest_looking_head(trace: Trace) -> tuple[int, int] | None:
    """The head (layer, head) that looks hardest from the last position at something far back.

    Far is what lies in the first half of the text, the first token apart, where heads rest that have
    nothing to look at. None where nothing attends, or the text is too short to have such a half.
    """
    half, layers = len(trace) // 2, attention_layers(trace)
    if half < 2 or not layers:
        return None
    found = {
        (layer, head): float(weights[1:half].max())
        for layer in layers
        for head, weights in enumerate(trace[f"{attention_place(layer)}/weights"].at(query=-1))
    }
    return max(found, key=found.__getitem__)


def thumbnails(trace: Trace, width: int = 64, side: str = "") -> np.ndarray:
    """Every head small, (layer, head, row, column) float32.

    Beyond `width` positions each cell is the largest weight of a square of cells, so that no line is lost;
    the thumbnails are then at most `width` cells wide. LmvizError where nothing attends.
    """
    layers = attention_layers(trace, side)
    if not layers:
        raise LmvizError("This trace has no attention: trace a Transformer.")
    weights = [trace[f"{attention_place(layer, side)}/weights"] for layer in layers]
    return np.stack([small_squares(traced, width) for traced in weights])


def small_squares(traced: TracedArray, width: int) -> np.ndarray:
    """`largest_of_squares` of weights that need not be held whole."""
    square = -(-traced.shape[-1] // width)
    parts = [largest_of_squares(rows, width) for _, rows in traced.blocks(square)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


def signed_thumbnails(gradients: Sequence[TracedArray], side: int = 64) -> np.ndarray:
    """The gradients of every head's weights small, (layer, head, row, column) float32.

    Beyond `side` positions each cell is the one of its square that is farthest from zero.
    """
    layers = []
    for traced in gradients:
        square = -(-max(traced.shape[1:]) // side)
        parts = [farthest_of_squares(rows, side) for _, rows in traced.blocks(square)]
        layers.append(np.concatenate(parts, axis=1))
    return np.stack(layers)


def largest_of_squares(weights: np.ndarray, side: int) -> np.ndarray:
    """Non-negative weights (head, query, key) reduced to at most (head, side, side), keeping the largest."""
    heads, queries, keys = weights.shape
    square = -(-max(queries, keys) // side)
    if square <= 1:
        return weights.astype(np.float32, copy=False)
    full, rest = divmod(queries, square)
    # Rows first: there numpy compares whole lines of memory, and little is left for the columns. Of these,
    # all first ones are compared with all second ones: numpy is slow where few are to be reduced to one.
    by_row = np.empty((heads, full + bool(rest), keys), weights.dtype)
    weights[:, : full * square].reshape(heads, full, square, keys).max(axis=2, out=by_row[:, :full])
    if rest:
        weights[:, full * square :].max(axis=1, out=by_row[:, full])
    largest = by_row[..., ::square].copy()
    for column in range(1, square):
        further = by_row[..., column::square]  # the last square may have fewer columns
        begun = largest[..., : further.shape[-1]]
        np.maximum(begun, further, out=begun)
    return largest.astype(np.float32, copy=False)


def farthest_of_squares(values: np.ndarray, side: int) -> np.ndarray:
    """The same for signed values: the one that is farthest from zero; NaN where no cell has a number."""
    missing = np.isnan(values)
    numbers = np.nan_to_num(values)
    above, below = largest_of_squares(numbers, side), largest_of_squares(-numbers, side)
    found = np.where(above >= below, above, -below)
    return np.where(largest_of_squares(~missing, side) > 0, found, np.float32(np.nan))


def most_looked_at(weights: np.ndarray, query: int) -> tuple[int, float]:
    """The key at which a query looks most, and the weight, of weights (query, key)."""
    row = np.nan_to_num(weights[query], nan=-np.inf)
    key = int(row.argmax())
    return key, float(row[key])


def weights_at(weights: np.ndarray, offset: int) -> np.ndarray:
    """What each query gives to the key at an offset, −1 for the one before, of weights (query, key).

    (query,) with NaN where there is no such key.
    """
    found = np.full(len(weights), np.nan)
    diagonal = np.diagonal(weights, offset)
    first = max(-offset, 0)
    found[first : first + len(diagonal)] = diagonal
    return found


def strongest_edges(weights: np.ndarray, count: int, least: float = 0.0) -> np.ndarray:
    """The places (edge, 2) of the largest weights (query, key) above `least`, weakest first."""
    flat = weights.ravel()
    kept = np.flatnonzero(flat > least)
    if len(kept) > count:
        kept = kept[np.argpartition(-flat[kept], count)[:count]]
    kept = kept[np.argsort(flat[kept])]
    return np.stack(np.unravel_index(kept, weights.shape), axis=1)


def edges_of(
    weights: np.ndarray, position: int, least: float = 0.0, *, looked_at: bool = False
) -> np.ndarray:
    """The places (edge, 2) of what a position looks at above `least`, or who looks at it, weakest first."""
    shown = weights[:, position] if looked_at else weights[position]
    others = np.argsort(shown)
    others = others[shown[others] > least]
    here = np.full_like(others, position)
    return np.stack([others, here] if looked_at else [here, others], axis=1)


def _head(trace: Trace, layer: int, head: int, side: str) -> np.ndarray:
    weights = attention_weights(trace, layer, side)
    return weights[from_start("head", head, len(weights))]
