"""How long work says how far it has come: by calling a `Report` with the share that is done."""

from __future__ import annotations

from collections.abc import Callable

Report = Callable[[float], None]
"""Hears of the share that is done, 0 to 1, and may raise to cancel the work."""


def unheard(share: float) -> None:
    """The report of work whose progress nobody listens to."""


def part_of(report: Report, start: float, end: float) -> Report:
    """What reports the progress of a part of the work as progress of the whole."""
    return lambda share: report(start + share * (end - start))
