"""How columns of a table share its width, so that no heading is cut and nothing scrolls sideways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

NAME = 2.5
"""A name is cut to so many times the shortest text, and only further once no spare column is left."""


@dataclass(frozen=True)
class ColumnNeed:
    """What a column takes, in pixels: its widest cell, its heading in one line and in two.

    Of texts the end may be cut short; a number cut short would be another number. A spare column can be
    left out.
    """

    cells: int
    heading: int
    broken_heading: int
    is_text: bool = False
    is_spare: bool = False

    def wished(self, *, broken: bool) -> int:
        """The width at which nothing is cut."""
        return max(self.cells, self.broken_heading if broken else self.heading)

    def least(self, shortest: int) -> int:
        """The width below which its heading, a number or the first `shortest` pixels of a text are cut."""
        return max(self.broken_heading, min(self.cells, shortest) if self.is_text else self.cells)


@dataclass(frozen=True)
class SharedWidth:
    """The width of each column, 0 where it is left out, and whether headings stand in two lines."""

    widths: tuple[int, ...]
    broken: bool = False


def share_width(needs: Sequence[ColumnNeed], room: int, shortest: int) -> SharedWidth:
    """Share out the room in pixels.

    Where it is too narrow, headings break first, then texts are cut short, then spare columns are left out,
    the last one first, then names are cut shorter. What is left over goes to the first column of texts.
    Where even that is too wide, the widths add up to more than the room.
    """
    kept = list(range(len(needs)))
    while True:
        wished = {at: needs[at].wished(broken=False) for at in kept}
        broken = sum(wished.values()) > room
        if broken:
            wished = {at: needs[at].wished(broken=True) for at in kept}
        if sum(wished.values()) <= room:
            texts = [at for at in kept if needs[at].is_text]
            if texts:
                wished[texts[0]] += room - sum(wished.values())
            return _shared(wished, len(needs), broken)
        spare = [at for at in kept if needs[at].is_spare]
        name = round(NAME * shortest) if spare else shortest
        least = {at: needs[at].least(shortest if needs[at].is_spare else name) for at in kept}
        left_over = room - sum(least.values())
        if left_over < 0 and spare:
            kept.remove(spare[-1])
            continue
        given = max(0.0, left_over / (sum(wished.values()) - sum(least.values()) or 1))
        widths = {at: least[at] + int(given * (wished[at] - least[at])) for at in kept}
        return _shared(widths, len(needs), True)


def _shared(widths: dict[int, int], count: int, broken: bool) -> SharedWidth:
    return SharedWidth(tuple(widths.get(at, 0) for at in range(count)), broken)
