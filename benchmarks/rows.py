"""What a row of the bench is, and how two programs are compared on a noisy machine."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.limits import Limit


@dataclass(frozen=True)
class Measured:
    """What a row came to: the number that the budget is about, and in words what it was made from.

    `limit` is how near that is to what the machine can do; None where nobody has measured such a limit.
    """

    value: float
    detail: str
    limit: Limit | None = None


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


@dataclass(frozen=True)
class Times:
    """Median seconds of two pieces of work, and the median over the rounds of theirs over ours."""

    ours: float
    theirs: float
    ratio: float


def interleave(ours: Callable[[], object], theirs: Callable[[], object], rounds: int) -> Times:
    """Time two pieces of work in turns, first one in front and then the other.

    A slow moment of the machine then hits both, and each round is compared with itself alone. One more
    round comes first, to warm up.
    """
    taken: dict[Callable[[], object], list[float]] = {ours: [], theirs: []}
    for number in range(rounds + 1):
        for work in (ours, theirs) if number % 2 else (theirs, ours):
            began = time.perf_counter()
            work()
            taken[work].append(time.perf_counter() - began)
    our_times, their_times = taken[ours][1:], taken[theirs][1:]
    ratios = [their / our for our, their in zip(our_times, their_times, strict=True)]
    return Times(*map(statistics.median, (our_times, their_times, ratios)))
