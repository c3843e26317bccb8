"""Arithmetic written out: the equation with numbers in the place of symbols, in LaTeX or on one line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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


@dataclass(frozen=True)
class Notation:
    """How the parts of an equation are written; the templates take the parts in order."""

    times: str
    minus: str
    negative: str
    infinity: str
    power_of_ten: str
    exponential: str
    fraction: str
    root: str
    others: str
    functions: dict[str, str]
    digits: dict[int, int | str]

    def number(self, value: float) -> str:
        """Two decimals, or two digits below 0.1; whole numbers as such; powers of ten far from one."""
        if math.isnan(value):
            return "NaN"
        size, sign = abs(value), self.minus if value < 0 else ""
        if math.isinf(size):
            return sign + self.infinity
        if size == int(size) and size < 1e6:
            return f"{sign}{int(size)}"
        if 0.001 <= size < 1e4:
            return f"{sign}{size:.{2 if size >= 0.0995 else 3 if size >= 0.00995 else 4}f}"
        mantissa, _, exponent = f"{size:.1e}".partition("e")
        return sign + self.power_of_ten.format(mantissa, str(int(exponent)).translate(self.digits))

    def apply(self, function: str, argument: str) -> str:
        """A function of something already written."""
        return self.functions.get(function, "{}").format(argument) if function else argument

    def factor(self, value: float, function: str, *, leading: bool) -> str:
        """One factor of a product; a negative one in brackets, or as LaTeX and print have it."""
        written = self.number(value)
        if function:
            return self.apply(function, written)
        return written if leading or value >= 0 else self.negative.format(written)

    def product(self, factors: Sequence[tuple[float, str]]) -> str:
        """The factors of one term, each a number and a function."""
        written = [self.factor(*factor, leading=place == 0) for place, factor in enumerate(factors)]
        return self.times.join(written)

    def total(self, terms: Sequence[str]) -> str:
        """Terms added up; those that begin with a minus are taken away."""
        text = terms[0] if terms else "0"
        for term in terms[1:]:
            negative = term.startswith(self.minus)
            text += f" {self.minus} {term[len(self.minus) :]}" if negative else f" + {term}"
        return text

    def divide(self, above: str, below: str) -> str:
        """A fraction; on one line, what is more than one number stands in brackets."""
        if self.fraction != "{} / {}":
            return self.fraction.format(above, below)
        return self.fraction.format(
            *(f"({part})" if " " in part and part[0] != "√" else part for part in (above, below))
        )


PLAIN = Notation(
    times=" · ",
    minus="−",
    negative="{}",
    infinity="∞",
    power_of_ten="{}·10{}",
    exponential="exp({})",
    fraction="{} / {}",
    root="√({})",
    others="{} ({} others)",
    digits=str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"),
    functions={
        "sigmoid": "σ({})",
        "tanh": "tanh({})",
        "relu": "ReLU({})",
        "gelu": "GELU({})",
        "gelu_tanh": "GELU({})",
        "one minus": "(1 − {})",
        "negative": "−({})",
        "reciprocal": "1/{}",
        "log": "ln {}",
        "sin": "sin({})",
        "cos": "cos({})",
    },
)
LATEX = Notation(
    times=r" \cdot ",
    minus="-",
    negative="({})",
    infinity=r"\infty",
    power_of_ten=r"{} \cdot 10^{{{}}}",
    exponential="e^{{{}}}",
    fraction=r"\frac{{{}}}{{{}}}",
    root=r"\sqrt{{{}}}",
    others=r"{} \; (\text{{{} others}})",
    digits={},
    functions={
        "sigmoid": r"\sigma({})",
        "tanh": r"\tanh({})",
        "relu": r"\operatorname{{ReLU}}({})",
        "gelu": r"\operatorname{{GELU}}({})",
        "gelu_tanh": r"\operatorname{{GELU}}({})",
        "one minus": "(1 - {})",
        "negative": "-({})",
        "reciprocal": r"\frac{{1}}{{{}}}",
        "log": r"\ln {}",
        "sin": r"\sin({})",
        "cos": r"\cos({})",
    },
)


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
    places = [(group, term) for group in groups for term in range(len(group))]
    sizes = np.abs(np.concatenate([group.products for group in groups])) if groups else np.zeros(0)
    kept = set(np.argsort(-sizes, kind="stable")[:shown].tolist())
    written, others, left = [], 0, 0.0
    for place, (group, term) in enumerate(places):
        if place in kept:
            factors = [(float(factor.values[term]), factor.function) for factor in group.factors]
            written.append(notation.product(factors))
        else:
            others, left = others + 1, left + float(group.products[term])
    if others:
        written.append(notation.others.format(notation.number(left), others))
    return notation.total(written)


def _fraction(arithmetic: Arithmetic, notation: Notation, shown: int) -> str:
    half = len(arithmetic.terms) // 2
    above, below = arithmetic.terms[:half], arithmetic.terms[half:]
    return notation.divide(_addition(above, notation, shown), _addition(below, notation, shown))


def _softmax(arithmetic: Arithmetic, notation: Notation, shown: int) -> str:
    own, row = arithmetic.terms[0].products[0], arithmetic.terms[1].products
    # Only differences count; the exponents stay readable when the largest is taken away.
    largest = [score for score in np.sort(row)[::-1][:shown] if score > -math.inf]
    terms = [notation.exponential.format(notation.number(float(score))) for score in largest]
    possible = int(np.count_nonzero(row > -math.inf))
    if possible > len(largest):
        left = float(np.exp(np.sort(row)[::-1][len(largest) :]).sum())
        terms.append(notation.others.format(notation.number(left), possible - len(largest)))
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
