"""How strongly each drawn cell is highlighted when a cell is explained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lmviz.inspection.highlights import OperandCells, operand_cells
from lmviz.inspection.views import View

if TYPE_CHECKING:
    from lmviz.models.arithmetic import Arithmetic

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
