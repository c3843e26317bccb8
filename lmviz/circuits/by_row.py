"""Results of several texts, one for each, and what they come to together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.circuits.result import Numbers
from lmviz.showing.several import ResultList

One = TypeVar("One")

RESAMPLES, BAND = 2000, (2.5, 97.5)
"""How often rows are drawn anew for a band, and the percentiles that it goes between."""

FEWEST = 8
"""Of fewer rows no band is made: drawn anew, they would differ far less than other rows would."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Means(Numbers):
    """The mean of each number over several rows.

    `rows` (row, …) has the numbers of each row. `low` and `high` hold the mean in 95 of 100 samples of rows
    drawn anew from these (bootstrap; Efron 1979), None of fewer than `FEWEST`. `agreeing` is the share of the
    rows whose number has the sign of the mean.
    """

    rows: np.ndarray
    low: np.ndarray | None
    high: np.ndarray | None

    @property
    def agreeing(self) -> np.ndarray:
        """In the shape of the array."""
        return np.asarray((np.sign(self.rows) == np.sign(self.array)).mean(axis=0))


class ByRow(ResultList[One]):
    """A list with one result for each row; `means()` has what they come to together."""

    def means(self) -> Means:
        """Their means with bands; LmvizError where the results have no array of one shape."""
        numbers = [one for one in self if isinstance(one, Numbers)]
        shapes = {one.array.shape for one in numbers}
        if len(numbers) < len(self) or len(shapes) != 1:
            raise LmvizError(
                "These rows differ in how many numbers they have, so there is no mean of each: ask about "
                "texts of one length, or about parts without positions."
            )
        rows = np.stack([one.array for one in numbers])
        kept = {
            axis: labels
            for axis, labels in numbers[0].names.items()
            if all(one.names.get(axis) == labels for one in numbers)
        }
        low, high = band(rows)
        return Means(array=rows.mean(axis=0), axes=numbers[0].axes, names=kept, rows=rows, low=low, high=high)


def band(
    rows: np.ndarray, weights: Sequence[float] | np.ndarray | None = None
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Between what the mean of rows (row, …) lies when rows are drawn anew; None of fewer than `FEWEST`.

    With `weights` (row,) the sum of rows is taken per weight.
    """
    if len(rows) < FEWEST:
        return None, None
    drawn = np.random.default_rng(0).integers(len(rows), size=(RESAMPLES, len(rows)))
    counts = np.zeros((RESAMPLES, len(rows)))
    np.add.at(counts, (np.arange(RESAMPLES)[:, None], drawn), 1.0)
    divided = counts @ (np.ones(len(rows)) if weights is None else np.asarray(weights))
    resampled = np.tensordot(counts, rows, axes=1) / divided.reshape(-1, *([1] * (rows.ndim - 1)))
    low, high = np.percentile(resampled, BAND, axis=0)
    return low, high
