"""The lines of a written-out calculation, which a widget draws one below the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lmviz.models.arithmetic.terms import Factor, Terms

Naming = Callable[[str, tuple[int, ...]], str]
"""The name of an operand in words, from its source and its index."""


@dataclass(frozen=True)
class Number:
    """One operand of a line: a number, the function applied to it, and its place."""

    value: float
    function: str
    source: str
    index: tuple[int, ...]


@dataclass(frozen=True)
class SheetLine:
    """What a number is called, the operands that are multiplied, and what comes out.

    `adds` is true where the value is one part of a sum, whose sign is shown even when it is positive. `side`
    is that of the terms that it belongs to, and `heads` says that it is their sum, with some of them below.
    """

    name: str
    value: float
    numbers: tuple[Number, ...] = ()
    adds: bool = False
    side: str = ""
    heads: bool = False


@dataclass(frozen=True)
class Sheet:
    """The lines that lead to a result.

    `result` is what they make, in words; where it is empty the operation's own words say it. `middle`
    and `last` are the headings of the operands and of the values.
    """

    lines: tuple[SheetLine, ...]
    result: str
    middle: str
    last: str

    @classmethod
    def of_terms(cls, lines: tuple[SheetLine, ...], result: str = "all together") -> Sheet:
        """Lines that are added up: products where any line multiplies, else plain terms."""
        multiplies = any(len(line.numbers) > 1 for line in lines)
        middle, last = ("weight × value", "product") if multiplies else ("number", "term")
        return cls(lines, result, middle, last)


def term_line(group: Terms, term: int, naming: Naming, label: str = "") -> SheetLine:
    """One term of a sum, called by its label, or else by its operand."""
    name = label or name_of(group.factors, term, naming) or group.label
    return SheetLine(name, float(group.products[term]), numbers_of(group, term), adds=True, side=group.side)


def numbers_of(group: Terms, term: int) -> tuple[Number, ...]:
    """The factors of one term, without ones that change nothing."""
    return tuple(
        Number(float(factor.values[term]), factor.function, factor.source, _place(factor, term))
        for factor in group.factors
        if factor.source != "constant" or factor.values[term] != 1 or factor.function
    )


def name_of(factors: tuple[Factor, ...], term: int, naming: Naming) -> str:
    """The name of the factor that is a value of the model, else of the first parameter, else nothing."""
    named = [factor for factor in factors if factor.source != "constant"]
    chosen = next((factor for factor in named if "." not in factor.source), next(iter(named), None))
    return naming(chosen.source, _place(chosen, term)) if chosen else ""


def others(count: int) -> str:
    """The label of the terms that are not shown separately."""
    return f"{count:,} other{'s' if count > 1 else ''}"


def largest(values: np.ndarray, count: int) -> np.ndarray:
    """The places of the `count` largest absolute values, largest first."""
    return np.argsort(-np.abs(values), kind="stable")[:count]


def _place(factor: Factor, term: int) -> tuple[int, ...]:
    return tuple(int(place) for place in factor.indices[term])
