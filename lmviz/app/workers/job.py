"""Long work in the background: a corpus, a download, a search through the corpus.

A job drives a generator between whose values it looks whether it should stop. It reports at the
pace of an eye, however fast the generator is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import Any

from PySide6.QtCore import QObject, QThread, Signal

from lmviz.app.workers.threads import lower_priority

REPORT_EVERY = 0.05  # seconds

Report = Callable[[float], None]
JobWork = Callable[[Report], Generator[Any, None, Any] | Any]


class Cancelled(Exception):
    """Raised inside the work of a job that somebody has cancelled."""


class Job(QThread):
    """One piece of long work. `where` says which part of the window shows what went wrong with it.

    `work` gets a function that takes the fraction done so far. It either returns its result, or is a
    generator: then a float it yields is the fraction done, anything else a partial result, and what it
    returns is the result. It must know no widget. Signals arrive in the thread that made the job; a
    job that is cancelled, or whose result was silenced, emits neither `succeeded` nor `failed`.
    """

    progressed = Signal(float)
    partial_changed = Signal(object)
    succeeded = Signal(object)
    failed = Signal(object, object)  # the job itself, the exception
    ended = Signal(object)  # the job itself, whatever came of it
    _message = Signal(str, object)

    def __init__(self, name: str, work: JobWork, parent: QObject | None = None, where: str = "") -> None:
        super().__init__(parent)
        self.name = name
        self.where = where or name
        self._work: JobWork | None = work
        self._cancelled = False
        self._reported = 0.0
        # Signals out of the thread go to methods of this object and nowhere else: a function without a
        # QObject of its own, still on its way when the job is destroyed, takes the process with it.
        self._message.connect(self._deliver)
        self.finished.connect(self._end)

    @property
    def is_cancelled(self) -> bool:
        """Whether somebody has cancelled it; the thread may still be on its way out."""
        return self._cancelled

    def cancel(self) -> None:
        """Silence the job at once, and let it stop at its next report or value."""
        self._cancelled = True

    def let_go(self) -> None:
        """Keep nothing of the work that is done; the thread stays, see `TrainingWorker.let_go`."""
        self._work = None

    def run(self) -> None:
        lower_priority()
        try:
            outcome = self._work(self._report)
            if isinstance(outcome, Generator):
                outcome = self._drive(outcome)
            self._message.emit("succeeded", outcome)
        except Cancelled:
            return
        except BaseException as fault:  # a panic of a Rust library, too, is said in the window
            self._message.emit("failed", fault)

    def _drive(self, generator: Generator[Any, None, Any]) -> Any:
        partial, pending = None, False
        while True:
            try:
                value = next(generator)
            except StopIteration as end:
                if pending:
                    self._message.emit("partial_changed", partial)
                return end.value
            if self._cancelled:
                generator.close()
                raise Cancelled
            if isinstance(value, float):
                self._report(value)
            elif self._is_time():
                self._message.emit("partial_changed", value)
                pending = False
            else:
                partial, pending = value, True

    def _report(self, fraction: float) -> None:
        if self._cancelled:
            raise Cancelled
        if self._is_time():
            self._message.emit("progressed", float(fraction))

    def _is_time(self) -> bool:
        now = time.monotonic()
        if now - self._reported < REPORT_EVERY:
            return False
        self._reported = now
        return True

    def _deliver(self, name: str, value: Any) -> None:
        if self._cancelled:
            return
        if name == "failed":
            self.failed.emit(self, value)
        else:
            getattr(self, name).emit(value)

    def _end(self) -> None:
        self.ended.emit(self)
