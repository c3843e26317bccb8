"""What a line can be, as plain values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Index:
    """A step: a whole number, or the variable of the loop with a whole number added."""

    variable: str
    offset: int


@dataclass(frozen=True)
class Reference:
    """A name, with an index or from one index to another."""

    name: str
    first: Index | None = None
    last: Index | None = None


@dataclass(frozen=True, eq=False)
class Literal:
    """Numbers as written, and the columns between which they stand."""

    array: np.ndarray
    first: int
    last: int


@dataclass(frozen=True)
class Call:
    """A module with its inputs."""

    word: str
    arguments: tuple[Call | Reference | Literal, ...]


@dataclass(frozen=True)
class Assignment:
    """`name = …`; `kind` is "input", "parameter", or empty where the text does not say."""

    line: int
    kind: str
    target: Reference
    value: Call | Literal


@dataclass(frozen=True)
class Loop:
    """`for t in 1..4:` with the assignments that are indented below it."""

    line: int
    variable: str
    first: int
    last: int
    body: tuple[Assignment, ...]


Statement = Assignment | Loop
