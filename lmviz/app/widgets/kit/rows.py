"""Where things stand: rows that share what room there is, from the least height to the most, and parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF


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

    def scaled(self, scale: float) -> Extent:
        """So many times as high."""
        return Extent(self.least * scale, self.usual * scale, self.most * scale)


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


def across(area: QRectF, start: float, end: float) -> QRectF:
    """The part of a row between two places."""
    return QRectF(start, area.top(), end - start, area.height())


def no_smaller(area: QRectF, width: float, height: float = 0) -> QRectF:
    """An area made so wide and high that it can be seen, around the same middle."""
    wider, higher = max(0.0, width - area.width()) / 2, max(0.0, height - area.height()) / 2
    return area.adjusted(-wider, -higher, wider, higher)


def in_the_middle(area: QRectF, height: float) -> QRectF:
    """The middle of a row, so high at most."""
    high = min(height, area.height())
    return QRectF(area.left(), area.center().y() - high / 2, area.width(), high)


def side_by_side(area: QRectF, shares: Sequence[float], gap: float) -> list[QRectF]:
    """The parts of a row that things get which stand side by side."""
    left, places = area.left(), []
    for share in shares:
        width = (area.width() - gap * (len(shares) - 1)) * share / sum(shares)
        places.append(QRectF(left, area.top(), width, area.height()))
        left += width + gap
    return places
