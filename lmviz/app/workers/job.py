"""Long work in the background: a corpus, a download, a search through the corpus.

A job runs a generator and checks after each value whether it should stop. It reports progress only a few
times a second, however fast the generator is.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator
from typing import Any

from PySide6.QtCore import QObject, Signal

from lmviz.app.workers.delivery import deliver_to
from lmviz.app.workers.threads import BackgroundThread, lower_priority
from lmviz.base.reporting import Report
from lmviz.models.interruption import Interrupted, interruptible

REPORT_EVERY = 0.05  # seconds

JobWork = Callable[[Report], Generator[Any, None, Any] | Any]
Message = tuple[str, Any]
"""The name of one of the job's signals, and the value it brings."""


class Cancelled(Exception):
    """Raised inside the work of a cancelled job."""


class Job(QObject):
    """One piece of long work.

    `work` gets a function that takes the fraction done so far. It either returns its result, or is a
    generator: then a float it yields is the fraction done, anything else a partial result, and what it
    returns is the result. It must know no widget. Signals arrive in the window's thread; a job that is
    cancelled emits neither `succeeded` nor `failed`. After `ended`, which is always the last, the job
    is deleted.
    """

    progressed = Signal(float)
    partial_changed = Signal(object)
    succeeded = Signal(object)
    failed = Signal(object, object)  # the job itself, the exception
    ended = Signal(object)  # the job itself, whatever came of it

    def __init__(self, name: str, work: JobWork, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.name = name
        self._messages: deque[Message] = deque()
        self._driver = _Driver(work, self._messages, deliver_to(self._deliver_next))
        self._thread = BackgroundThread(name, self._driver.run)

    @property
    def is_cancelled(self) -> bool:
        """Whether it has been cancelled; the thread may still be running."""
        return self._driver.is_cancelled

    def start(self) -> None:
        """Begin the work, in its own thread."""
        self._thread.start()

    def cancel(self) -> None:
        """Silence the job at once, and let it stop at its next report or value."""
        self._driver.is_cancelled = True

    def is_alive(self) -> bool:
        """Whether its thread runs."""
        return self._thread.is_alive()

    def join(self, timeout: float | None = None) -> None:
        """Wait until its thread has ended, at most `timeout` seconds."""
        self._thread.join(timeout)

    def wait_briefly(self, seconds: float) -> None:
        """Wait for its end at most so long; what it has to say by then is said before this returns."""
        self._thread.join(seconds)
        if not self._thread.is_alive():
            while self._messages:
                self._deliver_next(None)

    def _deliver_next(self, _: None) -> None:
        if not self._messages:  # it was said while somebody waited for it
            return
        name, value = self._messages.popleft()
        if name == "ended":
            self._thread.join()  # it has nothing left to do
            self.ended.emit(self)
            self.deleteLater()
        elif self.is_cancelled:
            return
        elif name == "failed":
            self.failed.emit(self, value)
        else:
            getattr(self, name).emit(value)


class _Driver:
    """The part of a job that its thread holds: nothing of Qt."""

    def __init__(self, work: JobWork, messages: deque[Message], wake: Callable[[None], None]) -> None:
        self.is_cancelled = False
        self._work: JobWork | None = work
        self._messages, self._wake = messages, wake
        self._sent_at: dict[str, float] = {}

    def run(self) -> None:
        """Do the work and say what came of it."""
        lower_priority()
        assert self._work is not None, "a job is started once"
        try:
            with interruptible(self._look):
                outcome = self._work(self._report)
                if isinstance(outcome, Generator):
                    outcome = self._drive(outcome)
            self._send(("succeeded", outcome))
        except (Cancelled, Interrupted):
            pass
        except BaseException as fault:  # a panic of a Rust library, too, is said in the window
            self._send(("failed", fault))
        self._work = None  # it may hold a whole corpus, and the job may still be referenced
        self._send(("ended", None))

    def _send(self, message: Message) -> None:
        self._messages.append(message)
        self._wake(None)

    def _drive(self, generator: Generator[Any, None, Any]) -> Any:
        partial, pending = None, False
        while True:
            try:
                value = next(generator)
            except StopIteration as end:
                if pending:
                    self._send(("partial_changed", partial))
                return end.value
            if self.is_cancelled:
                generator.close()
                raise Cancelled
            if isinstance(value, float):
                self._report(value)
            elif self._is_time("partial_changed"):
                self._send(("partial_changed", value))
                pending = False
            else:
                partial, pending = value, True

    def _report(self, fraction: float) -> None:
        if self.is_cancelled:
            raise Cancelled
        if self._is_time("progressed"):
            self._send(("progressed", float(fraction)))

    def _look(self, done: float | None) -> None:
        """Called by models between their steps; how far the whole job is, it says itself."""
        if self.is_cancelled:
            raise Interrupted

    def _is_time(self, kind: str) -> bool:
        """Whether so much time has passed since one of a kind was sent; one kind does not hold up another."""
        now = time.monotonic()
        if now - self._sent_at.get(kind, 0.0) < REPORT_EVERY:
            return False
        self._sent_at[kind] = now
        return True
