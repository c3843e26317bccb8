"""The position encodings of a Transformer: sines and cosines, rotary angles, ALiBi slopes.

Angles and slopes are computed in float64, so that an explanation finds the same numbers up to one rounding.
Tables are kept as arrays, not tensors: a tensor first made in inference mode cannot be used in training.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch

BASE = 10000.0
"""The slowest wave takes 2π × BASE positions to come round (Vaswani et al. 2017)."""


def frequencies(width: int) -> np.ndarray:
    """Radians per position of each pair of channels, fastest first, (⌈width / 2⌉,) float64."""
    return BASE ** (-2 * np.arange((width + 1) // 2) / width)


@lru_cache(maxsize=8)
def _waves(positions: int, width: int) -> np.ndarray:
    """Sines and cosines of each position's angles, (2, position, channel pair) float32."""
    angles = np.outer(np.arange(positions), frequencies(width))
    return np.stack([np.sin(angles), np.cos(angles)]).astype(np.float32)


def sinusoids(positions: int, width: int) -> torch.Tensor:
    """Sines in even channels, cosines in odd ones, (position, channel) float32 (Vaswani et al. 2017)."""
    interleaved = _waves(positions, width).transpose(1, 2, 0).reshape(positions, -1)
    return torch.from_numpy(interleaved[:, :width])


def rotations(positions: int, width: int) -> torch.Tensor:
    """Sines and cosines by which pairs of channels turn, (2, position, channel pair) (Su et al. 2021)."""
    return torch.from_numpy(_waves(positions, width))


def rotate(vectors: torch.Tensor, turns: torch.Tensor) -> torch.Tensor:
    """Turn (..., position, channel) by `rotations`; channel c forms a pair with c + half the channels."""
    first, second = vectors.chunk(2, dim=-1)
    sines, cosines = turns
    return torch.cat([first * cosines - second * sines, second * cosines + first * sines], dim=-1)


def slopes(heads: int) -> np.ndarray:
    """How much each head's scores fall per position of distance, (head,) float64 (Press et al. 2022)."""
    return 2.0 ** (-8 * np.arange(1, heads + 1) / heads)


def distance_bias(heads: int, positions: int, device: torch.device) -> torch.Tensor:
    """ALiBi: slope × (key − query) for each head, (head, query, key) float32 (Press et al. 2022)."""
    places = torch.arange(positions, device=device)
    falls = torch.from_numpy(slopes(heads).astype(np.float32)).to(device)  # (head,)
    return falls[:, None, None] * (places[None, :] - places[:, None])
