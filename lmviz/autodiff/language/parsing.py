"""One line of text as an assignment or as the head of a loop: recursive descent over its tokens."""

from __future__ import annotations

import numpy as np

from lmviz.autodiff.language.limits import CELLS, DEPTH
from lmviz.autodiff.language.scanning import END, NAME, NUMBER, Token, scan
from lmviz.autodiff.language.syntax import Assignment, Call, Index, Literal, Loop, Reference
from lmviz.autodiff.node import INPUT, PARAMETER
from lmviz.base.faults import LineFault

FOR, IN = "for", "in"
RESERVED = frozenset({FOR, IN, INPUT, PARAMETER})


def parse_line(text: str, line: int) -> Assignment | Loop:
    """What a line says; LineFault where it says nothing that the language knows."""
    return _Parser(scan(text)).statement(line)


class _Parser:
    """Reads the tokens of one line from left to right."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._at = 0

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._next
        if token.kind != END:
            self._at += 1
        return token

    def _sees(self, text: str) -> bool:
        return self._next.text == text and self._next.kind != END

    def _takes(self, text: str) -> bool:
        if self._sees(text):
            self._at += 1
            return True
        return False

    def _expect(self, text: str, where: str) -> Token:
        if not self._sees(text):
            raise LineFault(f"{where} needs “{text}”, and here is {self._next}.")
        return self._take()

    def _name(self, where: str) -> str:
        token = self._take()
        if token.kind != NAME:
            raise LineFault(f"{where} needs a name, and here is {token}.")
        if token.text in RESERVED:
            raise LineFault(f"“{token.text}” is a word of the language and cannot be a name.")
        return token.text

    def statement(self, line: int) -> Assignment | Loop:
        found: Assignment | Loop
        if self._takes(FOR):
            found = self._loop(line)
        else:
            kind = self._take().text if self._next.text in (INPUT, PARAMETER) else ""
            target = self._reference()
            self._expect("=", f"after {target.name} the line")
            found = Assignment(line, kind, target, self._value(0, whole=True))
            if kind and isinstance(found.value, Call):
                raise LineFault(f"what is declared as {kind} is given by numbers, not computed.")
        if self._next.kind != END:
            raise LineFault(f"the line should end here, and there is {self._next}.")
        return found

    def _loop(self, line: int) -> Loop:
        variable = self._name("a loop")
        self._expect(IN, "a loop")
        first = self._whole_number("a loop")
        self._expect("..", "a loop")
        last = self._whole_number("a loop")
        self._expect(":", "a loop")
        return Loop(line, variable, first, last, ())

    def _whole_number(self, where: str) -> int:
        token = self._take()
        if token.kind != NUMBER or not (token.text.isascii() and token.text.isdigit()):
            raise LineFault(f"{where} needs a whole number, and here is {token}.")
        return int(token.text)

    def _reference(self) -> Reference:
        name = self._name("the line")
        if not self._takes("["):
            return Reference(name)
        first = self._index()
        last = self._index() if self._takes("..") else None
        self._expect("]", f"the step of {name}")
        return Reference(name, first, last)

    def _index(self) -> Index:
        if self._next.kind == NUMBER:
            return Index("", self._whole_number("a step"))
        variable = self._name("a step")
        sign = 1 if self._takes("+") else -1 if self._takes("-") else 0
        return Index(variable, sign * self._whole_number("a step") if sign else 0)

    def _value(self, depth: int, *, whole: bool = False) -> Call | Literal:
        """A call or numbers; with `whole` the right-hand side of a line, where a name alone is a fault."""
        value = self._argument(depth)
        if whole and isinstance(value, Reference):
            raise LineFault(f"write identity({value.name}) to give a value a second name.")
        assert not isinstance(value, Reference)
        return value

    def _argument(self, depth: int) -> Call | Reference | Literal:
        if depth > DEPTH:
            raise LineFault(f"calls can be nested at most {DEPTH} deep: give some of them names.")
        token = self._next
        if token.kind == NUMBER or token.text in ("[", "-", "+"):
            return self._literal()
        if token.kind == NAME and self._tokens[self._at + 1].text == "(":
            return self._call(depth)
        return self._reference()

    def _call(self, depth: int) -> Call:
        word = self._take().text
        self._expect("(", word)
        arguments: list[Call | Reference | Literal] = []
        while not self._sees(")"):
            if arguments:
                self._expect(",", f"between its inputs {word}")
            arguments.append(self._argument(depth + 1))
        self._take()
        return Call(word, tuple(arguments))

    def _literal(self) -> Literal:
        first = self._next.first
        if not self._takes("["):
            return Literal(np.array(self._number()), first, self._tokens[self._at - 1].last)
        rows: list[list[float]] = [[]]
        cells = 0
        while not self._sees("]"):
            if self._takes(";"):
                rows.append([])
            elif not (rows[-1] and self._takes(",")):
                rows[-1].append(self._number())
                cells += 1
            if cells > CELLS:
                raise LineFault(f"a value has at most {CELLS:,} numbers.")
        last = self._take().last
        if len(rows) > 1 and not rows[-1]:
            rows.pop()  # a semicolon after the last row as well
        return Literal(_array(rows), first, last)

    def _number(self) -> float:
        sign = self._take() if self._sees("-") or self._sees("+") else None
        token = self._take()
        if token.kind != NUMBER:
            raise LineFault(f"a number should be here, and not {token}.")
        if sign is not None and sign.last != token.first:
            raise LineFault("numbers are given, not computed: write the sign beside its number.")
        value = float(token.text)
        if not np.isfinite(value):
            raise LineFault(f"{token.text} is larger than any number can be.")
        return -value if sign is not None and sign.text == "-" else value


def _array(rows: list[list[float]]) -> np.ndarray:
    """A column is a vector, and so is a single number in brackets; everything else is a matrix."""
    width = len(rows[0])
    if not width:
        raise LineFault("there is no number between the brackets.")
    for place, row in enumerate(rows):
        if len(row) != width:
            raise LineFault(f"row 1 has {width} numbers and row {place + 1} has {len(row)}.")
    array = np.array(rows, dtype=np.float64)
    return array[:, 0] if width == 1 else array
