"""−∞ whatever the terms are: a masked score, or the logarithm of probability zero."""

from __future__ import annotations

import math

from lmviz.models.arithmetic.notation import Notation
from lmviz.models.arithmetic.rules.rule import Groups, Rule
from lmviz.models.arithmetic.rules.sum import sizes
from lmviz.models.arithmetic.sheet import Naming, Sheet, term_line


def _equation(groups: Groups, notation: Notation, shown: int) -> str:
    return notation.number(-math.inf)


def _sheet(groups: Groups, naming: Naming, count: int) -> Sheet:
    return Sheet.of_terms(tuple(term_line(group, 0, naming) for group in groups if len(group)), result="")


MASK = Rule(lambda groups: -math.inf, _equation, _sheet, strengths=sizes)
