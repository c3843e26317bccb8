"""At which steps a recording keeps the weights, and how much room they may take."""

from __future__ import annotations

import re
from typing import Any

from lmviz.base.arguments import whole_number
from lmviz.base.errors import LmvizError

LOG = "log"
"""The name of the schedule that goes by the powers of two."""

BEGINNING = 512
"""Up to here every power of two is kept; afterwards, with LOG, every multiple of this."""

UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


class Schedule:
    """The steps that are kept: 0, 1, 2, 4, … 512, and then every multiple of `every`.

    `every` is a number of steps, "log" for 512, or None for none but those that are told. Where a loop does
    not tell of a step that is due, the next one of which it tells is kept in its place.
    """

    def __init__(self, every: Any = LOG) -> None:
        if every is not None and every != LOG:
            every = whole_number("every", every, 1)
        self._every: int | None = BEGINNING if every == LOG else every
        self._due: int | None = 0 if self._every is not None else None

    def is_due(self, step: int) -> bool:
        """Whether the weights of this step are to be kept."""
        return self._due is not None and step >= self._due

    def keep(self, step: int) -> None:
        """Take note that they were kept."""
        if self._every is not None:
            self._due = self._after(step, self._every)

    @staticmethod
    def _after(step: int, every: int) -> int:
        multiple = (step // every + 1) * every
        power = 1 << step.bit_length()  # the smallest above the step
        return min(power, multiple) if power <= BEGINNING else multiple


def byte_count(size: Any) -> int:
    """The bytes of "2 GB", or of a number of them; LmvizError for what is neither."""
    if type(size) is int and size > 0:
        return size
    found = re.fullmatch(r"\s*(\d{1,6}(?:\.\d{1,3})?)\s*([kKMGT]B)\s*", size) if type(size) is str else None
    count = int(float(found[1]) * UNITS[found[2].upper()]) if found else 0
    if not count:
        raise LmvizError(f"{size!r} is no room on a disk: give bytes, or words such as '2 GB' or '500 MB'.")
    return count
