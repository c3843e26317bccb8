"""An equation with numbers in place of its symbols, in LaTeX or on one line."""

from __future__ import annotations

from lmviz.models.arithmetic import RULES, Arithmetic
from lmviz.models.arithmetic.notation import LATEX, PLAIN, Notation

SHOWN = 4
"""How many terms of a long sum are written out; the rest are added up."""


def numbers(arithmetic: Arithmetic, shown: int = SHOWN) -> str:
    """The cell's equation with its numbers, in LaTeX; of a long sum the `shown` largest terms."""
    return _written(arithmetic, LATEX, shown)


def one_line(arithmetic: Arithmetic, shown: int = SHOWN) -> str:
    """The same as plain text, such as "0.91 · 0.42 + 0.13 · −0.77 = 0.28"."""
    return _written(arithmetic, PLAIN, shown)


def number(value: float) -> str:
    """A number as written in text, with a real minus sign: 0.28, −0.013, 12, 2.8·10⁻⁵."""
    return PLAIN.number(value)


def _written(arithmetic: Arithmetic, notation: Notation, shown: int) -> str:
    inner = RULES[arithmetic.rule].equation(arithmetic.terms, notation, shown)
    value = notation.number(arithmetic.value)
    if not arithmetic.function:
        return value if inner == value else f"{inner} = {value}"
    argument = notation.number(arithmetic.argument)
    steps = [notation.apply(arithmetic.function, inner)]
    if inner != argument:
        steps.append(notation.apply(arithmetic.function, argument))
    return " = ".join([*steps, value])
