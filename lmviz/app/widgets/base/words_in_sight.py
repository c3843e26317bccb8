"""Which words of a long text are drawn where there is no room for all of them."""

from __future__ import annotations

from collections.abc import Sequence


def words_in_sight(
    widths: Sequence[float], current: int, room: float, first: int = 0, more: float = 0
) -> range:
    """As many whole words as the room holds, with the current one among them; −1 stands for the last.

    `widths` (word,), `room` and `more` are in pixels. They begin at `first` where that can be, so that what
    is in sight does not move as long as the current word stays in it. One word is always in sight. Where not
    all fit, `more` of the room is left for what says so.
    """
    if not widths or sum(widths) <= room:
        return range(len(widths))
    room -= more
    current = current if 0 <= current < len(widths) else len(widths) - 1
    first = min(max(first, 0), current)
    while first < current and sum(widths[first : current + 1]) > room:
        first += 1
    stop, used = first, 0.0
    while stop < len(widths) and (stop == first or used + widths[stop] <= room):
        used += widths[stop]
        stop += 1
    while first > 0 and used + widths[first - 1] <= room:
        first -= 1
        used += widths[first]
    return range(first, stop)
