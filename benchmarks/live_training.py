"""Training in the window, with the panels of the Train perspective live: its speed, and the window's."""

from __future__ import annotations

import itertools
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.apart import Apart, once_apart
from benchmarks.rows import Measured, Row

if TYPE_CHECKING:
    from benchmarks.opened_window import OpenedWindow
    from lmviz.training.progress import Progress

FAMILY, CORPUS = "transformer", "farm"
STEPS = 1_000_000
PREFIX = "the cows eat"
FIRST_STEPS = 20
SLICE = 4.0  # seconds
REPETITIONS = 9
WARM_UP = 1.0  # seconds
TICK = 16  # milliseconds
TICKING = 30.0  # seconds


class Headless:
    """The training that the command line would run, in slices of time."""

    _progress: Iterator[Progress] | None = None

    @classmethod
    def begin(cls) -> None:
        """Build everything, at the priority of a training in the window, so that whatever else runs on
        this machine takes as much from the one as from the other."""
        from lmviz.api.training import load_corpus, prepare_training
        from lmviz.app.workers.threads import lower_priority

        lower_priority()
        folder = Path(tempfile.mkdtemp(prefix="lmviz-bench-"))
        prepared = prepare_training(FAMILY, load_corpus(CORPUS), folder / "run", steps=STEPS)
        cls._progress = prepared.progress
        for _ in itertools.islice(cls._progress, FIRST_STEPS):
            pass

    @classmethod
    def steps_per_second(cls) -> float:
        """Train for a slice of time."""
        return _rate(_marks(cls._progress))

    @classmethod
    def end(cls) -> None:
        """Close the run."""
        cls._progress.close()


class InWindow:
    """The same training behind the window's Train button."""

    _opened: OpenedWindow

    @classmethod
    def begin(cls) -> None:
        """Open the window and train."""
        from benchmarks.opened_window import OpenedWindow

        folder = Path(tempfile.mkdtemp(prefix="lmviz-bench-"))
        cls._opened = opened = OpenedWindow(folder)
        session, plan = opened.session, opened.session.plan.current
        from dataclasses import replace

        opened.show("train")
        session.text.open(CORPUS)
        opened.wait_until(lambda: session.text.corpus is not None)
        session.plan.set(FAMILY, plan.configuration, replace(plan.training_options, steps=STEPS))
        session.training.start()
        opened.wait_until(lambda: session.library.model is not None)
        session.reading.set_prefix(PREFIX)
        opened.live(WARM_UP)

    @classmethod
    def steps_per_second(cls) -> float:
        """Train for a slice of time, and pause again."""
        opened, session, marks = cls._opened, cls._opened.session, []
        session.training.resume()
        opened.live(WARM_UP)

        def mark() -> None:
            marks.append((time.perf_counter(), session.training.state.progress.step))

        session.training.changed.connect(mark)
        opened.live(SLICE)
        session.training.changed.disconnect(mark)
        session.training.pause()
        opened.settle()
        return _rate(marks)

    @classmethod
    def pause(cls) -> None:
        """Let the training wait while the other has the machine."""
        cls._opened.session.training.pause()
        cls._opened.settle()

    @classmethod
    def ticks(cls) -> list[float]:
        """Seconds between the ticks of a timer while it trains."""
        from PySide6.QtCore import Qt, QTimer

        ticks: list[float] = []
        timer = QTimer(timerType=Qt.TimerType.PreciseTimer)
        timer.timeout.connect(lambda: ticks.append(time.perf_counter()))
        timer.start(TICK)
        cls._opened.live(TICKING)
        timer.stop()
        return [later - earlier for earlier, later in itertools.pairwise(ticks)]

    @classmethod
    def end(cls) -> None:
        """Close the window, and with it the run."""
        cls._opened.close()


def _marks(training: Iterator[Progress]) -> list[tuple[float, int]]:
    """When each step was done, for a slice of time after a warm-up."""
    began, marks = time.perf_counter(), []
    for progress in training:
        now = time.perf_counter()
        if now > began + WARM_UP:
            marks.append((now, progress.step))
        if now > began + WARM_UP + SLICE:
            break
    return marks


def _rate(marks: list[tuple[float, int]]) -> float:
    (began, first), (ended, last) = marks[0], marks[-1]
    return (last - first) / (ended - began)


def speed() -> Measured:
    """The ratio of speeds, in turns of some seconds."""
    ratios, rates = [], []
    with Apart() as headless, Apart() as windowed:
        headless.call(Headless.begin)
        windowed.call(InWindow.begin)
        windowed.call(InWindow.pause)
        for _ in range(REPETITIONS):
            pair = windowed.call(InWindow.steps_per_second), headless.call(Headless.steps_per_second)
            rates.append(pair)
            ratios.append(pair[0] / pair[1])
        windowed.call(InWindow.end)
        headless.call(Headless.end)
    ours, theirs = (statistics.median(column) for column in zip(*rates, strict=True))
    return Measured(statistics.median(ratios), f"{ours:.1f} steps/s, headless {theirs:.1f}")


def _tick() -> list[float]:
    InWindow.begin()
    ticks = sorted(InWindow.ticks())
    InWindow.end()
    return ticks


def usual_tick() -> Measured:
    """The 99th percentile of the intervals."""
    ticks = once_apart(_tick)
    return Measured(
        1000 * ticks[int(0.99 * len(ticks))],
        f"{len(ticks)} ticks, median {1000 * ticks[len(ticks) // 2]:.1f}",
    )


def worst_tick() -> Measured:
    """The longest of the intervals."""
    ticks = once_apart(_tick)
    return Measured(1000 * ticks[-1], f"the next {', '.join(f'{1000 * tick:.0f}' for tick in ticks[-4:-1])}")


ROWS = (
    Row("window-training", "training in the window, panels live, against headless", "×", 0.85, False, speed),
    Row("tick", f"a {TICK} ms timer in the window while training, 30 s, p99", "ms", 25, True, usual_tick),
    Row("tick-worst", "the same timer, the longest interval", "ms", 100, True, worst_tick),
)
