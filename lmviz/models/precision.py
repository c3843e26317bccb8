"""Weights that are stored in half precision or in blocks, and computed with in single precision.

A checkpoint of another program may hold bfloat16, float16 or blocks, mapped from its file. Values are
computed in float32 all the same, so that every cell follows from its operands. A matrix is widened a few rows
at a time, which stay in the processor's cache: no second copy of it is made.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from lmviz.models.blocks import BlockMatrix, Rows

HALF = (torch.bfloat16, torch.float16)

CACHED, PIECE, MANY_PIECE = 1 << 17, 1 << 19, 1 << 22
"""Numbers of a matrix that are widened at once. What each thread widens for reading alone lies in one place
and stays in the cache of its core: so a row takes no longer than with weights in single precision. A record
for gradients, and blocks, have larger pieces. They are larger still where they are multiplied by many rows,
since putting so many products together takes longer than what the cache saves."""

MANY = 256
"""So many rows are many."""

ROWS = 64
"""Pieces are multiples of so many rows: products by pieces are then those by the whole, to the last bit."""


def widened(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor itself, or in float32 where it has half precision or is in blocks."""
    if isinstance(tensor, BlockMatrix):
        return tensor.clone()  # which has a gradient, and `values` has none
    return tensor.float() if tensor.dtype in HALF else tensor


def widened_when_read(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor itself; a matrix in half precision as one that is widened anew wherever it is read.

    A record for gradients would else hold all matrices in float32 until it is let go. One of more numbers
    than `linear` widens at once stays as it is, and so does one on a card, where blocks are not made.
    """
    is_whole = tensor.dtype in HALF and tensor.dim() == 2 and tensor.numel() <= MANY_PIECE
    if not is_whole or tensor.device.type != "cpu":
        return tensor
    return BlockMatrix([Rows(tensor, torch.Tensor.float)], tensor.shape[1])


def linear(values: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """`values` (..., feature) times `weight` (unit, feature), plus `bias` (unit)."""
    if weight.dtype not in HALF and not isinstance(weight, BlockMatrix):
        return functional.linear(values, weight, bias)
    many = values.numel() >= MANY * weight.shape[1]
    if not many and weight.dtype in HALF and torch.is_inference_mode_enabled():
        mapped = _in_one_place(values, weight)
        return mapped if bias is None else mapped + widened(bias)
    rows = max(1, (MANY_PIECE if many else PIECE) // (weight.shape[1] * ROWS)) * ROWS
    pieces = [functional.linear(values, _numbers(piece, values.dtype)) for piece in weight.split(rows)]
    # Of few rows a copy of what is in one piece already is worth its time: what follows reads it quicker.
    mapped = pieces[0] if many and len(pieces) == 1 else torch.cat(pieces, dim=-1)
    return mapped if bias is None else mapped + widened(bias)


def _in_one_place(values: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """The products with a matrix in half precision, each piece of which is widened where the last one was."""
    units, features = weight.shape
    rows = max(1, CACHED * torch.get_num_threads() // (features * ROWS)) * ROWS
    place, flat = values.new_empty(min(rows, units), features), values.reshape(-1, features)
    mapped, turned = values.new_empty(flat.shape[0], units), place.t()
    for piece, found in zip(weight.unsafe_split(rows), mapped.unsafe_split(rows, 1), strict=True):
        count = piece.shape[0]
        if count != place.shape[0]:  # the last piece
            place, turned = place[:count], turned[:, :count]
        place.copy_(piece)
        torch.mm(flat, turned, out=found)
    return mapped.view(*values.shape[:-1], units)


def _numbers(piece: torch.Tensor, kind: torch.dtype) -> torch.Tensor:
    if isinstance(piece, BlockMatrix) and not piece.requires_grad:
        piece = piece.values()  # at once, and not by way of torch, which takes longer
    return piece.to(kind)


class StoredLinear(nn.Linear):
    """`nn.Linear` whose weight may be stored in half precision, or in blocks."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """(..., unit) in the precision of `input` (..., feature)."""
        return linear(input, self.weight, self.bias)


def attention_mixture(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor | None = None,
    *,
    dropout: float = 0.0,
    causal: bool = False,
    scale: float | None = None,
) -> torch.Tensor:
    """The values weighted by torch's own attention, (batch, head, position, channel).

    Where a processor multiplies in bfloat16, this is done in float32 all the same: torch's way back through
    it takes four times as long in bfloat16 there (measured with torch 2.13 at 128 positions).
    """
    mixture = functional.scaled_dot_product_attention
    if query.device.type != "cpu" or not torch.is_autocast_enabled("cpu"):
        return mixture(query, key, value, mask, dropout, is_causal=causal, scale=scale)
    with torch.autocast("cpu", enabled=False):
        query, key, value = query.float(), key.float(), value.float()
        return mixture(query, key, value, mask, dropout, is_causal=causal, scale=scale)
