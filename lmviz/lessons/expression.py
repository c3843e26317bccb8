"""Arithmetic of values and numbers, as a lesson states it: `5/(11+vocabulary)`, `count("cows eat")`.

The grammar, loosest first:

    sum      = product (("+" | "-") product)*
    product  = power (("*" | "/") power)*
    power    = "-" power | atom ("^" power)?
    atom     = number "%"? | "words" | name | name "(" argument ("," argument)* ")" | "(" sum ")" | "√" atom
    argument = sum

A name is one of the values that a lesson may ask for, or one of `FUNCTIONS`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from lmviz.base.faults import LineFault
from lmviz.lessons.faults import NotKnown

LONGEST = 500  # characters
DEEPEST = 30  # brackets within brackets

Result = float | str

FUNCTIONS: dict[str, Callable[[float], float]] = {
    "ln": math.log,
    "exp": math.exp,
    "sqrt": math.sqrt,
    "abs": abs,
    "round": lambda number: float(round(number)),
}
"""Functions of one number."""

_OPERATORS: dict[str, Callable[[float, float], float]] = {
    "+": lambda first, second: first + second,
    "-": lambda first, second: first - second,
    "*": lambda first, second: first * second,
    "/": lambda first, second: first / second,
    "^": math.pow,
}
_SPELLINGS = str.maketrans({"−": "-", "×": "*", "·": "*", "÷": "/"})
_PIECE = re.compile(
    r"""\s*(?:(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
    |"(?P<words>[^"]*)"|(?P<name>[^\W\d]\w*)|(?P<sign>[-−+*×·/÷^()%,√]))""",
    re.VERBOSE | re.ASCII,
)


@dataclass(frozen=True)
class Literal:
    """A number or words."""

    value: Result


@dataclass(frozen=True)
class Call:
    """A value by its name, with its arguments."""

    name: str
    arguments: tuple[Expression, ...] = ()


@dataclass(frozen=True)
class Operation:
    """An operator with its two operands, or a function of `FUNCTIONS` with its one."""

    sign: str
    operands: tuple[Expression, ...]


Expression = Literal | Call | Operation


def parse(text: str) -> Expression:
    """Read arithmetic; LineFault where it is none. Names are not looked up: see `values.check`."""
    if len(text) > LONGEST:
        raise LineFault(f"an expression has at most {LONGEST} characters.")
    return _Parser(text).read()


def evaluate(expression: Expression, look_up: Callable[[str, list[Result]], Result]) -> Result:
    """The value now; `look_up(name, arguments)` knows those with a name. NotKnown where there is none."""
    if isinstance(expression, Literal):
        return expression.value
    if isinstance(expression, Call):
        return look_up(expression.name, [evaluate(each, look_up) for each in expression.arguments])
    numbers = [_number(evaluate(operand, look_up)) for operand in expression.operands]
    act: Callable[..., float] = FUNCTIONS.get(expression.sign) or _OPERATORS[expression.sign]
    try:
        return float(act(*numbers))
    except (ArithmeticError, ValueError):
        shown = f" {expression.sign} ".join(f"{number:g}" for number in numbers)
        raise NotKnown(f"{shown} has no value: change what is open.") from None


def constant(text: str) -> float | None:
    """The number that a person has typed, such as "4/11" or "36 %"; None where it is none."""
    try:
        value = evaluate(parse(text), _no_values)
    except (LineFault, NotKnown):
        return None
    return value if isinstance(value, float) and math.isfinite(value) else None


def _no_values(name: str, arguments: list[Result]) -> Result:
    raise NotKnown(f"{name} is not a number.")


def _number(value: Result) -> float:
    if isinstance(value, str):
        raise NotKnown(f"“{value}” is not a number.")
    return value


class _Parser:
    """Reads one expression, one piece after the other."""

    def __init__(self, text: str) -> None:
        self._pieces = _split(text)
        self._at = 0
        self._depth = 0

    def read(self) -> Expression:
        """The whole of it."""
        found = self._sum()
        if self._at < len(self._pieces):
            point = ", and a decimal with a point, such as 0.001" if self._next[1] == "," else ""
            raise LineFault(f"{self._next[1]!r} is not expected here: write one expression{point}.")
        return found

    @property
    def _next(self) -> tuple[str, str]:
        return self._pieces[self._at] if self._at < len(self._pieces) else ("end", "")

    def _take(self, *signs: str) -> str:
        """Take the next piece if it is one of these signs."""
        kind, text = self._next
        if kind != "sign" or text not in signs:
            return ""
        self._at += 1
        return text

    def _sum(self) -> Expression:
        self._depth += 1
        if self._depth > DEEPEST:
            raise LineFault("the brackets are nested too deeply: write it more simply.")
        found = self._product()
        while sign := self._take("+", "-"):
            found = Operation(sign, (found, self._product()))
        self._depth -= 1
        return found

    def _product(self) -> Expression:
        found = self._power()
        while sign := self._take("*", "/"):
            found = Operation(sign, (found, self._power()))
        return found

    def _power(self) -> Expression:
        signs = 0
        while self._take("-"):
            signs += 1
        found = self._atom()
        if self._take("^"):
            found = Operation("^", (found, self._exponent()))
        return Operation("-", (Literal(0.0), found)) if signs % 2 else found

    def _exponent(self) -> Expression:
        self._depth += 1
        if self._depth > DEEPEST:
            raise LineFault("the powers are nested too deeply: write it more simply.")
        found = self._power()
        self._depth -= 1
        return found

    def _atom(self) -> Expression:
        kind, text = self._next
        self._at += 1
        if kind == "number":
            number = float(text)
            return Literal(number / 100 if self._take("%") else number)
        if kind == "words":
            return Literal(text)
        if kind == "name":
            return self._named(text)
        if kind == "sign" and text == "(":
            found = self._sum()
            self._close()
            return found
        if kind == "sign" and text == "√":
            return self._root()
        raise LineFault(f"a number or a value is missing{f' before {text!r}' if text else ' at the end'}.")

    def _root(self) -> Expression:
        self._depth += 1
        if self._depth > DEEPEST:
            raise LineFault("the brackets are nested too deeply: write it more simply.")
        found = self._atom()
        self._depth -= 1
        return Operation("sqrt", (found,))

    def _named(self, name: str) -> Expression:
        if not self._take("("):
            if name in FUNCTIONS:
                raise LineFault(f"{name} needs a number in brackets: write {name}(…).")
            return Call(name)
        arguments = [self._sum()]
        while self._take(","):
            arguments.append(self._sum())
        self._close()
        if name not in FUNCTIONS:
            return Call(name, tuple(arguments))
        if len(arguments) != 1:
            raise LineFault(f"{name} takes one number.")
        return Operation(name, tuple(arguments))

    def _close(self) -> None:
        if not self._take(")"):
            raise LineFault("a bracket is not closed: add “)”.")


def _split(text: str) -> list[tuple[str, str]]:
    """The pieces, each with its kind."""
    pieces, at, text = [], 0, text.rstrip()
    while at < len(text):
        found = _PIECE.match(text, at)
        if found is None:
            raise LineFault(f"{text[at:].strip()[:20]!r} cannot be read: see docs/writing-a-lesson.md.")
        kind = str(found.lastgroup)
        piece = found[kind]
        pieces.append((kind, piece.translate(_SPELLINGS) if kind == "sign" else piece))
        at = found.end()
    return pieces
