"""What an unrolled network shows: its layers, their values, a number in them, and which cells reach which."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

CELL_WIDTH, HEAD, MARGIN = 80, 17, 6
STATE, GATE, ROW_GAP, LETTER = 21, 10, 3, 13
LAYER_GAP = 22
FORWARD, BACKWARD = "forward", "backward"


@dataclass(frozen=True, eq=False)
class UnrolledRow:
    """One value of a layer: `values` (position, unit) on a `scale`, and its letter.

    `limit` is the value with the strongest colour, the largest there is where it is None. `is_gate` where
    it is the gradient of a share, which is as low as that.
    """

    letter: str
    values: np.ndarray
    scale: str = "signed"
    limit: float | None = None
    is_gate: bool = False

    @property
    def height(self) -> int:
        """In pixels at scale 1: shares, such as gates, are lower than states."""
        return GATE if self.scale == "share" or self.is_gate else STATE


@dataclass(frozen=True, eq=False)
class UnrolledLayer:
    """A layer: its name, and its values from top to bottom, the hidden state first.

    `direction` is FORWARD or BACKWARD where the network reads the text in other ways than from left to
    right: each direction of a layer is then a layer of its own, the forward one below.
    `wave` (position,) are the sizes of a gradient that goes back along the layer, beside the largest of them.
    `read_at` are the positions at which what stands above reads the layer; None for all.
    """

    name: str
    rows: tuple[UnrolledRow, ...]
    direction: str = ""
    wave: np.ndarray | None = None
    read_at: frozenset[int] | None = None

    def is_read(self, position: int) -> bool:
        """Whether what stands above reads the layer at a position."""
        return self.read_at is None or position in self.read_at

    @property
    def height(self) -> int:
        """Of each of its cells, in pixels at scale 1."""
        return HEAD + MARGIN + sum(row.height for row in self.rows) + ROW_GAP * (len(self.rows) - 1)


@dataclass(frozen=True)
class UnrolledCell:
    """A layer at a position; `row` and `unit` where a number of it is meant, else −1."""

    position: int
    layer: int
    row: int = -1
    unit: int = -1


def grid_of(row: UnrolledRow) -> tuple[int, int]:
    """How many lines and columns the units of a position are folded into, so that they are nearly square."""
    units = row.values.shape[1]
    aspect = (CELL_WIDTH - LETTER - MARGIN - 2) / row.height
    columns = max(1, min(units, math.ceil(math.sqrt(units * aspect))))
    return math.ceil(units / columns), columns


def is_reached(
    layers: Sequence[UnrolledLayer], cell: tuple[int, int], current: int, hovered: int | None
) -> bool:
    """Whether a cell (position, layer) has to do with the lit word, or else with the hovered one.

    Where no direction is given the text is read from left to right, and what comes after the lit word has
    nothing to do with it. With directions, cells count from which the answer at the lit word can be
    reached; while a word is hovered, those that this word can reach.
    """
    (position, layer), direction = cell, layers[cell[1]].direction
    if not direction:
        return not 0 <= current < position
    if hovered is None and current < 0:
        return True
    base, summit = pair_of(layers, layer)
    word = current if hovered is None else hovered
    after = position < word if hovered is None else position > word
    is_passed_on = summit < len(layers) - 1 if hovered is None else base > 0
    is_single = all(other.direction == direction for other in layers)
    touches = position == word or (is_passed_on and not is_single)
    return touches or after == (direction == FORWARD)


def pair_of(layers: Sequence[UnrolledLayer], layer: int) -> tuple[int, int]:
    """The rows that read the text in both directions side by side, the lower and the upper."""
    lower = layer - 1 if layers[layer].direction == BACKWARD else layer
    if lower < 0 or lower + 1 >= len(layers):
        return layer, layer
    ways = (layers[lower].direction, layers[lower + 1].direction)
    return (lower, lower + 1) if ways == (FORWARD, BACKWARD) else (layer, layer)
