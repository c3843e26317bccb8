"""How much a training moved the weights near each snapshot: the sum of the rates of the updates around it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lmviz.training.schedules import learning_rate

if TYPE_CHECKING:
    from lmviz.training.run import Run

SAMPLES = 4096


def interval_weights(run: Run, steps: Sequence[int]) -> np.ndarray:
    """For each snapshot (snapshot,) the sum of the learning rates of the updates that it is nearest to.

    Snapshots are spaced by the logarithm of the step, so the rate at a snapshot alone would count those of
    the beginning far too much. Rates are those that were recorded, or else those of the schedule.
    """
    last = max(steps, default=0)
    if last == 0:
        return np.zeros(len(steps))
    updates = np.arange(1, last + 1)
    rates = _rates(run, updates)
    edges = [(one + other) / 2 for one, other in itertools.pairwise(steps)]
    nearest = np.searchsorted(edges, updates - 1, side="right")
    return np.bincount(nearest, weights=rates, minlength=len(steps))


def _rates(run: Run, updates: np.ndarray) -> np.ndarray:
    recorded = {
        int(line["step"]): float(rate)
        for line in run.metrics()
        if (rate := line.get("learning_rate")) is not None
    }
    if len(recorded) < 2:
        options = run.description.options
        chosen = np.unique(np.linspace(updates[0], updates[-1], SAMPLES).astype(int))
        recorded = {int(step): learning_rate(int(step), options) for step in chosen}
    at = sorted(recorded)
    return np.interp(updates, at, [recorded[step] for step in at])
