"""A score's share: exp of it over the sum of exp of all scores of its row.

Groups: the cell's own score; all scores of the row.
"""

from __future__ import annotations

import math

import numpy as np

from lmviz.base.figures import number
from lmviz.models.arithmetic.notation import Notation
from lmviz.models.arithmetic.rules.rule import Groups, Rule
from lmviz.models.arithmetic.sheet import Naming, Sheet, SheetLine, largest, name_of, numbers_of, others


def _powers(groups: Groups) -> tuple[float, np.ndarray]:
    """exp of (score − the largest score): of the cell's own, and of the whole row (score,)."""
    own, row = groups[0].products, groups[1].products
    with np.errstate(invalid="ignore"):  # the share of an infinite score is no number
        return float(np.exp(own[0] - row.max())), np.exp(row - row.max())


def _evaluate(groups: Groups) -> float:
    own, row = _powers(groups)
    return float(own / row.sum())


def _equation(groups: Groups, notation: Notation, shown: int) -> str:
    own, row = groups[0].products, groups[1].products
    ranked = np.sort(row[row > -math.inf])[::-1]
    terms = [notation.exponential.format(notation.number(float(score))) for score in ranked[:shown]]
    if len(ranked) > shown:
        with np.errstate(over="ignore"):
            left = float(np.exp(ranked[shown:]).sum())
        terms.append(notation.others.format(notation.number(left), others(len(ranked) - shown)))
    numerator = notation.exponential.format(notation.number(float(own[0])))
    return notation.divide(numerator, notation.total(terms))


def _sheet(groups: Groups, naming: Naming, count: int) -> Sheet:
    """The cell's own score, and after it the largest of the others, each once."""
    row, (power, powers) = groups[1], _powers(groups)
    own = _own_term(groups)
    ranked = [own, *(term for term in map(int, largest(powers, len(powers))) if term != own)]
    lines = [
        SheetLine(name_of(row.factors, term, naming), float(powers[term]), numbers_of(row, term))
        for term in ranked[:count]
    ]
    if rest := ranked[count:]:
        lines.append(SheetLine(others(len(rest)), float(powers[rest].sum())))
    lines.append(SheetLine("all together", float(powers.sum())))
    result = f"{number(power)} / {number(float(powers.sum()))}, its share of all"
    return Sheet(tuple(lines), result, middle="score", last="e^(score − largest)")


def _own_term(groups: Groups) -> int:
    """Which score of the row is the cell's own."""
    own, row = (group.factors[0].indices for group in groups[:2])
    return int((row == own).all(axis=1).argmax())


def _strengths(groups: Groups) -> tuple[np.ndarray, ...]:
    return np.ones(1), _powers(groups)[1]


SOFTMAX = Rule(_evaluate, _equation, _sheet, _strengths)
