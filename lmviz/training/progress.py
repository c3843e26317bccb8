"""The progress that a training reports after each step."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lmviz.training.observation import Observed

SMOOTHING = 0.9
"""The share of the earlier speed in the reported one: an average over about ten steps."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of a training after `step` of `steps` updates; safe to hand to another thread.

    `loss` is the mean of the last batch before its update, `validation_loss` that of the validation text
    when it was just measured, both in nats per token or label. `validation_accuracy` is the share of the
    validation labels that the model found likeliest, for tasks with labels. `own_loss` is that of what an
    opened model wrote before it was trained further, and `second_loss` that of a second text. `learning_rate`
    and `gradient_norm`, before clipping, are those of the update that led to this step. All of these are None
    where they were not measured: no update precedes the first state, and counting has neither rate nor
    gradient. `update_ratios` says for each layer how far the last update moved its weights, relative to them
    (norm over norm); it is measured now and then, and empty otherwise. `snapshot` is the step of a snapshot
    that was just written. `watched` is the probability of the watched word, and `watched_moved` says that it
    has moved so far that a snapshot is kept. `observed` is the last update part by part, where that was asked
    for. The last value is `finished` where all steps are done; otherwise `trouble` is a sentence that says
    why the training ended early, and `has_diverged` whether loss, gradient or weights were not finite.
    """

    step: int
    steps: int
    loss: float | None = None
    validation_loss: float | None = None
    validation_accuracy: float | None = None
    own_loss: float | None = None
    second_loss: float | None = None
    learning_rate: float | None = None
    gradient_norm: float | None = None
    update_ratios: Mapping[str, float] = field(default_factory=dict)
    tokens_per_second: float | None = None
    seconds: float = 0.0
    seconds_left: float | None = None
    snapshot: int | None = None
    watched: float | None = None
    watched_moved: bool = False
    finished: bool = False
    trouble: str = ""
    has_diverged: bool = False
    observed: Observed | None = None

    @property
    def is_last(self) -> bool:
        """Whether the training has ended, in whichever way."""
        return self.finished or bool(self.trouble)

    def metrics(self) -> dict[str, Any]:
        """The line of `metrics.jsonl`."""
        speed = self.tokens_per_second
        line = {
            "step": self.step,
            "loss": self.loss,
            "validation_loss": self.validation_loss,
            "validation_accuracy": self.validation_accuracy,
            "own_loss": self.own_loss,
            "second_loss": self.second_loss,
            "learning_rate": self.learning_rate,
            "gradient_norm": self.gradient_norm,
            "tokens_per_second": None if speed is None else round(speed, 1),
            "seconds": round(self.seconds, 3),
            "watched": self.watched,
            "watched_moved": 1 if self.watched_moved else None,
        }
        return {name: value for name, value in line.items() if value is not None}


class Clock:
    """Counts the seconds in which a training works, without those in which it waits for its caller."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.tokens_per_second: float | None = None
        self._worked = self._began_with = seconds
        self._steps = 0
        self._since: float | None = None

    @property
    def elapsed(self) -> float:
        """The seconds worked so far, those of earlier sessions included."""
        return self._worked + (time.perf_counter() - self._since if self._since is not None else 0.0)

    def start(self) -> None:
        """Work begins or continues."""
        self._since = time.perf_counter()

    def pause(self) -> None:
        """Work rests."""
        self._worked = self.elapsed
        self._since = None

    def step(self, tokens: int, seconds: float) -> None:
        """A step over so many tokens took so many seconds."""
        speed = tokens / max(seconds, 1e-9)
        earlier = speed if self.tokens_per_second is None else self.tokens_per_second
        self.tokens_per_second = SMOOTHING * earlier + (1 - SMOOTHING) * speed
        self._steps += 1

    def seconds_left(self, steps: int) -> float | None:
        """How long so many more steps will take, judged by those since the training began or resumed."""
        return (self.elapsed - self._began_with) / self._steps * steps if self._steps else None
