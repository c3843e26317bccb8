"""Where Python's collector of cyclic garbage runs during the tests."""

from __future__ import annotations

import gc
import threading

MANY = 50_000
"""New objects after which it is worth to look for garbage."""

_found: list[str] = []


def watch() -> None:
    """Take note, from now on, of each collection in another thread than the main one."""
    if _note not in gc.callbacks:
        gc.callbacks.append(_note)


def take_found() -> list[str]:
    """The threads in which there was one, since this was last asked."""
    found = _found.copy()
    _found.clear()
    return found


def collect_what_is_much() -> None:
    """Collect garbage here, if much was made since the last time."""
    if gc.get_count()[0] > MANY:
        gc.collect()


def _note(phase: str, details: dict[str, int]) -> None:
    thread = threading.current_thread()
    if phase == "start" and thread is not threading.main_thread():
        _found.append(thread.name)
