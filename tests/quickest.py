"""How long something takes at its quickest, in seconds of the processor.

Other work slows a thread down by the processor's own clock, too: it takes caches, memory and the pace of the
cores. It comes and goes, so what is over its limit is measured again, and the lowest is judged. What is slow
itself is slow each time.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

TRIES = 10


def quickest(
    act: Callable[[], object],
    limit: float,
    *,
    before: Callable[[], object] = lambda: None,
    tries: int = TRIES,
) -> float:
    """Seconds of this thread that an act takes, the lowest of as many tries as it needs to be below the
    limit; `before` makes ready for each of them, and is not measured."""
    lowest = math.inf
    while tries and lowest >= limit:
        before()
        lowest, tries = min(lowest, seconds(act)), tries - 1
    return lowest


def seconds(act: Callable[[], object]) -> float:
    """Seconds of the processor that an act takes in this thread, this time."""
    began = time.thread_time()
    act()
    return time.thread_time() - began
