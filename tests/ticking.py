"""How evenly a timer ticks in the window's thread while the program is at work.

That is told by the clock on the wall: the thread may not only compute, but wait for another one. So it is
told of the calmest of a few rounds: other programs come and go, and what holds the window up does so in each.
"""

from __future__ import annotations

import itertools
import time

from PySide6.QtCore import Qt, QTimer
from pytestqt.qtbot import QtBot

EVERY = 16  # milliseconds
USUAL, LONGEST = 0.04, 0.6  # seconds between two ticks
ROUNDS = 5


def check_ticking(qtbot: QtBot, ticks: int) -> None:
    """AssertionError where the ticks, so many of them, come as evenly as they must in none of the rounds."""
    rounds = []
    for _ in range(ROUNDS):
        gaps = _gaps(qtbot, ticks)
        usual, longest = gaps[len(gaps) // 2], gaps[-1]
        rounds.append(f"usually {usual:.3f} s, at most {longest:.3f} s")
        if usual < USUAL and longest < LONGEST:
            return
    raise AssertionError(f"between two ticks: {'; '.join(rounds)}")


def _gaps(qtbot: QtBot, ticks: int) -> list[float]:
    """Seconds between any two ticks, the longest last."""
    found: list[float] = []
    timer = QTimer(timerType=Qt.TimerType.PreciseTimer)
    timer.timeout.connect(lambda: found.append(time.perf_counter()))
    timer.start(EVERY)
    qtbot.waitUntil(lambda: len(found) >= ticks)
    timer.stop()
    return sorted(later - earlier for earlier, later in itertools.pairwise(found))
