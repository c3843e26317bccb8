"""How fast rotary positions turn each pair of channels (Su et al. 2021). Imports no torch."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

BASE = 10000.0
"""The slowest wave takes 2π × BASE positions to come round (Vaswani et al. 2017)."""


def frequencies(width: int, base: float = BASE) -> np.ndarray:
    """Radians per position of each pair of channels, fastest first, (⌈width / 2⌉,) float64."""
    return base ** (-2 * np.arange((width + 1) // 2) / width)


@dataclass(frozen=True)
class Rotary:
    """The first `channels` of a head are turned, channel c together with channel c + channels / 2.

    `scaling` "linear" divides all angles by `factor` (Chen et al. 2023). "llama3" divides those of pairs that
    turn fewer than `slow` times within the `original` context, leaves alone those that turn more than `fast`
    times, and blends in between (Llama 3.1, Grattafiori et al. 2024).
    """

    channels: int
    base: float = BASE
    scaling: str = "none"
    factor: float = 1.0
    slow: float = 1.0
    fast: float = 4.0
    original: int = 8192

    @property
    def frequencies(self) -> np.ndarray:
        """Radians per position of each pair of channels, fastest first, (channels / 2,) float64."""
        plain = frequencies(self.channels, self.base)
        if self.scaling == "none":
            return plain
        if self.scaling == "linear":
            return plain / self.factor
        turns = self.original * plain / (2 * math.pi)
        kept = np.clip((turns - self.slow) / (self.fast - self.slow), 0.0, 1.0)  # share of the plain angle
        return plain * (kept + (1 - kept) / self.factor)
