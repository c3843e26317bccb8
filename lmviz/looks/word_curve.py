"""A curve over the words of a text, and its name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lmviz.looks.by_value import ByValue
from lmviz.looks.ink import Ink


@dataclass(frozen=True, eq=False)
class WordCurve(ByValue):
    """One curve: values (word,) in bits, NaN where there is none.

    `turn` picks the kind of its line: 0 for a plain one, more for others of the same ink. One that is not
    `shown` has its name alone.
    """

    name: str
    ink: Ink
    values: np.ndarray
    turn: int = 0
    shown: bool = True
