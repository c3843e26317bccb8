"""What is wrong with a text that a person has written, each at its line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lmviz.base.errors import LmvizError


@dataclass(frozen=True)
class Fault:
    """A sentence about one line, which count from 1; line 0 is the whole text."""

    line: int
    sentence: str


class LineFault(Exception):
    """Raised while one line or entry is read; the reader knows its number."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class FaultyText(LmvizError):
    """A text that cannot be used. `faults` are all that were found, in the order of the lines."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(sorted(faults, key=lambda fault: fault.line))
        super().__init__(" ".join(map(_located, self.faults)))


def _located(fault: Fault) -> str:
    return f"Line {fault.line}: {fault.sentence}" if fault.line else fault.sentence
