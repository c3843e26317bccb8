"""A score's share: exp of it over the sum of exp of all scores of its row.

Groups: the cell's own score; all scores of the row.
"""

from __future__ import annotations

import math

import numpy as np

from lmviz.models.arithmetic.notation import Notation
from lmviz.models.arithmetic.rules.rule import Groups, Rule
from lmviz.models.arithmetic.sheet import Naming, Sheet, SheetLine, largest, name_of, numbers_of, others
from lmviz.models.arithmetic.terms import Terms


def _powers(groups: Groups) -> tuple[float, np.ndarray]:
    """exp of (score − the largest score): of the cell's own, and of the whole row (score,)."""
    own, row = groups[0].products, groups[1].products
    return float(np.exp(own[0] - row.max())), np.exp(row - row.max())


def _evaluate(groups: Groups) -> float:
    own, row = _powers(groups)
    return float(own / row.sum())


def _gradient(groups: Groups) -> tuple[np.ndarray, ...]:
    own, row = _powers(groups)
    share = own / row.sum()
    return np.array([share]), -share * row / row.sum()


def _equation(groups: Groups, notation: Notation, shown: int) -> str:
    own, row = groups[0].products, groups[1].products
    ranked = np.sort(row[row > -math.inf])[::-1]
    terms = [notation.exponential.format(notation.number(float(score))) for score in ranked[:shown]]
    if len(ranked) > shown:
        with np.errstate(over="ignore"):
            left = float(np.exp(ranked[shown:]).sum())
        terms.append(notation.others.format(notation.number(left), len(ranked) - shown))
    numerator = notation.exponential.format(notation.number(float(own[0])))
    return notation.divide(numerator, notation.total(terms))


def _sheet(groups: Groups, naming: Naming, count: int) -> Sheet:
    own, row = groups
    power, powers = _powers(groups)
    lines = [_score_line(own, 0, own.label, power)]
    for term in map(int, largest(powers, count)):
        lines.append(_score_line(row, term, name_of(row.factors, term, naming), float(powers[term])))
    if len(powers) > count:
        lines.append(SheetLine(others(len(powers) - count), float(np.sort(powers)[:-count].sum())))
    lines.append(SheetLine("all together", float(powers.sum())))
    return Sheet(tuple(lines), "its share of all", middle="score", last="e^(score − largest)")


def _score_line(group: Terms, term: int, name: str, power: float) -> SheetLine:
    return SheetLine(name, power, numbers_of(group, term))


def _strengths(groups: Groups) -> tuple[np.ndarray, ...]:
    return np.ones(1), _powers(groups)[1]


SOFTMAX = Rule(_evaluate, _gradient, _equation, _sheet, _strengths)
