"""The learning rate as a function of the step."""

from __future__ import annotations

import math
from collections.abc import Callable

from lmviz.training.options import TrainingOptions

Schedule = Callable[[int, TrainingOptions], float]


def constant(step: int, options: TrainingOptions) -> float:
    """The same rate for every update."""
    return options.learning_rate


def cosine(step: int, options: TrainingOptions) -> float:
    """Linear warm-up, then half a cosine down to `final_rate` of the rate (Loshchilov & Hutter 2017).

    A warm-up longer than a fifth of the training would leave too little of it at full rate.
    """
    warmup = min(options.warmup, options.steps // 5)
    if step <= warmup:
        return options.learning_rate * step / (warmup + 1)
    done = min(1.0, (step - warmup - 1) / max(1, options.steps - warmup - 1))
    share = options.final_rate + (1 - options.final_rate) * (1 + math.cos(math.pi * done)) / 2
    return options.learning_rate * share


SCHEDULES: dict[str, Schedule] = {"constant": constant, "cosine": cosine}


def learning_rate(step: int, options: TrainingOptions) -> float:
    """The rate of update number `step`, which counts from 1."""
    return SCHEDULES[options.schedule](step, options)
