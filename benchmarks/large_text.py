"""Opening a text of 100 MB in the window: how long the window stalls, and how much memory it takes."""

from __future__ import annotations

import itertools
import re
import tempfile
import time
from pathlib import Path

from benchmarks.apart import once_apart
from benchmarks.rows import Measured, Row

SIZE = 100_000_000
WORDS = 50_000
LINE = 12  # words
TICK = 16  # milliseconds


def write_words(path: Path) -> int:
    """Lines of made-up words, as frequent as Zipf's law has them; the number of bytes."""
    import numpy as np

    from benchmarks.made_models import words

    vocabulary = np.array(words(WORDS), dtype=object)
    weights = 1 / np.arange(1, WORDS + 1)
    chance, written = np.random.default_rng(0), 0
    with path.open("w", encoding="utf-8") as file:
        while written < SIZE:
            drawn = vocabulary[chance.choice(WORDS, size=(20_000, LINE), p=weights / weights.sum())]
            written += file.write("\n".join(map(" ".join, drawn.tolist())) + "\n")
    return written


def _memory(name: str) -> int:
    """VmRSS, the bytes this process has in memory now, or VmHWM, the most it ever had (Linux)."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(re.search(rf"{name}:\s+(\d+) kB", status)[1])


def _open() -> tuple[list[float], int, int]:
    """The longest seconds between ticks, the bytes of memory that it took, and the size of the text."""
    from PySide6.QtCore import Qt, QTimer

    from benchmarks.opened_window import OpenedWindow

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.txt"
        size = write_words(path)
        opened = OpenedWindow(Path(folder))
        opened.show("corpus")
        before, ticks = _memory("VmRSS"), []
        timer = QTimer(timerType=Qt.TimerType.PreciseTimer)
        timer.timeout.connect(lambda: ticks.append(time.perf_counter()))
        timer.start(TICK)
        opened.session.text.open(path)
        opened.wait_until(lambda: opened.session.text.corpus is not None)
        opened.live(1.0)  # the panels draw it
        timer.stop()
        taken = _memory("VmHWM") - before
        opened.close()
    stalls = sorted(later - earlier for earlier, later in itertools.pairwise(ticks))
    return stalls, taken, size


def stall() -> Measured:
    """The longest interval of the timer."""
    ticks, _, _ = once_apart(_open)
    usual = 1000 * ticks[int(0.99 * len(ticks))]
    return Measured(1000 * ticks[-1], f"p99 {usual:.0f} ms, {len(ticks) * TICK / 1000:.0f} s or more in all")


def memory() -> Measured:
    """The most memory, over what the window had before, as a multiple of the text's size."""
    _, taken, size = once_apart(_open)
    return Measured(taken / size, f"{taken / 1e6:.0f} MB for {size / 1e6:.0f} MB")


ROWS = (
    Row(
        "large-text-stall",
        f"a {TICK} ms timer in the window while a 100 MB text loads, the longest interval",
        "ms",
        100,
        True,
        stall,
    ),
    Row("large-text-memory", "the memory that loading it takes, over its size", "×", 6, True, memory),
)
