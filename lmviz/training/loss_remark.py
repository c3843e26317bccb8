"""What the curves of a training show so far, as a sentence made of their numbers. Imports no torch."""

from __future__ import annotations

import numpy as np

from lmviz.base.figures import count, number

FEWEST = 8
"""Losses before which nothing can be told from noise."""

LEAST_RISE = 0.01
"""By how much of its lowest value a validation loss has to rise before that is said."""

LEAST_FALL = 0.01
"""The same for a training loss that still falls, over the last quarter of its steps."""

PARTS = 4


def loss_remark(
    steps: np.ndarray,
    losses: np.ndarray,
    validation_steps: np.ndarray,
    validation_losses: np.ndarray,
    name: str = "loss",
    unit: str = "nats per token",
    drawn: float | None = None,
) -> str:
    """Whether a model learns, has stopped learning, or learns its text by heart; empty before that is known.

    `steps` and `losses` are (point,), of training batches, `validation_steps` and `validation_losses` those
    of held-out text, all in the `unit`, of which a perplexity has none. `drawn` is what a curve shows as the
    present value, where it is smoothed: the sentence says the same, so that no two numbers are told of it.
    """
    if len(losses) < FEWEST or not np.isfinite(losses).all():
        return ""
    now = _level(losses, PARTS - 1)
    shown = number(now if drawn is None else drawn, 2)
    overfit = _overfit(steps, losses, validation_steps, validation_losses, now, name, shown)
    if overfit:
        return overfit
    of_unit = f" {unit}" if unit else ""
    in_steps = f"in {count(int(steps[-1]))} steps"
    if now >= losses[0]:
        return f"The {name} has not fallen {in_steps}: it is {shown}{of_unit}."
    said = f"The {name} fell from {number(float(losses[0]), 2)} to {shown}{of_unit} {in_steps}"
    fallen = _level(losses, PARTS - 2) - now
    if fallen > LEAST_FALL * abs(now):
        return f"{said}, by {number(fallen, 2)} in the last quarter of them: it still learns."
    return f"{said}, and hardly falls any more."


def _overfit(
    steps: np.ndarray,
    losses: np.ndarray,
    validated: np.ndarray,
    validation: np.ndarray,
    now: float,
    name: str,
    shown: str,
) -> str:
    """That the loss of held-out text rises while that of training text falls; empty where it does not."""
    if len(validation) < PARTS or not np.isfinite(validation).all():
        return ""
    best = int(validation.argmin())
    lowest, last = float(validation[best]), float(validation[-1])
    if last - lowest <= LEAST_RISE * abs(lowest):
        return ""
    around = np.abs(steps - validated[best]) <= max(1, (steps[-1] - steps[0]) // (2 * PARTS))
    before = float(losses[around].mean()) if around.any() else float(losses[0])
    if before <= now:
        return ""
    return (
        f"Since step {count(int(validated[best]))} the model learns its text by heart: on held-out text the "
        f"{name} was lowest there, {number(lowest, 2)}, and is {number(last, 2)} now; on the text it learns "
        f"from it fell from {number(before, 2)} to {shown}."
    )


def _level(losses: np.ndarray, part: int) -> float:
    """The mean loss over one of four parts of the points, which noise in single batches does not move."""
    edges = np.linspace(0, len(losses), PARTS + 1).astype(int)
    return float(losses[edges[part] : edges[part + 1]].mean())
