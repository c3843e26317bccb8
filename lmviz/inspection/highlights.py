"""Which cells a number was computed from, and the weight of each: the cells highlighted on hover."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from lmviz.models.arithmetic import RULES, Arithmetic


@dataclass(frozen=True, eq=False)
class OperandCells:
    """The cells of one source, a tap or a parameter, that a number was made from.

    `indices` (cell, axis) are their places, each once; `strengths` (cell,) between 0 and 1 say how much
    each contributes beside the strongest of all.
    """

    source: str
    indices: np.ndarray
    strengths: np.ndarray


@lru_cache(maxsize=2)  # every view of a window asks for those of the same number
def operand_cells(arithmetic: Arithmetic) -> tuple[OperandCells, ...]:
    """The cells behind a number, source by source; constants have none."""
    strengths = RULES[arithmetic.rule].strengths(arithmetic.terms)
    indices: dict[str, list[np.ndarray]] = {}
    weights: dict[str, list[np.ndarray]] = {}
    for group, strength in zip(arithmetic.terms, strengths, strict=True):
        for factor in group.factors:
            if factor.source != "constant":
                indices.setdefault(factor.source, []).append(factor.indices)
                weights.setdefault(factor.source, []).append(strength)
    return tuple(
        _merged(source, np.concatenate(parts), np.concatenate(weights[source]))
        for source, parts in indices.items()
    )


def _merged(source: str, indices: np.ndarray, strengths: np.ndarray) -> OperandCells:
    """Each place once, as strong as its strongest mention."""
    unique, inverse = np.unique(indices, axis=0, return_inverse=True)
    strongest = np.zeros(len(unique))
    np.maximum.at(strongest, inverse.reshape(-1), strengths)
    return OperandCells(source, unique, strongest)
