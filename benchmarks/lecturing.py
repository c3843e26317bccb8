"""From the key that turns a page of the shipped lectures to the last repaint of what the page shows."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.apart import once_apart
from benchmarks.rows import Measured, Row

if TYPE_CHECKING:
    from benchmarks.opened_window import OpenedWindow

SPOKEN = 3.0  # seconds of an item, in which the next one is prepared
RESTS = 0.5  # seconds without a paint after which an item stands


def _turned(opened: OpenedWindow, forward: bool) -> float:
    """Seconds from the key to the last paint inside the perspective."""
    from PySide6.QtTest import QSignalSpy

    from lmviz.lectures.lecture import ShownScene

    window, session = opened.window, opened.session
    lectures = window.lectures
    following = lectures.lecture.items[lectures.number + (1 if forward else -1)]
    awaited = isinstance(following.shown, ShownScene) or following.scene is not None
    shown = QSignalSpy(window.scenes.shown)

    def stands() -> bool:
        return (
            (not awaited or shown.count() > 0)
            and not session.reading.is_busy
            and all(panel.is_up_to_date for panel in window.perspective.panels if panel.is_in_sight)
        )

    turn = lectures.go_on if forward else lectures.go_back
    return opened.seconds_until_last_painted(turn, lambda: window.perspective, stands, RESTS)


def _there_and_back() -> list[tuple[str, float]]:
    """What each change took, forward from the first item and back again, with the item it led to."""
    from benchmarks.opened_window import OpenedWindow
    from lmviz.lectures.reading import shipped_lectures

    opened = OpenedWindow(Path(tempfile.mkdtemp(prefix="lmviz-bench-")))
    opened.window.resize(1440, 900)
    taken = []
    for path in shipped_lectures():
        opened.window.open_lecture(path)
        opened.wait_until(lambda: opened.window.lectures.lecture is not None)
        changes = len(opened.window.lectures.lecture.items) - 1
        for forward in [True] * changes + [False] * changes:
            opened.live(SPOKEN)
            opened.settle()
            seconds = _turned(opened, forward)
            way = "on" if forward else "back"
            taken.append((f"{way} to {opened.window.lectures.number + 1}", seconds))
    opened.close()
    return taken


def _slowest() -> Measured:
    taken = sorted(once_apart(_there_and_back), key=lambda each: each[1], reverse=True)
    middle = taken[len(taken) // 2][1]
    named = ", ".join(f"{way} {1000 * seconds:.0f}" for way, seconds in taken[:3])
    return Measured(1000 * taken[0][1], f"{len(taken)} changes, median {1000 * middle:.0f} ms; {named}")


ROWS = (
    Row(
        "lecture",
        "a change of item in the shipped lecture to its last repaint, forward and back, the slowest",
        "ms",
        300,
        True,
        _slowest,
    ),
)
