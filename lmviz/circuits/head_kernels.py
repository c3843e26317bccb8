"""Heads as channels of a convolution: what a head weights at each offset, and how much of it is always so.

A channel of a convolution gives each neighbour a weight that depends on its offset alone. A head gives it one
that depends on the words. If all positions of a text give an offset the same weight, the head is a channel,
and one that always looks at the same offset is a single tap of a kernel (Cordonnier, Loukas & Jaggi 2020).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lmviz.base.arguments import whole_number
from lmviz.base.errors import LmvizError
from lmviz.circuits.result import Numbers
from lmviz.inspection.attention import attention_layers, attention_place
from lmviz.inspection.backpropagation import unchanged
from lmviz.inspection.indices import from_start
from lmviz.inspection.trace import Trace
from lmviz.inspection.tracing import trace
from lmviz.models.finite import check_states
from lmviz.models.interruption import look_up
from lmviz.models.operations import Affine, JoinedHeads, Mix
from lmviz.models.tap import Weight

if TYPE_CHECKING:
    from lmviz.inspection.intervention import Intervention
    from lmviz.models.model import Model

ROWS = 256
"""So many positions of a convolution are computed at once."""

FEW = 32
"""So few offsets are added up one by one; of more, a convolution is a product of matrices."""

SIDES = ("encoder", "decoder")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class HeadKernels(Numbers):
    """The mean weight of each head of a layer at each offset, (head, offset): a kernel for each head.

    `offsets` (offset,) say where a key is from its query, −1 for the token before. The mean is over the
    positions of the text that have such a neighbour, `positions` (offset,) of them. `shares` (head,) say how
    much of what a head writes its kernel would write: 1 − the sum of squares of what is missing / that of
    what the head writes. It is 1 for a channel of a convolution, below 0 where the kernel is further off than
    nothing, and NaN for a head that writes nothing.

    Weight × value through the output matrix, summed over all heads and offsets, with the bias: `difference`
    is by how much that misses the layer's output at most, and `largest` the largest number in that output.
    """

    layer: int
    side: str
    offsets: np.ndarray
    positions: np.ndarray
    shares: np.ndarray
    difference: float
    largest: float

    @property
    def is_exact(self) -> bool:
        """Whether the sum is the layer's output but for rounding, as it is unless a change is in force."""
        return self.difference <= 1e-4 * max(self.largest, 1e-4)


def head_kernels(
    model: Model,
    text: str | Sequence[int] | np.ndarray,
    layer: int = 0,
    *,
    side: str = "",
    size: int | None = None,
    interventions: Sequence[Intervention] = (),
    **beside: Any,
) -> HeadKernels:
    """The kernels of a layer's heads on a text; `beside` is what a translator reads beside it.

    LmvizError as of `kernels_of`.
    """
    if not isinstance(side, str) or side not in ("", "cross", *SIDES):
        raise LmvizError(f"A side is 'encoder' or 'decoder', and no {side!r}: choose one, or leave it out.")
    if f"{attention_place(0, side)}/weights" not in _addresses(model):
        raise LmvizError(_why_none(model, side))
    taps = [f"{attention_place(0, side).replace('0', '*')}/{name}" for name in ("weights", "value", "output")]
    found = trace(model, text, taps=taps, interventions=interventions, **beside)
    return kernels_of(model, found, layer, side=side, size=size)


def kernels_of(
    model: Model, found: Trace, layer: int = 0, *, side: str = "", size: int | None = None
) -> HeadKernels:
    """The kernels of the heads of a layer, counted from 0, in a trace of the model.

    A kernel has the `size` offsets that are nearest, all that the text has without it. `side` is "encoder" or
    "decoder" of a Transformer that translates. LmvizError where there is no such attention.
    """
    model, _ = unchanged(model, ())
    taps = {tap.address: tap for tap in model.taps()}
    layers = attention_layers(found, side)
    if not layers:
        raise LmvizError(_why_none(model, side))
    layer = layers[from_start("layer", layer, len(layers))]
    if size is not None:
        whole_number("size", size, least=1)
    place = attention_place(layer, side)
    output, mix = taps[f"{place}/output"].operation, taps[f"{place}/mixed"].operation
    assert isinstance(mix, Mix)
    assert isinstance(output, Affine)
    (linear,) = output.summands
    assert isinstance(linear.input, JoinedHeads)
    weights, values = found[f"{place}/weights"], found[f"{place}/value"].array.astype(np.float64)
    check_states(model, values, f"its values in layer {layer}")
    values = np.repeat(values, mix.shared, axis=0)  # (head, position, channel)
    heads, count, _ = weights.shape
    sums, mixed = np.zeros((heads, 2 * count - 1)), np.zeros(values.shape)
    is_causal = side == "decoder" if side else model.causal
    for first, rows in weights.blocks():
        mixed[:, first : first + rows.shape[1]] = rows @ values
        for query in range(first, first + rows.shape[1]):
            row = rows[:, query - first]
            sums[:, count - 1 - query : 2 * count - 1 - query] += row
            is_causal = is_causal and not row[:, query + 1 :].any()
        look_up(0.5 * (first + rows.shape[1]) / count)
    every = np.arange(1 - count, count)
    held = np.sort(_nearest(count, is_causal)[:size])
    offsets = held[::-1] if is_causal else held
    kernels = (sums / (count - np.abs(every)))[:, offsets + count - 1]
    matrix = _numbers(model, linear.weight).reshape(-1, heads, values.shape[-1]).transpose(1, 2, 0)
    target = found[f"{place}/output"].array
    whole = sum(own @ out for own, out in zip(mixed, matrix, strict=True))
    whole = whole if linear.bias is None else whole + _numbers(model, linear.bias)
    return HeadKernels(
        array=kernels,
        axes=("head", "offset"),
        names={"offset": tuple(map(str, offsets.tolist()))},
        layer=layer,
        side=side,
        offsets=offsets,
        positions=count - np.abs(offsets),
        shares=_shares(mixed, convolved(kernels, offsets, values), matrix),
        difference=float(np.abs(whole - target).max()),
        largest=float(np.abs(target).max()),
    )


def convolved(kernels: np.ndarray, offsets: np.ndarray, values: np.ndarray) -> np.ndarray:
    """What kernels (head, offset) make of values (head, position, channel), with zeros beyond the text.

    At a position it is the sum over offsets of the kernel's weight × the value there.
    """
    heads, count, _ = values.shape
    made = np.zeros(values.shape)
    if len(offsets) <= FEW:
        for column, offset in enumerate(offsets.tolist()):
            first, end = max(-offset, 0), count - max(offset, 0)
            made[:, first:end] += kernels[:, column, None, None] * values[:, first + offset : end + offset]
        return made
    full = np.zeros((heads, 2 * count - 1))
    full[:, offsets + count - 1] = kernels
    for head in range(heads):
        # Window number count − 1 − t holds the weights of position t.
        windows = np.lib.stride_tricks.sliding_window_view(full[head], count)[::-1]
        for first in range(0, count, ROWS):
            made[head, first : first + ROWS] = windows[first : first + ROWS] @ values[head]
        look_up(0.5 + 0.5 * (head + 1) / heads)
    return made


def _shares(mixed: np.ndarray, made: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """How much of what heads write is made, (head,): by squares, behind their rows of the output matrix."""

    def squares(vectors: np.ndarray) -> np.ndarray:
        written = np.einsum("hcw,hdw->hcd", matrix, matrix)
        return np.asarray(np.einsum("hpc,hcd,hpd->h", vectors, written, vectors, optimize=True))

    whole = squares(mixed)
    missing = np.divide(squares(mixed - made), whole, out=np.full(len(whole), np.nan), where=whole > 0)
    return np.asarray(1 - missing)


def _nearest(count: int, is_causal: bool) -> np.ndarray:
    """The offsets of a text of so many positions, the nearest first and earlier tokens before later ones."""
    back = -np.arange(count)
    return back if is_causal else np.array([0, *np.column_stack([back[1:], -back[1:]]).ravel()], dtype=int)


def _numbers(model: Model, operand: Weight) -> np.ndarray:
    whole = model.tensors()[operand.name]
    rows = whole if operand.rows is None else whole[slice(*operand.rows)]
    return np.asarray(rows.detach().cpu().double().numpy())


def _addresses(model: Model) -> set[str]:
    return {tap.address for tap in model.taps()}


def _why_none(model: Model, side: str) -> str:
    name = model.name or f"This model ({model.family})"
    addresses = _addresses(model)
    sides = [each for each in SIDES if f"{each}/layers/0/attention/weights" in addresses]
    if side == "cross" and sides:
        return "Between two texts there is no offset: choose the side 'encoder' or 'decoder'."
    if sides:
        return f"{name} looks within two texts: choose the side {' or '.join(map(repr, sides))}."
    if side and "layers/0/attention/weights" in addresses:
        return f"{name} has no side {side!r}: leave it out."
    return f"{name} has no heads: choose a Transformer."
