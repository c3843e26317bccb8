"""Arithmetic written out: the equation with numbers in the place of symbols, in LaTeX or on one line."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lmviz.inspection.notation import LATEX, PLAIN, Notation
from lmviz.models.arithmetic import Arithmetic, Terms

SHOWN = 4
"""How many terms of a long sum are written out; the rest are added up."""


def numbers(arithmetic: Arithmetic, shown: int = SHOWN) -> str:
    """The cell's equation with its numbers, in LaTeX; of a long sum the `shown` largest terms."""
    return _written(arithmetic, LATEX, shown)


def one_line(arithmetic: Arithmetic, shown: int = SHOWN) -> str:
    """The same as plain text, such as "0.91 · 0.42 + 0.13 · −0.77 = 0.28"."""
    return _written(arithmetic, PLAIN, shown)


def number(value: float) -> str:
    """A number as it stands in text, with a real minus sign: 0.28, −0.013, 12, 2.8·10⁻⁵."""
    return PLAIN.number(value)


def _written(arithmetic: Arithmetic, notation: Notation, shown: int) -> str:
    inner = _RULES.get(arithmetic.rule, _sum)(arithmetic, notation, shown)
    value = notation.number(arithmetic.value)
    if not arithmetic.function:
        return value if inner == value else f"{inner} = {value}"
    argument = notation.number(arithmetic.argument)
    steps = [notation.apply(arithmetic.function, inner)]
    if inner != argument:
        steps.append(notation.apply(arithmetic.function, argument))
    return " = ".join([*steps, value])


def _sum(arithmetic: Arithmetic, notation: Notation, shown: int) -> str:
    return _addition(arithmetic.terms, notation, shown)


def _addition(groups: Sequence[Terms], notation: Notation, shown: int) -> str:
    """Products added up: all of a short sum, the largest of a long one in their order, and the rest."""
    products = np.concatenate([group.products for group in groups])
    firsts = np.cumsum([0, *(len(group) for group in groups)])
    kept = np.sort(np.argsort(-np.abs(products), kind="stable")[:shown])
    written = []
    for place in kept:
        which = int(np.searchsorted(firsts, place, side="right")) - 1
        term = place - firsts[which]
        factors = [(float(factor.values[term]), factor.function) for factor in groups[which].factors]
        written.append(notation.product(factors))
    if len(products) > len(kept):
        left = float(np.delete(products, kept).sum())
        written.append(notation.others.format(notation.number(left), len(products) - len(kept)))
    return notation.total(written)


def _fraction(arithmetic: Arithmetic, notation: Notation, shown: int) -> str:
    half = len(arithmetic.terms) // 2
    above, below = arithmetic.terms[:half], arithmetic.terms[half:]
    return notation.divide(_addition(above, notation, shown), _addition(below, notation, shown))


def _softmax(arithmetic: Arithmetic, notation: Notation, shown: int) -> str:
    own, row = arithmetic.terms[0].products[0], arithmetic.terms[1].products
    ranked = np.sort(row[row > -math.inf])[::-1]
    terms = [notation.exponential.format(notation.number(float(score))) for score in ranked[:shown]]
    if len(ranked) > shown:
        with np.errstate(over="ignore"):
            left = float(np.exp(ranked[shown:]).sum())
        terms.append(notation.others.format(notation.number(left), len(ranked) - shown))
    numerator = notation.exponential.format(notation.number(float(own)))
    return notation.divide(numerator, notation.total(terms))


def _layer_norm(arithmetic: Arithmetic, notation: Notation, shown: int) -> str:
    own, row, gain, bias, epsilon = (group.products for group in arithmetic.terms)
    centred = notation.total([notation.number(float(own[0])), _negated(float(row.mean()), notation)])
    spread = notation.root.format(
        notation.total([notation.number(float(row.var())), notation.number(float(epsilon[0]))])
    )
    scaled = notation.times.join(
        [notation.divide(centred, spread), notation.factor(float(gain[0]), "", leading=False)]
    )
    return notation.total([scaled, notation.number(float(bias[0]))])


def _negated(value: float, notation: Notation) -> str:
    return notation.number(-value) if value else f"{notation.minus}0"


def _mask(arithmetic: Arithmetic, notation: Notation, shown: int) -> str:
    return notation.number(-math.inf)


_RULES = {"sum": _sum, "fraction": _fraction, "softmax": _softmax, "layer norm": _layer_norm, "mask": _mask}
