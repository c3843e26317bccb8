"""A value less its row's mean, over the row's deviation, times a gain, plus a bias (Ba et al. 2016).

Groups: own value; all values of the row; gain; bias, where there is one; epsilon, which is added to the
variance.
"""

from __future__ import annotations

import math

import numpy as np

from lmviz.models.arithmetic.notation import Notation
from lmviz.models.arithmetic.rules.rule import Groups, Rule
from lmviz.models.arithmetic.sheet import Naming, Sheet, SheetLine, name_of, numbers_of


def _parts(groups: Groups) -> tuple[float, np.ndarray, float, float, float]:
    own, row, gain, *bias, epsilon = (group.products for group in groups)
    return float(own[0]), row, float(gain[0]), sum(float(added[0]) for added in bias), float(epsilon[0])


def _evaluate(groups: Groups) -> float:
    own, row, gain, bias, epsilon = _parts(groups)
    return float((own - row.mean()) / math.sqrt(row.var() + epsilon) * gain + bias)


def _equation(groups: Groups, notation: Notation, shown: int) -> str:
    own, row, gain, bias, epsilon = _parts(groups)
    mean = float(row.mean())
    taken = notation.number(-mean) if mean else f"{notation.minus}0"
    centred = notation.total([notation.number(own), taken])
    spread = notation.root.format(
        notation.total([notation.number(float(row.var())), notation.number(epsilon)])
    )
    scaled = notation.times.join([notation.divide(centred, spread), notation.factor(gain, "", leading=False)])
    return notation.total([scaled, notation.number(bias)] if len(groups) > 4 else [scaled])


def _sheet(groups: Groups, naming: Naming, count: int) -> Sheet:
    own, row, gain, *biases, _ = groups
    values = row.products
    lines = (
        SheetLine(name_of(own.factors, 0, naming), float(own.products[0]), numbers_of(own, 0)),
        SheetLine(f"mean of {len(values):,} values", float(values.mean())),
        SheetLine("their standard deviation", float(values.std())),
        SheetLine("gain", float(gain.products[0]), numbers_of(gain, 0)),
        *(SheetLine("bias", float(bias.products[0]), numbers_of(bias, 0)) for bias in biases),
    )
    result = "(value − mean) / deviation × gain" + (" + bias" if biases else "")
    return Sheet(lines, result, middle="number", last="value")


def _strengths(groups: Groups) -> tuple[np.ndarray, ...]:
    """The row's values matter by how far they are from its mean."""
    row = groups[1].products
    deviations = np.abs(row - row.mean())
    spread = deviations / max(float(deviations.max()), np.finfo(float).tiny)
    return tuple(spread if group is groups[1] else np.ones(len(group)) for group in groups)


LAYER_NORM = Rule(_evaluate, _equation, _sheet, _strengths)
