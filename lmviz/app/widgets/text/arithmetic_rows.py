"""A cell's arithmetic as rows to read: the largest terms one by one, the rest together, the result."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.widgets.base.figures import number, signed_figure

if TYPE_CHECKING:
    from lmviz.models.arithmetic import Arithmetic, Factor, Terms

SYMBOLS = {
    "sigmoid": "σ({})",
    "tanh": "tanh({})",
    "relu": "ReLU({})",
    "gelu": "GELU({})",
    "gelu_tanh": "GELU({})",
    "one minus": "(1 − {})",
    "negative": "−({})",
    "reciprocal": "1 / {}",
    "log": "ln({})",
}
"""How a function of `lmviz.models.arithmetic.FUNCTIONS` is written around its argument."""

Naming = Callable[[str, tuple[int, ...]], str]


@dataclass(frozen=True)
class Operand:
    """One number of a row, as written, and where it comes from; "constant" comes from nowhere."""

    text: str
    source: str
    index: tuple[int, ...]

    @property
    def can_be_followed(self) -> bool:
        """Whether there is a place to go back to."""
        return self.source != "constant"

    @property
    def is_parameter(self) -> bool:
        """Whether it was learned; parameters have a dot in their name, taps do not."""
        return "." in self.source


@dataclass(frozen=True)
class Row:
    """One line of the card: what it is, the numbers that are multiplied, and what comes out.

    `result` marks the last line. `main` is the operand that a click on the line goes to.
    """

    name: str
    operands: tuple[Operand, ...] = ()
    value: str = ""
    result: bool = False

    @property
    def main(self) -> Operand | None:
        """The first operand that is a value of the model, else the first parameter."""
        followed = [operand for operand in self.operands if operand.can_be_followed]
        return next((operand for operand in followed if not operand.is_parameter), next(iter(followed), None))


@dataclass(frozen=True)
class Sheet:
    """All rows, and the headings of the second and third column."""

    rows: tuple[Row, ...]
    middle: str = "weight × value"
    last: str = "sum"


def plain_name(source: str, index: tuple[int, ...]) -> str:
    """An operand's name where nobody knows a better one: "layers/0/hidden[5, 17]"."""
    return f"{source}[{', '.join(map(str, index))}]" if index else source


def sheet_of(arithmetic: Arithmetic, naming: Naming = plain_name, count: int = 6) -> Sheet:
    """The arithmetic as rows; of sums and rows the `count` largest terms are shown one by one."""
    makers = {
        "fraction": _fraction_sheet,
        "softmax": _softmax_sheet,
        "layer norm": _norm_sheet,
        "mask": _mask_sheet,
    }
    return makers.get(arithmetic.rule, _sum_sheet)(arithmetic, naming, count)


def _sum_sheet(arithmetic: Arithmetic, naming: Naming, count: int) -> Sheet:
    return Sheet((*_sum_rows(arithmetic.terms, naming, count), _result_row(arithmetic)))


def _fraction_sheet(arithmetic: Arithmetic, naming: Naming, count: int) -> Sheet:
    half = len(arithmetic.terms) // 2
    above, below = arithmetic.terms[:half], arithmetic.terms[half:]
    rows = [*_sum_rows(above, naming, count), _total_row("together", above)]
    rows += [*_sum_rows(below, naming, count), _total_row("divided by", below)]
    return Sheet((*rows, _result_row(arithmetic)))


def _total_row(name: str, groups: tuple[Terms, ...]) -> Row:
    return Row(name, value=number(float(sum(group.products.sum() for group in groups))))


def _sum_rows(groups: tuple[Terms, ...], naming: Naming, count: int) -> list[Row]:
    single = [group for group in groups if len(group) == 1]
    many = tuple(group for group in groups if len(group) > 1)
    found = sorted(
        ((group, int(term)) for group in many for term in _largest(group, count)),
        key=lambda pair: -abs(pair[0].products[pair[1]]),
    )[:count]
    rows = [_term_row(group, term, naming) for group, term in found]
    others = sum(len(group) for group in many) - len(found)
    if others:
        shown = sum(group.products[term] for group, term in found)
        left = sum(group.products.sum() for group in many) - shown
        rows.append(Row(_others(others), value=signed_figure(left)))
    return rows + [_term_row(group, 0, naming, label=group.label) for group in single]


def _softmax_sheet(arithmetic: Arithmetic, naming: Naming, count: int) -> Sheet:
    from lmviz.models.arithmetic import Terms  # the first paint explains nothing

    own, row = arithmetic.terms[:2]
    powers = np.exp(row.products - row.products.max())
    rows = [_softmax_row(own, 0, own.label, float(row.products.max()))]
    for term in _largest(Terms(row.label, (_only_values(powers),)), count):
        name = _name(row.factors, int(term), naming)
        rows.append(_softmax_row(row, int(term), name, float(row.products.max())))
    if len(powers) > count:
        others = float(np.sort(powers)[:-count].sum())
        rows.append(Row(_others(len(powers) - count), value=number(others)))
    rows.append(Row("all together", value=number(float(powers.sum()))))
    result = Row("its share of all", value=number(arithmetic.value), result=True)
    return Sheet((*rows, result), middle="score", last="e^(score − largest)")


def _softmax_row(group: Terms, term: int, name: str, largest: float) -> Row:
    score = float(group.products[term])
    return Row(name, _operands(group, term), number(math.exp(score - largest)))


def _norm_sheet(arithmetic: Arithmetic, naming: Naming, count: int) -> Sheet:
    own, row, gain, bias, _ = arithmetic.terms
    values = row.products
    mean, deviation = float(values.mean()), float(values.std())
    rows = (
        Row(_name(own.factors, 0, naming), _operands(own, 0), number(float(own.products[0]))),
        Row(f"mean of {len(values):,} values", value=number(mean)),
        Row("their standard deviation", value=number(deviation)),
        Row("gain", _operands(gain, 0), number(float(gain.products[0]))),
        Row("bias", _operands(bias, 0), number(float(bias.products[0]))),
        Row("(value − mean) / deviation × gain + bias", value=number(arithmetic.value), result=True),
    )
    return Sheet(rows, middle="number", last="value")


def _mask_sheet(arithmetic: Arithmetic, naming: Naming, count: int) -> Sheet:
    rows = [_term_row(group, 0, naming) for group in arithmetic.terms if len(group)]
    return Sheet((*rows, Row(arithmetic.operation, value=number(arithmetic.value), result=True)))


def _others(count: int) -> str:
    return f"{count:,} other{'s' if count > 1 else ''}"


def _largest(group: Terms, count: int) -> np.ndarray:
    return np.argsort(-np.abs(group.products), kind="stable")[:count]


def _only_values(values: np.ndarray) -> Factor:
    from lmviz.models.arithmetic import Factor

    return Factor("constant", np.zeros((len(values), 0), dtype=np.int64), values)


def _term_row(group: Terms, term: int, naming: Naming, label: str = "") -> Row:
    name = label or _name(group.factors, term, naming) or group.label
    return Row(name, _operands(group, term), signed_figure(float(group.products[term])))


def _operands(group: Terms, term: int) -> tuple[Operand, ...]:
    operands = []
    for factor in group.factors:
        value = float(factor.values[term])
        written = number(value, 2)
        if factor.function:
            written = SYMBOLS.get(factor.function, factor.function + "({})").format(written)
        index = tuple(int(place) for place in factor.indices[term])
        if factor.source != "constant" or value != 1 or factor.function:
            operands.append(Operand(written, factor.source, index))
    return tuple(operands)


def _name(factors: tuple[Factor, ...], term: int, naming: Naming) -> str:
    """The name of the factor that is a value of the model, else of the first parameter."""
    named = [factor for factor in factors if factor.source != "constant"]
    chosen = next((factor for factor in named if "." not in factor.source), next(iter(named), None))
    return naming(chosen.source, tuple(int(place) for place in chosen.indices[term])) if chosen else ""


def _result_row(arithmetic: Arithmetic) -> Row:
    written = number(arithmetic.argument, 2)
    name = SYMBOLS[arithmetic.function].format(written) if arithmetic.function else "all together"
    return Row(name, value=number(arithmetic.value), result=True)
