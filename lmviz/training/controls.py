"""Values that another thread may change while a training runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lmviz.training.options import TrainingOptions

_RATE = next(option for option in TrainingOptions.settings() if option.name == "learning_rate")


@dataclass
class Controls:
    """Plain attributes, read by the training once a step; set them from any thread.

    `learning_rate` takes the place of the schedule while it is not None, and has the limits of the option:
    LmvizError for another. It is saved with the run, so a resumed training starts with it again. `stop` ends
    the training after the step under way, in a state that can be resumed. Under torchrun `stop` on any
    process stops all; set `learning_rate` on each.
    While `observe` is set, every step is written down part by part (`Progress.observed`), which takes
    time but changes nothing of what is learned.
    """

    learning_rate: float | None = None
    stop: bool = False
    observe: bool = False

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "learning_rate" and value is not None:
            value = checked_rate(value)
        super().__setattr__(name, value)


def checked_rate(rate: Any) -> float:
    """A learning rate, or its text, as a number; LmvizError where none can be trained with."""
    return float(_RATE.check(rate))
