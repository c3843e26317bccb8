"""What a row of the bench is, and how two programs are compared on a noisy machine."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Measured:
    """What a row came to: the number that the budget is about, and in words what it was made from."""

    value: float
    detail: str


@dataclass(frozen=True)
class Row:
    """One figure of the bench and its budget.

    `unit` follows the number: "×" for a ratio to a peer measured in the same run, or "ms". `at_most`
    says on which side of the budget the number has to be.
    """

    name: str
    what: str
    unit: str
    budget: float
    at_most: bool
    measure: Callable[[], Measured]

    @property
    def limit(self) -> str:
        """The budget in words."""
        return f"{'≤' if self.at_most else '≥'} {self.budget:g} {self.unit}"

    def passes(self, measured: Measured) -> bool:
        """Whether the number keeps to the budget."""
        return measured.value <= self.budget if self.at_most else measured.value >= self.budget


def interleave(
    ours: Callable[[], object], theirs: Callable[[], object], repetitions: int
) -> tuple[float, float]:
    """Median seconds of two pieces of work, done in turns so that a slow moment hits both.

    The first round is for warming up and does not count.
    """
    times: tuple[list[float], list[float]] = ([], [])
    for repetition in range(repetitions + 1):
        for work, taken in zip((ours, theirs), times, strict=True):
            began = time.perf_counter()
            work()
            if repetition:
                taken.append(time.perf_counter() - began)
    return statistics.median(times[0]), statistics.median(times[1])
