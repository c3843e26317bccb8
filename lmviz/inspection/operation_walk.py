"""An operation as it is computed, term by term: what is known of it at each moment, in real numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lmviz.inspection.operation_picture import BandGroup, OperationPicture

ARRIVING = 0.2
"""The share of the time in which what the terms come to becomes the cell."""

LONG = 4.0
"""As many times as long as a single number takes a strip of them."""


@dataclass(frozen=True)
class Moment:
    """How far an operation has come: so many blocks whole, so many terms of the next one, or on its way.

    `partial` is what these terms of the block come to, None where its terms have no running sum. `arrived`
    is from 0 to 1 while the result is on its way from the last block to the cell.
    """

    block: int
    terms: int
    partial: float | None
    arrived: float


def moment_of(picture: OperationPicture, share: float) -> Moment:
    """Where the computation is after a share of its time, from 0 to 1; strips take longer than numbers."""
    blocks = picture.blocks
    before = 1.0 - ARRIVING
    if share >= before or not blocks:
        return Moment(len(blocks), 0, None, min(1.0, (share - before) / (1.0 - before)))
    lengths = np.array([LONG if block.terms > 1 else 1.0 for block in blocks])
    ends = np.cumsum(lengths / lengths.sum())
    place = min(int(np.searchsorted(ends, share / before, side="right")), len(blocks) - 1)
    begun = ends[place - 1] if place else 0.0
    terms = int((share / before - begun) / (ends[place] - begun) * blocks[place].terms)
    return Moment(place, terms, partial_sum(blocks[place], terms), 0.0)


def partial_sum(block: BandGroup, terms: int) -> float | None:
    """The sum of the first terms of a block; None where it comes to something else than a sum."""
    last = np.asarray(block.bands[-1].values, dtype=np.float64)
    if block.measure != "Σ" or len(last) != block.terms or block.terms < 2:
        return None
    return float(last[:terms].sum())
