"""A column of a table: its values, and how one of them is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lmviz.looks.by_value import ByValue
from lmviz.looks.ink import Ink

SAMPLE = 64


@dataclass(frozen=True, eq=False)
class Column(ByValue):
    """One column: `values` (row,), numbers or texts, and how to write one of them.

    A number that was not measured, NaN, is written "–", has no bar, and comes last in either order.
    Texts stand on the left, in monospace when they are `tokens`; numbers on the right. `bar` draws a
    number as a bar as well, which is full at the largest value. A `spare` column is left out where the table
    is too narrow for all, and said in the tooltip of the row. `colors` (row,) are those of curves, each shown
    before its cell.
    """

    title: str
    values: np.ndarray | Sequence[str]
    write: Callable[[Any], str] = field(default=str, compare=False)  # the sample says whether it is another
    tokens: bool = False
    bar: bool = False
    spare: bool = False
    colors: Sequence[Ink] = ()

    def __post_init__(self) -> None:
        if self.numeric and np.isnan(self.values).any():
            write = self.write
            object.__setattr__(self, "write", lambda value: "–" if np.isnan(value) else write(value))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Column) and super().__eq__(other) and self.sample == other.sample

    @property
    def broken_title(self) -> str:
        """The title in two lines of about the same length; in one if it is a single word."""
        words = self.title.split()
        halves = [(" ".join(words[:at]), " ".join(words[at:])) for at in range(1, len(words))]
        return "\n".join(min(halves, key=lambda pair: max(map(len, pair)))) if halves else self.title

    @property
    def sample(self) -> list[str]:
        """Some of its cells, the first and the last ones among them, as they are written."""
        rows = len(self.values)
        chosen = {*range(min(SAMPLE, rows)), *range(0, rows, rows // SAMPLE + 1), *range(rows)[-SAMPLE:]}
        return [self.write(self.values[row]) for row in sorted(chosen)]

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers."""
        return isinstance(self.values, np.ndarray) and self.values.dtype.kind in "iufb"

    @property
    def largest(self) -> float:
        """The size of the number whose bar is full; 1 where no bar has a length."""
        sizes = np.abs(np.asarray(self.values, dtype=np.float64))
        return float(np.max(sizes, initial=0, where=np.isfinite(sizes))) or 1.0

    def order(self, *, descending: bool = False) -> np.ndarray:
        """The rows from the smallest value up, equal ones in their own order, or all reversed: (row,) int."""
        if self.numeric:
            lines = np.argsort(self.values, kind="stable")
        else:
            texts = [text.casefold() for text in self.values]
            lines = np.array(sorted(range(len(texts)), key=texts.__getitem__), dtype=np.int64)
        unknown = int(np.isnan(self.values).sum()) if self.numeric else 0  # sorted behind all others
        known = len(lines) - unknown
        return np.concatenate([lines[:known][::-1], lines[known:]]) if descending else lines
