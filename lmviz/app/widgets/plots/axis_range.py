"""From where to where an axis goes, so that it holds values and rests while a curve grows."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lmviz.app.widgets.kit.axes import ANYTHING

ROOM = 0.02  # of the span of the values, beyond the least and the largest
FLATTENING = 20  # times as high as the next curve
TICKS = 10  # about as many roundings fit into the range


def rounded_range(
    values: Sequence[float], logarithmic: bool, possible: tuple[float, float] = ANYTHING
) -> tuple[float, float] | None:
    """A range for an axis that holds the values, its ends rounded outwards; None for no values.

    It reaches beyond what is possible only so far that a line at its very end is not cut. On a logarithmic
    axis the ends are logarithms, and what has none is left out.
    """
    held = [float(value) for value in values if math.isfinite(value)]
    if logarithmic:
        held = [math.log10(value) for value in held if value > 0]
    if not held:
        return None
    low, high = min(held), max(held)
    span = (high - low) or abs(high) or 1.0
    unit = 10.0 ** math.floor(math.log10(span / TICKS))
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor * TICKS >= span)
    bottom = step * math.floor((low - ROOM * span) / step)
    top = step * math.ceil((high + ROOM * span) / step)
    if logarithmic:
        return bottom, top
    least, most = min(low, possible[0]), max(high, possible[1])
    room = ROOM * (min(top, most) - max(bottom, least))
    return max(bottom, least - room), min(top, most + room)


def together(spans: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The spans from the least to the largest value of curves, without those that would flatten all others.

    A training that diverged goes on above the plot: it reaches so many times as far as the next one.
    """
    kept, low = sorted(spans, key=lambda span: span[1]), min((low for low, _ in spans), default=0.0)
    while len(kept) > 1 and kept[-1][1] - low > FLATTENING * max(kept[-2][1] - low, 1e-12):
        kept.pop()
    return kept
