"""Why a number is what it is: one cell of one tap, with every operand that made it.

An `Arithmetic` is self-contained: the terms hold the numbers, where each number came from, and how
they combine. `evaluate` computes the cell again from nothing but those numbers, so a card on the
screen and a test can both check that the stated operands really give the stated value.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

_erf = np.vectorize(math.erf, otypes=[float])


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return np.where(x >= 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))


FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "": lambda x: x,
    "sigmoid": _sigmoid,
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
    "gelu": lambda x: 0.5 * x * (1 + _erf(x / math.sqrt(2))),
    "gelu_tanh": lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "one minus": lambda x: 1 - x,
    "negative": lambda x: -x,
    "reciprocal": lambda x: 1 / x,
    "log": np.log,
    "sin": np.sin,
    "cos": np.cos,
}
"""Scalar functions by name, in float64; the names stand in factors and in arithmetic."""


@dataclass(frozen=True, eq=False)
class Factor:
    """One factor of every term: `function(source[index])` for each term.

    `source` is a tap's address, the name of a parameter (it contains a dot), or "constant".
    `indices` is (term, axis) int, the place of each number in its source; `values` is (term,) float64,
    the numbers before `function`. A constant has no indices, shape (term, 0).
    """

    source: str
    indices: np.ndarray
    values: np.ndarray
    function: str = ""

    @property
    def applied(self) -> np.ndarray:
        """The numbers after the function, (term,)."""
        return FUNCTIONS[self.function](self.values)


@dataclass(frozen=True, eq=False)
class Terms:
    """A named group of products that are added up, such as "input", "previous state" or "bias"."""

    label: str
    factors: tuple[Factor, ...]

    @property
    def products(self) -> np.ndarray:
        """The value of each term, (term,)."""
        product = self.factors[0].applied
        for factor in self.factors[1:]:
            product = product * factor.applied
        return product

    def __len__(self) -> int:
        return len(self.factors[0].values)


@dataclass(frozen=True)
class Contribution:
    """One term of a sum, singled out: its group, its place in the group, and what it adds."""

    label: str
    term: int
    factors: tuple[Factor, ...]
    product: float


@dataclass(frozen=True, eq=False)
class Arithmetic:
    """One cell explained: `value = rule(terms)`, then `function`.

    `rule` is a key of `RULES`. `operation` says in words what was done.
    """

    address: str
    index: tuple[int, ...]
    value: float
    operation: str
    rule: str
    terms: tuple[Terms, ...]
    function: str = ""

    def evaluate(self) -> float:
        """The cell computed again from the operands."""
        total = RULES[self.rule](self.terms)
        return float(FUNCTIONS[self.function](np.asarray(total, dtype=np.float64)))

    @property
    def argument(self) -> float:
        """What `function` was applied to, such as the pre-activation of a gate."""
        return float(RULES[self.rule](self.terms))

    def largest(self, count: int) -> tuple[Contribution, ...]:
        """The terms with the largest absolute products, largest first, across all groups."""
        found = [
            Contribution(group.label, int(term), group.factors, float(group.products[term]))
            for group in self.terms
            for term in np.argsort(-np.abs(group.products), kind="stable")[:count]
        ]
        return tuple(sorted(found, key=lambda item: -abs(item.product))[:count])


def _sum(terms: tuple[Terms, ...]) -> float:
    return float(sum(group.products.sum() for group in terms))


def _softmax(terms: tuple[Terms, ...]) -> float:
    """terms: the cell's own score; all scores of the row."""
    row = terms[1].products
    return float(np.exp(terms[0].products[0] - row.max()) / np.exp(row - row.max()).sum())


def _layer_norm(terms: tuple[Terms, ...]) -> float:
    """terms: own value; all values of the row; gain; bias; epsilon (Ba et al. 2016)."""
    own, row, gain, bias, epsilon = (group.products for group in terms)
    centred = (own[0] - row.mean()) / math.sqrt(row.var() + epsilon[0])
    return float(centred * gain[0] + bias[0])


def _fraction(terms: tuple[Terms, ...]) -> float:
    """terms: the first half, rounded down, makes the numerator, the others the denominator."""
    half = len(terms) // 2
    return _sum(terms[:half]) / _sum(terms[half:])


RULES: dict[str, Callable[[tuple[Terms, ...]], float]] = {
    "sum": _sum,
    "fraction": _fraction,
    "softmax": _softmax,
    "layer norm": _layer_norm,
    "mask": lambda terms: -math.inf,
}
"""How groups of terms become one number, by name."""


def constant(value: float, terms: int = 1, function: str = "") -> Factor:
    """A factor that comes from no array, repeated for each term."""
    indices = np.zeros((terms, 0), dtype=np.int64)
    return Factor("constant", indices, np.full(terms, value, dtype=np.float64), function)
