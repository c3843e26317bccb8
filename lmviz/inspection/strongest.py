"""The cell that says most: what is explained while nobody has chosen one."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from lmviz.inspection.trace import Trace
from lmviz.inspection.views import OVER_TEXT, View, likeliest_answers
from lmviz.models.address import Address

BY_SIZE = ("token", "label", "key")
"""Along these axes the largest number is the strongest; along the others, and in gradients, that farthest
from zero."""


def strongest_cell(view: View, position: int, along: Collection[str] = OVER_TEXT) -> tuple[int, int] | None:
    """Where (row, column) the strongest cell of a position is drawn; None where nothing is drawn.

    The position is one along the axes `along`.

    Where a gradient does not reach the position, it is that of all positions. Masked cells (−∞) and those
    without a number are passed over while there are others. Of token ids, which are only names, the last
    one that stands for a token is taken.
    """
    if not view.values.size:
        return None
    values, is_gradient = view.values.astype(np.float64), Address.parse(view.address).is_gradient
    if view.scale == "token":
        sizes = np.where(values >= 0, np.arange(values.shape[1]) + np.arange(len(values))[:, None], -1.0)
    else:
        by_size = {view.row_axis, view.column_axis} & set(BY_SIZE) and not is_gradient
        sizes = values if by_size else np.abs(values)
    sizes = np.where(np.isfinite(values), sizes, -np.inf)
    here = _at_position(view, position, along)
    is_nothing_here = is_gradient and not (sizes[here] > 0).any()
    if here.any() and not is_nothing_here:
        sizes = np.where(here, sizes, -np.inf)
        if np.isneginf(sizes).all():
            sizes = np.where(here, 0.0, -np.inf)
    row, column = np.unravel_index(int(np.argmax(sizes)), sizes.shape)
    return int(row), int(column)


def strongest_unit(trace: Trace, address: str, position: int) -> int:
    """The unit of a tap (position, unit) that is farthest from zero at a position.

    Of a tap (source, unit) it is the place of the same number in the source, or the last.
    """
    values = trace[address].array
    sizes = np.abs(values[min(position, len(values) - 1)].astype(np.float64))
    return int(np.argmax(np.where(np.isfinite(sizes), sizes, -1.0)))


def likeliest_answer(trace: Trace, position: int) -> tuple[str, tuple[int, ...]]:
    """The cell with the probability of the likeliest next token or label at a position: address and index."""
    (likeliest,) = likeliest_answers(trace, position, 1)
    has_positions = "position" in trace["probabilities"].axes
    return "probabilities", (position, likeliest) if has_positions else (likeliest,)


def _at_position(view: View, position: int, along: Collection[str]) -> np.ndarray:
    """(row, column) bool: the cells that are drawn of a position; all false where it is not drawn."""
    drawn = np.ones(view.values.shape, dtype=bool)
    if view.row_axis in along:
        drawn &= (np.array(view.rows) == position)[:, None]
    if view.column_axis in along:
        drawn &= np.array(view.columns) == position
    return drawn
