"""Which cells a number was computed from, and how strongly each of them is highlighted on hover."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from lmviz.inspection.views import View
from lmviz.models.arithmetic import RULES, Arithmetic

FULL, CLEAR, FAINT = 3, 2, 1  # and 0, not at all
LARGE, NOTICEABLE = 0.5, 0.1  # contributions, beside the strongest one


def lights(view: View, arithmetic: Arithmetic) -> np.ndarray | None:
    """The strength of every cell of a view, (row, column) int8 from 0 to 3; None when none is concerned.

    The explained cell is lit fully, its row and its column clearly, and its operands by what they
    contribute, at least faintly.
    """
    strengths = np.zeros(view.values.shape, dtype=np.int8)
    if view.address == arithmetic.address:
        place = view.cell(arithmetic.index)
        if place is not None:
            strengths[place[0]] = strengths[:, place[1]] = CLEAR
            strengths[place] = FULL
    for operand in operand_cells(arithmetic):
        if operand.source == view.address:
            _light_operand(strengths, view, operand)
    return strengths if strengths.any() else None


def _light_operand(strengths: np.ndarray, view: View, operand: OperandCells) -> None:
    drawn = np.ones(len(operand.indices), dtype=bool)
    rows = columns = np.zeros(len(operand.indices), dtype=np.int64)
    for axis, places in zip(view.axes, operand.indices.T, strict=True):
        if axis == view.row_axis:
            rows = _among(view.rows, places)
        elif axis == view.column_axis:
            columns = _among(view.columns, places)
        else:
            drawn &= places == view.fixed[axis]
    if view.folded:
        rows, columns = np.divmod(columns, view.folded)
    drawn &= (rows >= 0) & (columns >= 0)
    weights = operand.strengths[drawn]
    lit = np.where(weights >= LARGE, FULL, np.where(weights >= NOTICEABLE, CLEAR, FAINT)).astype(np.int8)
    np.maximum.at(strengths, (rows[drawn], columns[drawn]), lit)


def _among(shown: Sequence[int], places: np.ndarray) -> np.ndarray:
    """The position of each place among the shown indices, (cell,); −1 for one that is not shown."""
    found = np.full(max(int(places.max(initial=0)), *shown, 0) + 1, -1)
    found[list(shown)] = np.arange(len(shown))
    return found[places]


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
