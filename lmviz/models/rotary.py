"""How fast rotary positions turn, and how fast ALiBi falls: numbers alone. Imports no torch."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

BASE = 10000.0
"""The slowest wave takes 2π × BASE positions to come round (Vaswani et al. 2017)."""


def frequencies(width: int, base: float = BASE) -> np.ndarray:
    """Radians per position of each pair of channels, fastest first, (⌈width / 2⌉,) float64."""
    return base ** (-2 * np.arange((width + 1) // 2) / width)


@dataclass(frozen=True)
class Rotary:
    """The first `channels` of a head are turned in pairs, and made `magnitude` times as long.

    `pairs` "halves" turns channel c together with channel c + channels / 2, "neighbours" channels 2c and
    2c + 1 (GPT-J).

    `scaling` "linear" divides all angles by `factor` (Chen et al. 2023). "llama3" divides those of pairs that
    turn fewer than `slow` times within the `original` context, leaves alone those that turn more than `fast`
    times, and blends in between (Llama 3.1, Grattafiori et al. 2024). "yarn" blends evenly from pair to pair
    between the same two limits, which `whole` rounds away from each other to whole pairs (Peng et al. 2023).
    "longrope" divides the angle of each pair by a number of its own, of `divisors`, and in a text longer than
    `original` by one of `long_divisors` (Ding et al. 2024). "dynamic" raises the base in such a text, the
    more the longer it is, so that slow pairs turn less and fast ones nearly as before (emozilla 2023).
    """

    channels: int
    base: float = BASE
    pairs: str = "halves"
    magnitude: float = 1.0
    scaling: str = "none"
    factor: float = 1.0
    slow: float = 1.0
    fast: float = 4.0
    original: int = 8192
    whole: bool = True
    divisors: tuple[float, ...] = ()
    long_divisors: tuple[float, ...] = ()

    @property
    def depends_on_length(self) -> bool:
        """Whether the angles of all positions are others in a text that is longer than `original`."""
        return self.scaling == "dynamic" or bool(self.long_divisors)

    def in_text(self, positions: int) -> Rotary:
        """The turning in a text of so many positions, of which the angles depend on nothing more."""
        if not self.depends_on_length:
            return self
        if self.scaling == "longrope":
            divisors = self.long_divisors if positions > self.original else self.divisors
            return replace(self, divisors=divisors, long_divisors=())
        growth = self.factor * max(positions, self.original) / self.original - (self.factor - 1)
        exponent = self.channels / (self.channels - 2) if self.channels > 2 else 0.0  # one pair has no base
        return replace(self, scaling="none", base=self.base * growth**exponent)

    @property
    def frequencies(self) -> np.ndarray:
        """Radians per position of each pair of channels, fastest first, (channels / 2,) float64.

        Where they depend on the length of the text (`in_text`), those of a text up to `original`.
        """
        plain = frequencies(self.channels, self.base)
        if self.scaling in ("none", "dynamic"):
            return plain
        if self.scaling == "linear":
            return plain / self.factor
        if self.scaling == "longrope":
            return plain / np.array(self.divisors)
        if self.scaling == "yarn":
            kept = self._kept_by_yarn(len(plain))
        else:
            turns = self.original * plain / (2 * math.pi)
            kept = np.clip((turns - self.slow) / (self.fast - self.slow), 0.0, 1.0)
        return plain * (kept + (1 - kept) / self.factor)

    def _kept_by_yarn(self, pairs: int) -> np.ndarray:
        """The share of the plain angle that each pair keeps."""
        first, last = (
            self.channels * math.log(self.original / (turns * 2 * math.pi)) / (2 * math.log(self.base))
            for turns in (self.fast, self.slow)
        )
        if self.whole:
            first, last = math.floor(first), math.ceil(last)
        first, last = max(first, 0), min(last, self.channels - 1)
        last += 0.001 if first == last else 0.0  # lest one divides by zero, as all that reads such files does
        return 1 - np.clip((np.arange(pairs) - first) / (last - first), 0.0, 1.0)

    def other(self, channel: int) -> int:
        """The channel that a turned one forms a pair with."""
        if self.pairs == "neighbours":
            return channel ^ 1
        return (channel + self.channels // 2) % self.channels

    def pair(self, channel: int) -> int:
        """The number of the pair that a turned channel belongs to."""
        return channel // 2 if self.pairs == "neighbours" else channel % (self.channels // 2)


@dataclass(frozen=True)
class Alibi:
    """How much each head's scores fall with the distance from query to key (Press et al. 2022).

    `slopes` "even" are those of a geometric series over the heads. "powers" are even for the largest power of
    two, and the heads beyond it have every other slope of twice as many; "bfloat16" are the same, times the
    position in eight bits, and all times 1 / √channels (Falcon). Slopes end with 2 ** -`steepness`.
    """

    heads: int
    slopes: str = "even"
    steepness: float = 8.0
    scale: float = 1.0

    @property
    def by_head(self) -> np.ndarray:
        """What scores fall by per position of distance, (head,) float64."""
        if self.slopes == "even":
            return self._series(self.heads)
        power = 1 << (self.heads.bit_length() - 1)
        return np.concatenate([self._series(power), self._series(2 * power)[::2]])[: self.heads]

    def _series(self, heads: int) -> np.ndarray:
        return 2.0 ** (-self.steepness * np.arange(1, heads + 1) / heads)

    def rounded(self, positions: int) -> np.ndarray:
        """Slope × position of "bfloat16" slopes, each factor and product rounded, (head, position)."""
        rounded = _as_bfloat16(np.outer(_as_bfloat16(self.by_head), _as_bfloat16(np.arange(positions))))
        return rounded * np.float32(self.scale)


def _as_bfloat16(values: np.ndarray) -> np.ndarray:
    """The nearest numbers that bfloat16 has, ties to even, in float32."""
    bits = values.astype(np.float32).view(np.uint32)
    rounded = bits + 0x7FFF + ((bits >> 16) & 1)
    return (rounded & np.uint32(0xFFFF0000)).astype(np.uint32).view(np.float32)
