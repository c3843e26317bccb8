"""Whether a lecture is given as fast as it was planned."""

from __future__ import annotations

from collections.abc import Sequence

from lmviz.lectures.lecture import LectureItem


def minutes_behind(items: Sequence[LectureItem], number: int, minutes: float) -> float | None:
    """How many minutes behind the plan one is at an item, counted from 0, `minutes` after the beginning.

    Negative where one is ahead, 0 as long as the plan has this item now. None where an item up to this one
    says no minutes.
    """
    planned = [item.minutes for item in items[: number + 1]]
    known = [each for each in planned if each is not None]
    if len(known) < len(planned):
        return None
    start, end = sum(known[:-1]), sum(known)
    return minutes - end if minutes > end else min(0.0, minutes - start)


def pace_in_words(behind: float | None) -> str:
    """ "3 minutes behind", "1 minute ahead", "on time" for less than one; empty where it is not known."""
    if behind is None:
        return ""
    count = int(abs(behind))
    if not count:
        return "on time"
    return f"{count} minute{'' if count == 1 else 's'} {'behind' if behind > 0 else 'ahead'}"
