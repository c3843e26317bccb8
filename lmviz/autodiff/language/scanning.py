"""A line of text as words, numbers and signs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lmviz.autodiff.language.limits import DIGITS
from lmviz.base.faults import LineFault

NAME, NUMBER, SIGN, END = "name", "number", "sign", "end"

_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<number>(?:[0-9]+(?:\.(?!\.)[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
  | (?P<name>[^\W\d](?:\w|[\u0300-\u036f′])*)
  | (?P<sign>\.\.|[=()\[\],;:+\-−])
    """,
    re.VERBOSE,
)


@dataclass(frozen=True)
class Token:
    """A piece of a line with its first column and the one after its last."""

    kind: str
    text: str
    first: int
    last: int

    def __str__(self) -> str:
        return f"“{self.text}”" if self.text else "the end of the line"


def without_comment(line: str) -> str:
    """A line up to the comment that # begins."""
    return line.partition("#")[0].rstrip()


def scan(line: str) -> list[Token]:
    """The tokens of a line, last an empty one; LineFault at a character that no word begins with."""
    text, place, found = without_comment(line), 0, []
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise LineFault(f"the character “{text[place]}” means nothing here.")
        kind, piece = match.lastgroup or "", match[0]
        if kind == NUMBER and len(piece) > DIGITS:
            raise LineFault(f"a number has at most {DIGITS} digits.")
        if kind != "space":
            found.append(Token(kind, "-" if piece == "−" else piece, place, match.end()))
        place = match.end()
    return [*found, Token(END, "", place, place)]
