"""Writes to the log where the window stood, whenever it answered nobody for a second.

A timer of the window's thread says that it still goes round. The stacks are written while it does not, by a
thread of Python that has the interpreter's lock meanwhile, so that no frame changes under its eyes.
`faulthandler.dump_traceback_later` has not: it reads the frames of threads that go on, and ended the process
(python/cpython#116008; here one process of three, within 20 seconds of short functions). The frames are read
by `faulthandler` all the same, which holds none: a thread that did could destroy painters of the window.

What keeps the lock for long, such as one call of a library, is seen when it has ended, and at that line. Of
C++ only the line of Python that called it is told.
"""

from __future__ import annotations

import faulthandler
import logging
import tempfile
import threading
import time

from PySide6.QtCore import QObject, QTimer, Signal

logger = logging.getLogger("lmviz.watchdog")
LONGEST = 1.0  # seconds that a turn of the event loop may take
ROUNDS = 4  # of the timer in that time


class Watchdog(QObject):
    """Watches its thread; `noticed` gives the seconds of a turn, and the stacks of all threads."""

    noticed = Signal(float, str)

    def __init__(self, parent: QObject | None = None, longest: float = LONGEST) -> None:
        super().__init__(parent)
        self._longest, self._between = longest, longest / ROUNDS
        self._stacks = stacks = LateStacks(longest)
        self._went_round = time.monotonic()
        self._timer = QTimer(self, interval=round(1000 * self._between))
        self._timer.timeout.connect(self._go_round)
        self._timer.start()
        self.destroyed.connect(lambda: stacks.stop())

    def stop(self) -> None:
        """Watch no longer."""
        self._timer.stop()
        self._stacks.stop()

    def _go_round(self) -> None:
        now = time.monotonic()
        took = now - self._went_round - self._between / 2  # it began between two rounds of the timer
        self._went_round = now
        stacks = self._stacks.take()
        if took > self._longest:
            logger.warning("a turn of the event loop took %.1f s\n%s", took, stacks)
            self.noticed.emit(took, stacks)


class LateStacks:
    """The stacks of all threads, written once whenever `take` was not called for so many seconds.

    Holds nothing of Qt's: its thread may be the last that knows it.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._file = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115  # kept
        self._until: float | None = time.monotonic() + seconds  # None: written, and not taken yet
        self._writing = threading.Lock()
        self._stopped = threading.Event()
        # Nobody has to wait for it at the end: it holds nothing, and writes nothing that is kept.
        threading.Thread(target=self._watch, name="watching the window", daemon=True).start()

    def take(self) -> str:
        """What was written since this was called last, empty where that was in time."""
        with self._writing:
            stacks = ""
            if self._until is None:
                self._file.seek(0)
                stacks = self._file.read()
                self._file.seek(0)
                self._file.truncate()
            self._until = time.monotonic() + self._seconds
        return stacks

    def stop(self) -> None:
        """Write nothing more."""
        self._stopped.set()

    def _watch(self) -> None:
        left = self._seconds
        while not self._stopped.wait(left):
            with self._writing:
                left = self._seconds if self._until is None else self._until - time.monotonic()
                if left <= 0:
                    faulthandler.dump_traceback(self._file)
                    self._until, left = None, self._seconds
        self._file.close()
