"""A straight line through points on logarithmic axes: a power law."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lmviz.base.errors import LmvizError


@dataclass(frozen=True)
class PowerLaw:
    """loss = factor · compute^(−exponent)."""

    factor: float
    exponent: float

    @property
    def tenfold(self) -> float:
        """By what ten times the compute multiplies the loss."""
        return float(10**-self.exponent)

    def __call__(self, compute: np.ndarray) -> np.ndarray:
        """The loss on the line, (point,)."""
        return np.asarray(self.factor * np.asarray(compute, dtype=np.float64) ** -self.exponent)


def fit_power_law(compute: np.ndarray, loss: np.ndarray) -> PowerLaw:
    """The line of least squares in logarithms, as Kaplan et al. (2020) draw L(C) = (C₀ / C)^α.

    Both are (point,). LmvizError where they do not determine a line: fewer than two different values of the
    compute, or numbers that have no logarithm.
    """
    compute, loss = np.asarray(compute, dtype=np.float64), np.asarray(loss, dtype=np.float64)
    is_positive = (compute > 0) & (loss > 0) & np.isfinite(compute) & np.isfinite(loss)
    if not is_positive.all() or len(np.unique(compute)) < 2:
        raise LmvizError("A power law needs two points with positive numbers: train more models.")
    slope, start = np.polyfit(np.log(compute), np.log(loss), 1)
    return PowerLaw(float(np.exp(start)), float(-slope))
