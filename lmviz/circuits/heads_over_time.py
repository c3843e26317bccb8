"""What every head does at each snapshot of a training, and when in it heads took what they do.

Over a training the usual loss hardly shows when heads begin to work together. That of words which can be
known from an earlier saying does: it falls within a few steps, which are those in which heads turn to where
they look from then on (Olsson et al. 2022).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.circuits.head_scores import SCORES, HeadScores
from lmviz.showing.several import ResultsByStep

WITHIN = 0.04
"""A jump is looked for within so much of the training, or between two snapshots that are further apart."""

AS_STEEP = 0.25
"""It goes on in both directions as long as it is so many times as steep as where it is steepest."""

IN_NATS, IN_SHARES = 0.5, 0.15
"""By so much at least a jump changes a loss, in nats per word, or a share of attention."""


@dataclass(frozen=True)
class Jump:
    """A rise of a number between two steps, from a value to another, steepest around the step `at`."""

    begin: int
    end: int
    at: int
    before: float
    after: float

    def meets(self, other: Jump) -> bool:
        """Whether the two have steps in common."""
        return self.begin < other.end and other.begin < self.end


@dataclass(frozen=True)
class HeadTurn:
    """A head that has a role at the last snapshot, and when it took it: None where that went slowly."""

    layer: int
    head: int
    role: str
    jump: Jump | None


class HeadsOverTime(ResultsByStep[HeadScores]):
    """The scores of all heads by step, of some snapshots of one training."""

    @property
    def steps(self) -> list[int]:
        """The steps that are known, ascending."""
        return sorted(self)

    @property
    def array(self) -> np.ndarray:
        """The scores, (step, score, layer, head). LmvizError where no step is known."""
        if not self:
            raise LmvizError("There are no scores, as no step was asked about: give some steps of the run.")
        return np.stack([self[step].array for step in self.steps])

    @property
    def losses(self) -> np.ndarray:
        """The loss of words said for the first time, and of those said again, (step, 2), in nats per word."""
        return np.array([(self[step].loss_new, self[step].loss_again) for step in self.steps])

    def turns(self) -> list[HeadTurn]:
        """The heads whose role is clear at the last step, by layer, and when each took it."""
        steps = self.steps
        if not steps:
            return []
        roles, found = self[steps[-1]].roles, self.array
        return [
            HeadTurn(layer, head, role, jump_of(steps, found[:, SCORES.index(role), layer, head], IN_SHARES))
            for (layer, head), role in np.ndenumerate(roles)
            if role
        ]

    def loss_jump(self) -> Jump | None:
        """Where words said again become easier than new ones, from what their loss was to what it became."""
        steps, losses = self.steps, self.losses
        gained = jump_of(steps, losses[:, 0] - losses[:, 1], IN_NATS) if steps else None
        if gained is None:
            return None
        before, after = (self[step].loss_again for step in (gained.begin, gained.end))
        return Jump(gained.begin, gained.end, gained.at, before, after)

    def jump(self) -> Jump | None:
        """That of the loss, or else the greatest turn of a head; None where there is neither."""
        jumps = [turn.jump for turn in self.turns() if turn.jump is not None]
        return self.loss_jump() or max(jumps, key=lambda jump: jump.after - jump.before, default=None)


def jump_of(steps: Sequence[int], values: np.ndarray, least: float) -> Jump | None:
    """The steepest rise of values (step,); None where it is less than `least` in all.

    `steps` ascend. Values before and after the rise are those at its ends.
    """
    places = np.asarray(steps, dtype=np.float64)
    if len(places) < 2:
        return None
    near = np.searchsorted(places, places[:-1] + WITHIN * (places[-1] - places[0]), side="right") - 1
    ends = np.maximum(near, np.arange(1, len(places)))
    rises = values[ends] - values[:-1]
    first = int(rises.argmax())
    last = int(ends[first])
    slope = (values[last] - values[first]) / (places[last] - places[first])
    at = round((places[first] + places[last]) / 2)

    def is_steep(low: int, high: int) -> bool:
        return bool((values[high] - values[low]) / (places[high] - places[low]) >= AS_STEEP * slope)

    while slope > 0 and first > 0 and is_steep(first - 1, first):
        first -= 1
    while slope > 0 and last < len(places) - 1 and is_steep(last, last + 1):
        last += 1
    before, after = float(values[first]), float(values[last])
    return Jump(int(steps[first]), int(steps[last]), at, before, after) if after - before >= least else None
