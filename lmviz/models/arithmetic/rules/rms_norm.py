"""A value over its row's root mean square, times a gain (Zhang & Sennrich 2019).

Groups: own value; all values of the row; gain; epsilon, which is added to the mean square.
"""

from __future__ import annotations

import math

import numpy as np

from lmviz.models.arithmetic.notation import Notation
from lmviz.models.arithmetic.rules.rule import Groups, Rule
from lmviz.models.arithmetic.sheet import Naming, Sheet, SheetLine, name_of, numbers_of


def _parts(groups: Groups) -> tuple[float, np.ndarray, float, float]:
    """Own value, the row, the gain, and the root mean square."""
    own, row, gain, epsilon = (group.products for group in groups)
    return float(own[0]), row, float(gain[0]), math.sqrt((row**2).mean() + epsilon[0])


def _evaluate(groups: Groups) -> float:
    own, _, gain, size = _parts(groups)
    return own / size * gain


def _equation(groups: Groups, notation: Notation, shown: int) -> str:
    own, row, gain, _ = _parts(groups)
    square = (float((row**2).mean()), float(groups[3].products[0]))
    size = notation.root.format(notation.total([notation.number(part) for part in square]))
    fraction = notation.divide(notation.number(own), size)
    return notation.times.join([fraction, notation.factor(gain, "", leading=False)])


def _sheet(groups: Groups, naming: Naming, count: int) -> Sheet:
    own, row, gain, size = _parts(groups)
    lines = (
        SheetLine(name_of(groups[0].factors, 0, naming), own, numbers_of(groups[0], 0)),
        SheetLine(f"root mean square of {len(row):,} values", size),
        SheetLine("gain", gain, numbers_of(groups[2], 0)),
    )
    return Sheet(lines, "value / root mean square × gain", middle="number", last="value")


def _strengths(groups: Groups) -> tuple[np.ndarray, ...]:
    """The row's values matter by their size."""
    sizes = np.abs(groups[1].products)
    row = sizes / max(float(sizes.max()), np.finfo(float).tiny)
    return np.ones(1), row, np.ones(1), np.ones(1)


RMS_NORM = Rule(_evaluate, _equation, _sheet, _strengths)
