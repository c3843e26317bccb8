"""What is wrong with a lesson file, each at its line; and what a lesson asks for that is not there now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lmviz.errors import LmvizError


@dataclass(frozen=True)
class Fault:
    """A sentence about one line, which count from 1."""

    line: int
    sentence: str


class LineFault(Exception):
    """Raised while one entry is read; the reader knows the line."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class LessonFault(LmvizError):
    """A text that is no lesson. `faults` are all that were found, in the order of the lines."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(sorted(faults, key=lambda fault: fault.line))
        super().__init__(" ".join(f"Line {fault.line}: {fault.sentence}" for fault in self.faults))


class NotKnown(LmvizError):
    """A value that does not exist now: no model is open, a word is not in the vocabulary, the log of 0."""
