"""Writes to the log where the window stood, whenever it answered nobody for a second.

A timer of the window's thread says that it still goes round. The stack is written while it does not, by a
thread of C that only reads (`faulthandler`): a thread of Python that took hold of a frame of the window's
thread could destroy its painters. Of C++ it shows only which line of Python called it.
"""

from __future__ import annotations

import faulthandler
import logging
import tempfile
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
        self._file = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115  # kept
        self._went_round = time.monotonic()
        self._timer = QTimer(self, interval=round(1000 * self._between))
        self._timer.timeout.connect(self._go_round)
        self._timer.start()
        self._set()

    def stop(self) -> None:
        """Watch no longer."""
        self._timer.stop()
        faulthandler.cancel_dump_traceback_later()
        self._file.close()

    def _go_round(self) -> None:
        now = time.monotonic()
        took = now - self._went_round - self._between / 2  # it began between two rounds of the timer
        self._went_round = now
        stacks = ""
        if took > self._longest:
            self._file.seek(0)
            stacks = self._file.read()
        self._set()
        if took > self._longest:
            logger.warning("a turn of the event loop took %.1f s\n%s", took, stacks)
            self.noticed.emit(took, stacks)

    def _set(self) -> None:
        """Have the stacks written in a while, unless this is asked for again before."""
        faulthandler.cancel_dump_traceback_later()
        self._file.seek(0)
        self._file.truncate()
        faulthandler.dump_traceback_later(self._longest, file=self._file)
