"""What a whole model computes at one position, small enough to be drawn as one picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lmviz.inspection.at_position import source_place
from lmviz.inspection.attention import farthest_of_squares, largest_of_squares
from lmviz.inspection.gradient import Gradient
from lmviz.inspection.logit_lens import LogitLens, logit_lens
from lmviz.inspection.outline import Part, lines_of, outline
from lmviz.inspection.trace import Trace
from lmviz.models.model import Model
from lmviz.models.sequences import ALONG

SIDE = 64
CANDIDATES = 5


@dataclass(frozen=True, eq=False)
class ReducedSquare:
    """A tap (head, query, key) reduced to at most SIDE rows and columns: `values` (head, row, column).

    Each cell is that of `block` × `block` cells of the tap which is farthest from zero.
    """

    values: np.ndarray
    block: int

    def source(self, array: np.ndarray, head: int, row: int, column: int) -> tuple[int, int, int]:
        """The index in the tap's array (head, query, key) of the number that a cell shows."""
        first, second = row * self.block, column * self.block
        shared = array[head, first : first + self.block, second : second + self.block]
        query, key = np.unravel_index(int(np.nan_to_num(np.abs(shared), nan=-1).argmax()), shared.shape)
        return head, first + int(query), second + int(key)


@dataclass(frozen=True, eq=False)
class WholeModel:
    """The outline of a model, with the logit lens at one position, and the squares of its attention.

    There is no lens where a model gives one answer for the whole text. With a `gradient` the squares are of
    that. What an encoder computes is drawn at its `source_position`; −1 for a model that reads no source.
    """

    position: int
    source_position: int
    parts: tuple[Part, ...]
    lens: LogitLens | None
    squares: Mapping[str, ReducedSquare]
    gradient: Gradient | None = None


def whole_model(
    model: Model,
    trace: Trace,
    position: int,
    squares: Mapping[str, ReducedSquare] | None = None,
    gradient: Gradient | None = None,
    source_position: int = -1,
) -> WholeModel:
    """What to draw at a position. `squares` are those of the same trace, where they are known already.

    What an encoder computes is drawn at `source_position`, −1 for the place of the same number.

    With a `gradient` its numbers are drawn in the place of values. LmvizError where the trace was made by
    another model.
    """
    lens = None if model.predicts.per == "text" else logit_lens(model, trace, CANDIDATES, [position])
    if squares is None:
        squares = squares_of(trace) if gradient is None else squares_of_gradient(gradient)
    there = source_place(trace, position if source_position < 0 else source_position)
    return WholeModel(position, there, outline(trace), lens, squares, gradient)


def squares_of(trace: Trace) -> dict[str, ReducedSquare]:
    """Every drawn tap of heads that runs along a sequence in both directions, by address."""
    drawn = (address for part in outline(trace) for line in lines_of(part) for address in line.addresses)
    found = {}
    for address in drawn:
        if _is_square(trace[address].axes):
            block = _block(trace[address].shape)
            parts = [largest_of_squares(rows, SIDE) for _, rows in trace[address].blocks(block)]
            found[address] = ReducedSquare(np.concatenate(parts, axis=1), block)
    return found


def squares_of_gradient(gradient: Gradient) -> dict[str, ReducedSquare]:
    """The gradient of every such tap, by address."""
    found = {}
    for part in outline(gradient.trace):
        for address in (address for line in lines_of(part) for address in line.addresses):
            if address in gradient and _is_square(gradient[address].axes):
                block = _block(gradient[address].shape)
                parts = [farthest_of_squares(rows, SIDE) for _, rows in gradient[address].blocks(block)]
                found[address] = ReducedSquare(np.concatenate(parts, axis=1), block)
    return found


def _block(shape: tuple[int, ...]) -> int:
    """How many numbers (head, query, key) each way one cell stands for."""
    return -(-max(shape[-2:]) // SIDE)


def _is_square(axes: Sequence[str]) -> bool:
    return axes[0] == "head" and len(axes) == 3 and all(axis in ALONG for axis in axes[1:])
