"""One step of a training written down, part by part as the algorithm has them; plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class ObservedNumber:
    """One number of a parameter around an update, and its gradient after clipping."""

    parameter: str
    index: tuple[int, ...]
    before: float
    gradient: float
    after: float


@dataclass(frozen=True, eq=False)
class ObservedBatch:
    """What an update learns from, with how badly it was known before.

    `tokens` and `targets` are (row, position) int64, targets IGNORED where none counts; of texts with one
    answer they are (row, 1). `lengths` (row,) says how much of each row is text, and `beside` what else was
    read, by name. `losses`, shaped as the targets, are in nats, each by the model before the update and
    without dropout; NaN where no target counts.
    """

    tokens: np.ndarray
    targets: np.ndarray
    lengths: np.ndarray
    losses: np.ndarray
    beside: Mapping[str, np.ndarray] = field(default_factory=dict)

    @property
    def counted(self) -> int:
        """How many targets count."""
        return int(np.isfinite(self.losses).sum())


@dataclass(frozen=True, eq=False)
class ObservedUpdate:
    """One update of gradient descent: batch, forward, loss, backward, clip, update.

    `loss` is in nats. `layer_norms` are the norms of the gradient by layer, and `norm` is that of the whole,
    both before clipping; `clip` is the threshold, 0 for none, and `clipped_norm` the norm that was left.
    `changes` are the numbers that moved farthest, the farthest first. `seconds` is what each part took, by
    its name. `smoothing` is the share of each target that was spread evenly over all `outputs`, which are the
    tokens or labels that there are.
    """

    step: int
    learning_rate: float
    optimizer: str
    batch: ObservedBatch
    loss: float
    layer_norms: Mapping[str, float]
    norm: float
    clip: float
    clipped_norm: float
    changes: tuple[ObservedNumber, ...]
    seconds: Mapping[str, float]
    smoothing: float = 0.0
    outputs: int = 0

    @property
    def aimed_at(self) -> tuple[float, float]:
        """The probability that the target has in what is learned, and the one that each other has."""
        each = self.smoothing / max(1, self.outputs)
        return 1 - self.smoothing + each, each

    @property
    def is_clipped(self) -> bool:
        """Whether the gradient was longer than the threshold."""
        return 0 < self.clip < self.norm


@dataclass(frozen=True)
class CountedOrder:
    """The n-grams of one order in a slice of text: how many, how many different, and the most frequent."""

    order: int
    total: int
    different: int
    most_frequent: tuple[int, ...]
    times: int


@dataclass(frozen=True, eq=False)
class ObservedCount:
    """One step of counting: a slice of the text, how well it was known, and what was counted in it.

    `ids` (position,) is the slice, of which `begin` is the place in the text and `text_length` the length of
    that. `loss` is in nats per token, None where no token counts; it is infinite where one was thought
    impossible. `is_fitted` says whether the probabilities were worked out anew.
    """

    step: int
    ids: np.ndarray
    begin: int
    text_length: int
    loss: float | None
    orders: tuple[CountedOrder, ...]
    is_fitted: bool


Observed = ObservedUpdate | ObservedCount
