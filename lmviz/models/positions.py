"""The position encodings of a Transformer: sines and cosines, rotary angles, slopes and rows by distance.

Angles and slopes are computed in float64, so that an explanation finds the same numbers up to one rounding.
Tables are kept as arrays, not tensors: a tensor first made in inference mode cannot be used in training.
They hold as many positions as a text has, up to the next power of two, however long the context is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import torch

from lmviz.models.rotary import Alibi, Rotary, frequencies


@lru_cache(maxsize=8)
def _sinusoids(positions: int, width: int) -> np.ndarray:
    """Sines in even channels, cosines in odd ones, (position, channel) float32."""
    waves = _waves(positions, frequencies(width))
    return waves.transpose(1, 2, 0).reshape(positions, -1)[:, :width]


@lru_cache(maxsize=8)
def _rotations(positions: int, rotary: Rotary) -> np.ndarray:
    """Sines and cosines of each position's angles × magnitude, (2, position, channel pair) float32."""
    return _waves(positions, rotary.frequencies, rotary.magnitude)


def _waves(positions: int, speeds: np.ndarray, height: float = 1.0) -> np.ndarray:
    angles = np.outer(np.arange(positions), speeds)
    return (np.stack([np.sin(angles), np.cos(angles)]) * height).astype(np.float32)


def _rounded(positions: int) -> int:
    return 1 << max(positions - 1, 0).bit_length()


def sinusoids(positions: int, width: int) -> torch.Tensor:
    """Sines in even channels, cosines in odd ones, (position, channel) float32 (Vaswani et al. 2017)."""
    return torch.from_numpy(_sinusoids(_rounded(positions), width)[:positions])


def rotations(positions: int, rotary: Rotary) -> torch.Tensor:
    """Sines and cosines by which pairs of channels turn, (2, position, channel pair) (Su et al. 2021).

    They are those of a text of so many positions.
    """
    return torch.from_numpy(_rotations(_rounded(positions), rotary.in_text(positions))[:, :positions])


def rotations_by_row(positions: int, lengths: Sequence[int], rotary: Rotary) -> torch.Tensor:
    """The same for texts of these lengths in the rows of a batch, (2, row, 1, position, channel pair)."""
    rows = [rotations(positions, rotary.in_text(length)) for length in lengths]
    return torch.stack(rows, dim=1)[:, :, None]


def rotate(vectors: torch.Tensor, turns: torch.Tensor, pairs: str = "halves") -> torch.Tensor:
    """Turn (..., position, channel) by `rotations`, which may be those of the first channels, or by row.

    Of the channels that are turned, c forms a pair with c + half of them, or of `pairs` "neighbours" each
    with the next.
    """
    sines, cosines = turns.unbind(0)
    count = sines.shape[-1]
    turned, rest = vectors[..., : 2 * count], vectors[..., 2 * count :]
    if pairs == "neighbours":
        first, second = turned[..., ::2], turned[..., 1::2]
    else:
        first, second = turned.chunk(2, dim=-1)
    parts = [first * cosines - second * sines, second * cosines + first * sines]
    joined = torch.stack(parts, dim=-1).flatten(-2) if pairs == "neighbours" else torch.cat(parts, dim=-1)
    return torch.cat([joined, rest], dim=-1) if rest.shape[-1] else joined


def distance_bias(
    alibi: Alibi, positions: int, device: torch.device, *, both_ways: bool = False
) -> torch.Tensor:
    """ALiBi: slope × (key − query) for each head, (head, query, key) float32 (Press et al. 2022).

    With `both_ways` scores fall with the distance to later keys too.
    """
    if alibi.slopes == "bfloat16":
        rows = torch.from_numpy(alibi.rounded(positions)).to(device)
        biases = rows[:, None, :] - rows[:, :, None]
        return -biases.abs() if both_ways else biases
    places = torch.arange(positions, device=device)
    falls = torch.from_numpy(alibi.by_head.astype(np.float32)).to(device)  # (head,)
    distances = places[None, :] - places[:, None]
    return falls[:, None, None] * (-distances.abs() if both_ways else distances)


def distance_rows(
    positions: int, distances: int, device: torch.device, *, both_ways: bool = False
) -> torch.Tensor:
    """The row of a table of distances for each query and key, (query, key) int64.

    Row d is for keys d positions back; keys that come later have none, and are given row 0. With `both_ways`
    the middle row is that of distance 0, and those before it are for later keys.
    """
    places = torch.arange(positions, device=device)
    back = places[:, None] - places[None, :]
    return back + distances // 2 if both_ways else back.clamp(min=0)
