"""The operands of a cell: numbers with their places, multiplied into terms, in named groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lmviz.models.functions import FUNCTIONS, check_function


@dataclass(frozen=True, eq=False)
class Factor:
    """One factor of every term: `function(source[index])` for each term.

    `source` is a tap's address, the name of a parameter (it contains a dot), or "constant".
    `indices` is (term, axis) int, the place of each number in its source; `values` is (term,) float64,
    the numbers before `function`, a name in `FUNCTIONS`. A constant has no indices, shape (term, 0).
    """

    source: str
    indices: np.ndarray
    values: np.ndarray
    function: str = ""

    def __post_init__(self) -> None:
        check_function(self.function)

    @property
    def applied(self) -> np.ndarray:
        """The numbers after the function, (term,)."""
        return FUNCTIONS[self.function].compute(self.values)


@dataclass(frozen=True, eq=False)
class Terms:
    """A named group of products, such as "input", "previous state" or "bias".

    `side` is "left" or "right" where all come from one end of the text, and are added up by themselves.
    """

    label: str
    factors: tuple[Factor, ...]
    side: str = ""

    @property
    def products(self) -> np.ndarray:
        """The value of each term, (term,)."""
        product = self.factors[0].applied
        for factor in self.factors[1:]:
            product = product * factor.applied
        return product

    def __len__(self) -> int:
        return len(self.factors[0].values)


def constant(value: float, terms: int = 1, function: str = "") -> Factor:
    """A factor that comes from no array, repeated for each term."""
    indices = np.zeros((terms, 0), dtype=np.int64)
    return Factor("constant", indices, np.full(terms, value, dtype=np.float64), function)
