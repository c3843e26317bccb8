"""Which cells a number came from, and how much each of them weighs: what fades in around a hovered cell."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lmviz.models.arithmetic import Arithmetic, Terms


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
    strengths = _strengths(arithmetic)
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


def _strengths(arithmetic: Arithmetic) -> list[np.ndarray]:
    """For each group of terms how much its terms weigh, (term,), the largest of all being 1."""
    if arithmetic.rule == "softmax":
        row = arithmetic.terms[1].products
        return [np.ones(1), np.exp(row - row.max())]
    if arithmetic.rule == "layer norm":
        row = arithmetic.terms[1].products
        deviations = np.abs(row - row.mean())
        spread = deviations / max(float(deviations.max()), np.finfo(float).tiny)
        return [np.ones(len(group)) if place != 1 else spread for place, group in enumerate(arithmetic.terms)]
    sizes = [_sizes(group) for group in arithmetic.terms]
    largest = max((float(size.max(initial=0.0)) for size in sizes), default=0.0)
    return [size / largest if largest > 0 else np.ones_like(size) for size in sizes]


def _sizes(group: Terms) -> np.ndarray:
    return np.nan_to_num(np.abs(group.products), posinf=0.0)


def _merged(source: str, indices: np.ndarray, strengths: np.ndarray) -> OperandCells:
    """Each place once, as strong as its strongest mention."""
    unique, inverse = np.unique(indices, axis=0, return_inverse=True)
    strongest = np.zeros(len(unique))
    np.maximum.at(strongest, inverse.reshape(-1), strengths)
    return OperandCells(source, unique, strongest)
