"""What was learned of a text against what was forgotten of others, as a training further measures both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Forgetting:
    """Nats per token since step 0, each (point,): `learned`, by which the held-out loss has fallen, and
    `forgotten`, by which that on another text has risen."""

    steps: np.ndarray
    learned: np.ndarray
    forgotten: np.ndarray

    @classmethod
    def between(
        cls,
        held_out: tuple[Sequence[int] | np.ndarray, Sequence[float] | np.ndarray],
        other: tuple[Sequence[int] | np.ndarray, Sequence[float] | np.ndarray],
    ) -> Forgetting | None:
        """That of two curves of steps and losses; None where both were not measured at step 0."""
        one, two = (
            dict(zip(np.asarray(steps).tolist(), np.asarray(values).tolist(), strict=True))
            for steps, values in (held_out, other)
        )
        steps = sorted(one.keys() & two.keys())
        if not steps or steps[0] != 0:
            return None
        learned = np.array([one[0] - one[step] for step in steps])
        forgotten = np.array([two[step] - two[0] for step in steps])
        return cls(np.array(steps), learned, forgotten)

    def path(self) -> tuple[np.ndarray, np.ndarray]:
        """How much was forgotten when so much was learned for the first time: two arrays, one ascending.

        Points at which less was learned than before are left out.
        """
        best = np.maximum.accumulate(self.learned)
        first = np.concatenate([[True], self.learned[1:] > best[:-1]])
        return self.learned[first], self.forgotten[first]

    def forgotten_at(self, learned: float) -> float | None:
        """How much was forgotten where so much was learned, between two measurements along a straight line;
        None where it was never so much."""
        gains, losses = self.path()
        if not gains[0] <= learned <= gains[-1]:
            return None
        return float(np.interp(learned, gains, losses))

    @property
    def sentence(self) -> str:
        """What the last measurement says."""
        learned, forgotten = float(self.learned[-1]), float(self.forgotten[-1])
        gained = f"Learned {learned:.2f} of the text" if learned > 0 else f"Lost {-learned:.2f} of the text"
        kept = f"forgot {forgotten:.2f}" if forgotten > 0 else f"gained {-forgotten:.2f}"
        return f"{gained}, {kept} of what it wrote itself before (nats per token)."


def same_gain(paths: Sequence[Forgetting]) -> float | None:
    """A gain that all have reached, at which they can be compared: three quarters of the smallest of their
    largest; None where one has learned nothing."""
    reached = [float(each.learned.max()) for each in paths]
    return 0.75 * min(reached) if reached and min(reached) > 0 else None
