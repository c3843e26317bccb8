"""Long work looks up between its steps: it says how far it is, and ends where nobody waits for it any more.

Whoever runs work in a thread of his own wraps it in `interruptible`. What computes calls `look_up`, which
costs next to nothing and does nothing anywhere else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Interrupted(BaseException):
    """Ends work that nobody waits for; no `except Exception` on its way takes it for a fault."""


class _Watch(threading.local):
    look: Callable[[float | None], None] | None = None
    first, share = 0.0, 1.0
    is_counted = True


_watch = _Watch()


@contextmanager
def interruptible(look: Callable[[float | None], None]) -> Iterator[None]:
    """Within, `look` is called by this thread's work with the fraction done, None where that is not known.

    It raises `Interrupted` to end the work.
    """
    before, _watch.look = _watch.look, look
    try:
        yield
    finally:
        _watch.look = before


@contextmanager
def heard_by(report: Callable[[float], None]) -> Iterator[None]:
    """Within, `report` hears the share that is done at each look up, and may raise to end the work."""
    share = 0.0

    def look(done: float | None) -> None:
        nonlocal share
        share = share if done is None else done
        report(share)

    with interruptible(look):
        yield


@contextmanager
def part_of_work(number: int, count: int) -> Iterator[None]:
    """Within, fractions are of the part `number`, from 0, of `count` parts of equal length."""
    first, share = _watch.first, _watch.share
    _watch.first, _watch.share = first + share * number / count, share / count
    try:
        yield
    finally:
        _watch.first, _watch.share = first, share


@contextmanager
def uncounted_work() -> Iterator[None]:
    """Within, it is not said how far the work is: a short beginning would say that nearly all is done."""
    before, _watch.is_counted = _watch.is_counted, False
    try:
        yield
    finally:
        _watch.is_counted = before


def look_up(done: float | None = None) -> None:
    """Called between two steps of long work, with the fraction that is done: may raise `Interrupted`."""
    if _watch.look is not None:
        _watch.look(None if done is None or not _watch.is_counted else _watch.first + _watch.share * done)
