"""Finds units that are active on all selected positions (LSTMVis, Strobelt et al. 2018)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.inspection.trace import Trace

UNIT_AXES = (("position", "unit"), ("position", "channel"))
"""The axes of taps that have units along the text."""

SOURCE_UNIT_AXES = (("source", "unit"), ("source", "channel"))
"""Those of taps that have units along the source of a translation."""


def has_units(trace: Trace, address: str) -> bool:
    """Whether a tap has units along the text or along the source."""
    return trace[address].axes in UNIT_AXES + SOURCE_UNIT_AXES


FIRING_SHARE = 0.2
"""So many of a tap's values, the strongest, reach the threshold that one begins with."""

USUAL = 0.5


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


def usual_threshold(trace: Trace, address: str) -> float:
    """A threshold to begin with, in the scale of a tap: one fifth of its values reach it, zeros left aside.

    It is rounded down to two figures of which the second is 0 or 5.
    """
    sizes = np.abs(_units(trace, address))
    sizes = sizes[np.isfinite(sizes) & (sizes > 0)].astype(np.float64)
    if not len(sizes):
        return USUAL
    threshold = float(np.quantile(sizes, 1 - FIRING_SHARE))
    exponent = math.floor(math.log10(threshold))
    halves = math.floor(2 * threshold / 10.0**exponent + 1e-9)
    return float(f"{halves / 2}e{exponent}")  # written, and not multiplied, so that 0.3 is 0.3


def _units(trace: Trace, address: str) -> np.ndarray:
    traced = trace[address]
    if not has_units(trace, address):
        raise LmvizError(f"{address} has no units: choose a hidden state or an activation.")
    return traced.array
