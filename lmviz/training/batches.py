"""Chooses the excerpts of the text that an update learns from.

The batch of a step depends only on the seed and the step. So no state is needed to continue a training,
and each of several processes computes the whole batch and takes its rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NotRequired, TypedDict, Unpack

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from lmviz.base.errors import LmvizError
from lmviz.models.model import IGNORED
from lmviz.training.distributed import Team
from lmviz.training.options import DEFAULT_LENGTH, TrainingOptions, check_length


@dataclass(frozen=True)
class Batch:
    """Rows of text for one process: tokens and targets (batch, position) int64.

    Targets of texts with one answer are (batch, 1). `share` is the part that this process has in all counted
    targets of the step. `begins` is true where the rows do not continue those of the step before. `lengths`
    (batch,) says how many tokens of each row are text; it is None where all are. `beside` is what else is
    read, by the names that `Model.loss` has for it.
    """

    tokens: np.ndarray
    targets: np.ndarray
    share: float
    begins: bool
    lengths: np.ndarray | None = None
    beside: Mapping[str, np.ndarray] = field(default_factory=dict)


def window_length(length: int, context: int | None, ids: np.ndarray) -> int:
    """How many targets a window has: as asked for, but never more than the text has to offer.

    Raises LmvizError when the text has no target at all, or the model cannot take such a length.
    """
    if len(ids) < 2:
        raise LmvizError(
            f"The training text has {len(ids)} token{'' if len(ids) == 1 else 's'}, too few to learn from: "
            "choose a longer text, or a smaller validation share."
        )
    check_length(length, context)
    return min(length or context or DEFAULT_LENGTH, len(ids) - 1)


class Circumstances(TypedDict):
    """What batches depend on besides the text and the options: the model's context, the target that does
    not count, and the team that shares a batch. Of ids (token,) that are `left_out` none counts either, if
    any is."""

    context: int | None
    ignored_target: int | None
    team: Team
    left_out: NotRequired[np.ndarray | None]


class Batches(ABC):
    """The batches of a training; `length` is the largest number of positions of a row."""

    length: int

    @abstractmethod
    def batch(self, step: int) -> Batch:
        """The batch of the update after `step` updates."""


class Windows(Batches):
    """Windows of a stream of ids, each token of which aims at the next."""

    def __init__(self, ids: np.ndarray, options: TrainingOptions, **rest: Unpack[Circumstances]) -> None:
        team, ignored_target = rest["team"], rest["ignored_target"]
        self.length = window_length(options.length, rest["context"], ids)
        parts = (ids[start : start + 2**20] for start in range(1, len(ids), 2**20))
        if not any(np.any(part != ignored_target) for part in parts):
            raise LmvizError("The training text is empty between its boundaries: choose another text.")
        self._ids = ids
        self._left_out = rest.get("left_out")
        self._ignored = ignored_target
        self._rows = options.batch * team.size
        self._own = slice(team.rank * options.batch, (team.rank + 1) * options.batch)

    def _counted(self, windows: np.ndarray) -> int:
        """How many targets count in windows (row, position + 1)."""
        targets = windows[:, 1:]
        return targets.size if self._ignored is None else int(np.count_nonzero(targets != self._ignored))

    def _batch(self, windows: np.ndarray, begins: bool, left_out: np.ndarray | None = None) -> Batch:
        """windows (row of the whole batch, position + 1), of any integer type; which of them are left out."""
        own = windows[self._own].astype(np.int64)
        targets = own[:, 1:]
        if self._ignored is not None:
            targets = np.where(targets == self._ignored, IGNORED, targets)
        share = self._counted(own) / max(1, self._counted(windows))
        if left_out is not None:  # by one process alone
            targets = np.where(left_out[self._own][:, 1:], IGNORED, targets)
            share = float((targets != IGNORED).any())
        return Batch(own[:, :-1], targets, share, begins)


class RandomWindows(Windows):
    """Windows that begin anywhere in the text, drawn with replacement."""

    def __init__(self, ids: np.ndarray, options: TrainingOptions, **rest: Unpack[Circumstances]) -> None:
        super().__init__(ids, options, **rest)
        self._seed = options.seed
        self._windows = sliding_window_view(ids, self.length + 1)  # (start, position + 1), no copy
        left_out = self._left_out
        self._without = None if left_out is None else sliding_window_view(left_out, self.length + 1)

    def batch(self, step: int) -> Batch:
        """See Batches. A draw in which nothing counts is drawn again."""
        chance = np.random.default_rng((self._seed, step))
        while True:
            drawn = chance.integers(len(self._windows), size=self._rows)
            windows = self._windows[drawn]
            if self._counted(windows):
                without = None if self._without is None else self._without[drawn]
                return self._batch(windows, begins=True, left_out=without)


class Streams(Windows):
    """The text cut into as many equal streams as the batch has rows, each read from start to end.

    Each window continues the one before, so that a recurrent state can be carried over; after the last
    the streams begin again.
    """

    def __init__(self, ids: np.ndarray, options: TrainingOptions, **rest: Unpack[Circumstances]) -> None:
        super().__init__(ids, options, **rest)
        span = (len(ids) - 1) // self._rows
        if span == 0:
            raise LmvizError(
                f"The training text of {len(ids)} tokens is too short for {self._rows} streams: "
                "choose a smaller batch, or random excerpts."
            )
        self.length = min(self.length, span)
        self._streams = sliding_window_view(ids, span + 1)[: span * self._rows : span]  # (row, span + 1)
        left_out = self._left_out
        self._without = (
            None if left_out is None else sliding_window_view(left_out, span + 1)[: span * self._rows : span]
        )
        self._windows = -(-span // self.length)

    def batch(self, step: int) -> Batch:
        """See Batches."""
        window = step % self._windows
        start = window * self.length
        part = slice(start, start + self.length + 1)
        without = None if self._without is None else self._without[:, part]
        return self._batch(self._streams[:, part], begins=window == 0, left_out=without)


BATCHES: dict[str, type[Windows]] = {"random": RandomWindows, "streams": Streams}
