"""One sum over another: the first half of the groups, rounded down, makes the numerator."""

from __future__ import annotations

from lmviz.models.arithmetic.notation import Notation
from lmviz.models.arithmetic.rules.rule import Groups, Rule
from lmviz.models.arithmetic.rules.sum import addition, lines, sizes, total
from lmviz.models.arithmetic.sheet import Naming, Sheet, SheetLine


def _halves(groups: Groups) -> tuple[Groups, Groups]:
    half = len(groups) // 2
    return groups[:half], groups[half:]


def _evaluate(groups: Groups) -> float:
    above, below = _halves(groups)
    return total(above) / total(below)


def _equation(groups: Groups, notation: Notation, shown: int) -> str:
    return notation.divide(*(addition(half, notation, shown) for half in _halves(groups)))


def _sheet(groups: Groups, naming: Naming, count: int) -> Sheet:
    above, below = _halves(groups)
    numerator = [*lines(above, naming, count), SheetLine("together", total(above))]
    denominator = [*lines(below, naming, count), SheetLine("divided by", total(below))]
    return Sheet.of_terms((*numerator, *denominator))


FRACTION = Rule(_evaluate, _equation, _sheet, strengths=sizes)
