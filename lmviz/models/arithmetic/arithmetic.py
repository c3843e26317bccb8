"""The explanation of one cell: all its operands and how they are combined.

An `Arithmetic` is self-contained: its terms hold the numbers and where each came from. `evaluate`
recomputes the cell from them alone, so that the window and the tests can check that the operands give
the value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lmviz.looks.shown import Shown
from lmviz.models.arithmetic.rules.table import RULES, check_rule
from lmviz.models.arithmetic.terms import Terms
from lmviz.models.functions import FUNCTIONS, check_function


@dataclass(frozen=True, eq=False, repr=False)
class Arithmetic(Shown):
    """One cell explained: `value = function(rule(terms))`.

    `rule` is a name in `RULES`, `function` one in `FUNCTIONS`; LmvizError where they are not there.
    `operation` says in words what was done.
    """

    address: str
    index: tuple[int, ...]
    value: float
    operation: str
    rule: str
    terms: tuple[Terms, ...]
    function: str = ""

    def __post_init__(self) -> None:
        check_rule(self.rule)
        check_function(self.function)

    def evaluate(self) -> float:
        """The cell computed again from the operands."""
        return float(FUNCTIONS[self.function].compute(np.asarray(self.argument, dtype=np.float64)))

    @property
    def argument(self) -> float:
        """What `function` was applied to, such as the pre-activation of a gate."""
        return RULES[self.rule].evaluate(self.terms)
