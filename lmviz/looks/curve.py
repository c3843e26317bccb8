"""A curve of a plot: its points, and how it is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lmviz.looks.by_value import ByValue
from lmviz.looks.ink import Ink


@dataclass(frozen=True, eq=False)
class PlotCurve(ByValue):
    """A named curve through (point,) x, ascending, and y; NaN interrupts it.

    `width` is in pixels at scale 1, and without one the `dots` alone are drawn. `said` stands beside the
    name, by default the last value. The plot holds all of a curve, but of a `guide` only what lies beside the
    others. A `band` has its lower and its upper edge, (point,) each. With a `ring` it says where it begins,
    such as a fork where it leaves another.
    """

    name: str
    x: Sequence[float] | np.ndarray
    y: Sequence[float] | np.ndarray
    role: Ink = "training"
    width: float = 2.0
    dashed: bool = False
    dots: bool = False
    said: str | None = None
    guide: bool = False
    band: tuple[np.ndarray, np.ndarray] | None = None
    ring: bool = False

    @property
    def points(self) -> np.ndarray:
        """Its points, (point, 2): x and y."""
        return np.column_stack([self.x, self.y])

    def at(self, x: float) -> float | None:
        """The y at exactly this x; None where the curve has no point."""
        index = int(np.searchsorted(self.x, x))
        return float(self.y[index]) if index < len(self.x) and self.x[index] == x else None
