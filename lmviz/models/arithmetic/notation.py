"""Notation of numbers and equations: on one line of text, and in LaTeX."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lmviz.models.functions import FUNCTIONS


@dataclass(frozen=True)
class Notation:
    """How the parts of an equation are written; the templates take the parts in order.

    `field` is the template of a `Function` that belongs to this notation.
    """

    field: str
    times: str
    minus: str
    negative: str
    infinity: str
    power_of_ten: str
    exponential: str
    fraction: str
    root: str
    others: str
    digits: Mapping[int, int | str]

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
        """A function of something already written; brackets keep together what is more than one number."""
        template = getattr(FUNCTIONS[function], self.field)
        encloses = template == "{}" or any(pair in template for pair in ("({})", "{{{}}}"))
        return template.format(argument if encloses or " " not in argument else f"({argument})")

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
        """Terms added; those that begin with a minus are subtracted."""
        text = terms[0] if terms else "0"
        for term in terms[1:]:
            negative = term.startswith(self.minus)
            text += f" {self.minus} {term[len(self.minus) :]}" if negative else f" + {term}"
        return text

    def divide(self, above: str, below: str) -> str:
        """A fraction; on one line, anything longer than one number is in brackets."""
        if self.fraction != "{} / {}":
            return self.fraction.format(above, below)
        return self.fraction.format(
            *(f"({part})" if " " in part and part[0] != "√" else part for part in (above, below))
        )


PLAIN = Notation(
    field="plain",
    times=" · ",
    minus="−",
    negative="{}",
    infinity="∞",
    power_of_ten="{}·10{}",
    exponential="exp({})",
    fraction="{} / {}",
    root="√({})",
    others="{} ({})",
    digits=str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"),
)
LATEX = Notation(
    field="latex",
    times=r" \cdot ",
    minus="-",
    negative="({})",
    infinity=r"\infty",
    power_of_ten=r"{} \cdot 10^{{{}}}",
    exponential="e^{{{}}}",
    fraction=r"\frac{{{}}}{{{}}}",
    root=r"\sqrt{{{}}}",
    others=r"{} \; (\text{{{}}})",
    digits={},
)
