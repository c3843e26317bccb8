"""Values that another thread may change while a training runs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Controls:
    """Plain attributes, read by the training once a step; set them from any thread.

    `learning_rate` takes the place of the schedule while it is not None; it is saved with the run, so a
    resumed training starts with it again. `stop` ends the training after the step under way, in a state
    that can be resumed. Under torchrun `stop` on any process stops all; set `learning_rate` on each.
    While `observe` is set, every step is written down part by part (`Progress.observed`), which takes
    time but changes nothing of what is learned.
    """

    learning_rate: float | None = None
    stop: bool = False
    observe: bool = False
