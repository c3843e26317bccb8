"""The alarm of a test that takes too long also ends one that waits in a loop of Qt's.

pytest-timeout raises an exception wherever Python is just then. While a test waits in a loop of Qt's, that is
nearly always a slot, and PySide6 lets no exception out of a slot. If it is the slot that was to end the loop,
nothing ends it any more, and the test hangs for ever: as one did whose process had been stopped for minutes.
So here the alarm ends the loop, and the exception is raised where the test waits.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from functools import partial
from typing import Any

AGAIN = 60.0
"""Seconds after which the alarm rings once more, where a slot has swallowed it outside of such a loop."""

_loops: list[Any] = []
_late: list[Callable[[], None]] = []


def install() -> None:
    """Have the alarm of pytest-timeout end the loops in which pytest-qt waits."""
    import pytest_timeout
    from pytestqt.qt_compat import qt_api

    kind: Any = type(qt_api)
    if not hasattr(kind.exec, "ends"):
        pytest_timeout.timeout_sigalrm = partial(_ring, pytest_timeout.timeout_sigalrm)
        kind.exec = _ending(kind.exec)


def _ring(fail: Callable[..., None], item: Any, settings: Any) -> None:
    if not _loops:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, AGAIN)
        fail(item, settings)
    _late[:] = [partial(fail, item, settings)]
    for loop in _loops:
        loop.quit()


def _ending(run: Callable[..., Any]) -> Callable[..., Any]:
    def run_loop(api: Any, loop: Any, *given: Any, **named: Any) -> Any:
        if _late:
            return -1  # the alarm has rung, and this is in a slot of a loop that is to end
        _loops.append(loop)
        try:
            answer = run(api, loop, *given, **named)
        finally:
            _loops.pop()
            late = _late.pop() if _late and not _loops else None
        if late is not None:
            late()
        return answer

    run_loop.ends = True  # type: ignore[attr-defined]
    return run_loop
