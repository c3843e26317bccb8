"""A line of text whose tokens are coloured by what they did, with how much over time beside it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lmviz.looks.by_value import ByValue
from lmviz.looks.ink import Ink

NO_BARS = np.zeros(0)


@dataclass(frozen=True, eq=False, kw_only=True)
class PushedRow(ByValue):
    """One row: a `label` of a plain and a bold part, how many `times`, the `tokens` of a line, and `said` at
    the right edge in `ink`.

    `pushes` (token,) colour the tokens, from −1 to 1; `bars` are drawn beside them. An `inner` row belongs to
    the row above it, a `heading` has no tokens, and `mark` is a word that stands before the line. `opens`
    says that a click shows or hides its inner rows, and `tip` what the pointer brings.
    """

    label: tuple[str, str] = ("", "")
    times: str = ""
    tokens: tuple[str, ...] = ()
    pushes: np.ndarray = field(default_factory=lambda: NO_BARS)
    bars: np.ndarray = field(default_factory=lambda: NO_BARS)
    said: str = ""
    ink: Ink = "text"
    inner: bool = False
    heading: bool = False
    mark: str = ""
    opens: bool = False
    is_open: bool = False
    tip: tuple[str, ...] = ()
