"""What is wrong with a text, each at its line."""

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
    """Raised while one line is read; the reader knows the line."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class NetworkFault(LmvizError):
    """A text that is no network. `faults` are all that were found, in the order of the lines."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__(" ".join(f"Line {fault.line}: {fault.sentence}" for fault in self.faults))
