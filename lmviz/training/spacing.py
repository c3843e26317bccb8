"""How far apart something was written down in a training, in a few words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

MOSTLY = 0.8
"""The share of distances from which on they are said to be alike."""


def spacing_in_words(steps: Sequence[int]) -> str:
    """How far apart steps are: "each 10 steps", "mostly each 10 steps", "from step 0 to 512"; "" of none."""
    if not steps:
        return ""
    if len(steps) == 1:
        return f"step {steps[0]:,}"
    apart = Counter(later - earlier for earlier, later in pairwise(steps))
    most, times = apart.most_common(1)[0]
    each = f"each {most:,} steps" if most > 1 else "each step"
    if len(apart) == 1:
        return each if len(steps) > 2 else f"steps {steps[0]:,} and {steps[1]:,}"
    return f"mostly {each}" if times >= MOSTLY * apart.total() else f"from step {steps[0]:,} to {steps[-1]:,}"
