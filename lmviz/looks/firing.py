"""A line of text around a token at which a feature fires, its tokens coloured by how strongly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lmviz.looks.by_value import ByValue


@dataclass(frozen=True, eq=False)
class FiringLine(ByValue):
    """The `tokens` around the one at `place`, their `strengths` (token,) from 0 to 1, and what is `said`.

    `tip` is what the pointer brings beside the line.
    """

    tokens: tuple[str, ...]
    place: int
    strengths: np.ndarray
    said: str = ""
    tip: tuple[str, ...] = ()
