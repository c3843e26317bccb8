"""What one model says to some beginnings: how likely words of another are to it, and how it goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lmviz.looks.by_value import ByValue
from lmviz.looks.ink import Ink


@dataclass(frozen=True, eq=False)
class AnswerColumn(ByValue):
    """The model by its `name`; `shares` (row,) are probabilities, `expected` (row,) what it expects most.

    `text` is how it goes on with what all read, empty where it was not asked.
    """

    name: str
    ink: Ink
    shares: np.ndarray
    expected: Sequence[str] = ()
    text: str = ""
