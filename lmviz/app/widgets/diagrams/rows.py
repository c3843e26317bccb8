"""Heights of rows that share what room there is: from the least with which they can be read to the most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Extent:
    """The heights of a row in pixels: the least, the usual one, and the most that is of use."""

    least: float
    usual: float
    most: float

    def at(self, ease: float) -> float:
        """The height between the least (0), the usual one (1) and the most (2)."""
        if ease <= 1:
            return self.least + (self.usual - self.least) * ease
        return self.usual + (self.most - self.usual) * (ease - 1)


def shared_heights(rows: Sequence[Extent], room: float) -> list[float]:
    """A height for each row. All have the same ease, so that they fill the room where they can."""
    totals = [sum(row.at(ease) for row in rows) for ease in (0, 1, 2)]
    if room <= totals[0]:
        ease = 0.0
    elif room <= totals[1]:
        ease = (room - totals[0]) / (totals[1] - totals[0])
    elif room < totals[2]:
        ease = 1 + (room - totals[1]) / (totals[2] - totals[1])
    else:
        ease = 2.0
    return [row.at(ease) for row in rows]
