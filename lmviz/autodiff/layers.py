"""The order and the places of boxes within the rows of a layered drawing.

An arrow that passes a row has a slot of its own there; slots are moved to the middle of those that they are
joined to, row by row, up and down (Sugiyama, Tagawa & Toda 1981).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

SWEEPS = 12
STRAIGHT = 4  # how much more an arrow that passes a row counts than a box


@dataclass(eq=False)
class RowSlot:
    """What takes room in a row: a box with what stands before it, or an arrow that passes.

    `before` and `after` are the room it needs on both sides of `across`, `along` its height. `is_first` says
    that it stays before all other boxes of its row.
    """

    before: float
    after: float
    along: float = 0.0
    is_box: bool = False
    is_first: bool = False
    across: float = 0.0
    below: list[RowSlot] = field(default_factory=list)
    above: list[RowSlot] = field(default_factory=list)

    def join(self, upper: RowSlot) -> None:
        """An arrow leads from here to a slot in the row above."""
        self.above.append(upper)
        upper.below.append(self)


def put_in_order(rows: Mapping[int, list[RowSlot]], apart: float) -> None:
    """Sort each row so that few arrows cross, and give each slot its place, so much apart from the next."""
    for row in rows.values():
        _place(row, [0.0] * len(row), apart)
    for sweep in range(SWEEPS):
        is_up = sweep % 2 == 0
        for at in sorted(rows, reverse=not is_up):
            row = rows[at]
            wanted = {slot: _middle(slot, slot.below if is_up else slot.above) for slot in row}
            if sweep < SWEEPS // 2:
                row.sort(key=lambda slot: (not slot.is_first, wanted[slot]))
            _place(row, [wanted[slot] for slot in row], apart)


def spread(wanted: Sequence[float], apart: Sequence[float], weights: Sequence[float] = ()) -> list[float]:
    """The places nearest to those wanted, by least squares, of which each is at least so far from the one
    before; `apart` has one number less than `wanted`.

    Without the distances this is a regression that never falls: neighbours in the wrong order share their
    mean (Barlow et al. 1972, pool adjacent violators).
    """
    offsets = list(accumulate(apart, initial=0.0))
    pools: list[tuple[float, float, int]] = []
    for place, value in enumerate(wanted):
        weight, mean, count = weights[place] if weights else 1.0, value - offsets[place], 1
        while pools and pools[-1][0] > mean:
            other, other_weight, other_count = pools.pop()
            mean = (mean * weight + other * other_weight) / (weight + other_weight)
            weight, count = weight + other_weight, count + other_count
        pools.append((mean, weight, count))
    means = [mean for mean, _, count in pools for _ in range(count)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]


def spread_within(wanted: Sequence[float], apart: float, low: float, high: float) -> list[float]:
    """The same between two bounds, closer together where there is no room."""
    if low > high:
        low = high = (low + high) / 2
    apart = min(apart, (high - low) / max(1, len(wanted) - 1))
    found = spread(wanted, [apart] * (len(wanted) - 1))
    last = len(found) - 1
    return [min(max(each, low + apart * at), high - apart * (last - at)) for at, each in enumerate(found)]


def _place(row: Sequence[RowSlot], wanted: Sequence[float], apart: float) -> None:
    distances = [one.after + apart + other.before for one, other in pairwise(row)]
    weights = [1.0 if slot.is_box else STRAIGHT for slot in row]
    for slot, across in zip(row, spread(wanted, distances, weights), strict=True):
        slot.across = across


def _middle(slot: RowSlot, others: Sequence[RowSlot]) -> float:
    """Where a slot would like to be, for the sake of those it is joined to."""
    return sum(other.across for other in others) / len(others) if others else slot.across
