"""An explanation as rows of text: the largest terms, the sum of the rest, the result."""

from __future__ import annotations

from dataclasses import dataclass

from lmviz.app.widgets.base.figures import has_no_gradient, number, signed_figure
from lmviz.models.arithmetic import FUNCTIONS, RULES, Arithmetic
from lmviz.models.arithmetic.sheet import Naming, Number, SheetLine
from lmviz.models.tap import place_of


@dataclass(frozen=True)
class WrittenOperand:
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
class ArithmeticRow:
    """One line of the card: what it is, the numbers that are multiplied, and what comes out.

    `result` marks the last line. `side` and `heads` are those of its `SheetLine`. `main` is the operand that
    a click on the line goes to.
    """

    name: str
    operands: tuple[WrittenOperand, ...] = ()
    value: str = ""
    result: bool = False
    side: str = ""
    heads: bool = False

    @property
    def main(self) -> WrittenOperand | None:
        """The first operand that is a value of the model, else the first parameter."""
        followed = [operand for operand in self.operands if operand.can_be_followed]
        return next((operand for operand in followed if not operand.is_parameter), next(iter(followed), None))


@dataclass(frozen=True)
class WrittenSheet:
    """All rows, the result last, and the headings of the second and third column."""

    rows: tuple[ArithmeticRow, ...]
    middle: str
    last: str


def plain_name(source: str, index: tuple[int, ...]) -> str:
    """An operand's name when no better one is given: "layers/0/hidden (6, 18)"."""
    return f"{source} {place_of(index)}" if index else source


def sheet_of(arithmetic: Arithmetic, naming: Naming = plain_name, count: int = 6) -> WrittenSheet:
    """The arithmetic as rows; of long sums the `count` largest terms are shown one by one."""
    if has_no_gradient(arithmetic.address, arithmetic.value):  # then a sentence is all that there is to say
        said = arithmetic.terms[0].label
        return WrittenSheet((ArithmeticRow(said, value="none", result=True),), "", "")
    sheet = RULES[arithmetic.rule].sheet(arithmetic.terms, naming, count)
    name = sheet.result or arithmetic.operation
    if arithmetic.function:
        name = _applied(arithmetic.function, arithmetic.argument)
    result = ArithmeticRow(name, value=number(arithmetic.value), result=True)
    return WrittenSheet((*map(_row, sheet.lines), result), sheet.middle, sheet.last)


def _row(line: SheetLine) -> ArithmeticRow:
    written = signed_figure(line.value) if line.adds else number(line.value)
    operands = tuple(map(_operand, line.numbers))
    return ArithmeticRow(line.name, operands, written, side=line.side, heads=line.heads)


def _operand(found: Number) -> WrittenOperand:
    return WrittenOperand(_applied(found.function, found.value), found.source, found.index)


def _applied(function: str, value: float) -> str:
    return FUNCTIONS[function].plain.format(number(value, 2))
