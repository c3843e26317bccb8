"""Brush a stretch of the text, and find the units that fire all along it (LSTMVis, Strobelt et al. 2018)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lmviz.errors import LmvizError
from lmviz.inspection.trace import Trace

UNIT_AXES = (("position", "unit"), ("position", "channel"))
"""The axes of taps that have units."""


@dataclass(frozen=True)
class FiringUnit:
    """A unit that fires all along a stretch; `sign` is -1 where it does so with negative values.

    `lowest` is its smallest absolute value in the stretch, `elsewhere` the number of other positions at
    which it fires too.
    """

    unit: int
    sign: int
    lowest: float
    elsewhere: int


def firing_units(
    trace: Trace, address: str, stretch: tuple[int, int], threshold: float
) -> tuple[FiringUnit, ...]:
    """The units of a tap whose values reach the threshold, with one sign, all along positions [from, to).

    Those that fire nowhere else come first, and among equals the strongest. LmvizError when the stretch is
    empty or the tap has no units.
    """
    values = _units(trace, address)
    first, end = max(0, stretch[0]), min(len(values), stretch[1])
    if first >= end:
        raise LmvizError("The stretch is empty: brush at least one word.")
    found = []
    for sign in (1, -1):
        fires = sign * values >= threshold  # (position, unit)
        for unit in np.flatnonzero(fires[first:end].all(axis=0)):
            lowest = float((sign * values[first:end, unit]).min())
            elsewhere = int(fires[:, unit].sum()) - (end - first)
            found.append(FiringUnit(int(unit), sign, lowest, elsewhere))
    return tuple(sorted(found, key=lambda match: (match.elsewhere, -match.lowest, match.unit)))


def _units(trace: Trace, address: str) -> np.ndarray:
    traced = trace[address]
    if traced.axes not in UNIT_AXES:
        raise LmvizError(f"{address} has no units: choose a hidden state or an activation.")
    return traced.array
