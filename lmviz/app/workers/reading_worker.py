"""The reading thread: of the requests under one key the newest wins, and stale answers never arrive.

A request is a function of no arguments that knows no widget. Only its number goes to the thread;
what to do with the answer stays on the window's side, so that nothing the thread lets go of can
destroy a Qt object.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, QThread, Signal

Work = Callable[[], Any]
Answer = Callable[[Any], None]
Failed = Callable[[BaseException], None]


@dataclass(frozen=True)
class _Request:
    key: str
    number: int
    work: Work


class ReadingWorker(QThread):
    """Runs requests one after the other; answers arrive in the thread that made the worker."""

    _done = Signal(object, object, object)  # request, result, exception

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._condition = threading.Condition()
        self._waiting: dict[str, _Request] = {}
        self._stopping = False
        self._numbers = itertools.count()
        self._listeners: dict[str, tuple[int, Answer, Failed]] = {}
        self._done.connect(self._deliver)

    def ask(self, key: str, work: Work, answer: Answer, failed: Failed) -> None:
        """Run `work` soon, in place of any earlier request under this key."""
        request = _Request(key, next(self._numbers), work)
        self._listeners[key] = (request.number, answer, failed)
        with self._condition:
            self._waiting[key] = request  # an earlier one gives its place in the queue
            self._condition.notify()

    def silence(self, key: str) -> None:
        """Nothing that was asked under this key will be answered."""
        self._listeners.pop(key, None)
        with self._condition:
            self._waiting.pop(key, None)

    def is_busy(self, key: str) -> bool:
        """Whether an answer under this key is still to come."""
        return key in self._listeners

    def stop(self) -> None:
        """Silence everything, let the thread end after the work in hand, and wait for it."""
        self._listeners.clear()
        with self._condition:
            self._waiting.clear()
            self._stopping = True
            self._condition.notify()
        self.wait()

    def run(self) -> None:
        while (request := self._take()) is not None:
            try:
                self._done.emit(request, request.work(), None)
            except BaseException as fault:  # a panic of a Rust library, too, must not end the thread
                self._done.emit(request, None, fault)

    def _take(self) -> _Request | None:
        with self._condition:
            self._condition.wait_for(lambda: self._waiting or self._stopping)
            if self._stopping:
                return None
            return self._waiting.pop(next(iter(self._waiting)))

    def _deliver(self, request: _Request, result: Any, fault: BaseException | None) -> None:
        number, answer, failed = self._listeners.get(request.key, (None, None, None))
        if number != request.number:
            return
        del self._listeners[request.key]
        if fault is None:
            answer(result)
        else:
            failed(fault)
