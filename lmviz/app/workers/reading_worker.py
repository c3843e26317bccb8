"""The reading thread. A newer request with the same key replaces an older one; stale answers are dropped.

Work under way for which nobody waits any more ends where it next looks up (`lmviz.models.interruption`).

A request is a function without arguments that uses no widget. Only the function and its number go to the
thread. The callback for the answer stays in the window's thread, because it may hold Qt objects.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lmviz.app.workers.delivery import deliver_to
from lmviz.app.workers.threads import BackgroundThread
from lmviz.models.interruption import Interrupted, interruptible

Work = Callable[[], Any]
Answer = Callable[[Any], object]
Failed = Callable[[BaseException], object]


@dataclass(frozen=True)
class _Request:
    """What is asked, under a key."""

    key: str
    number: int
    work: Work


@dataclass(frozen=True)
class _Outcome:
    """How a request ended."""

    request: _Request
    result: Any = None
    fault: BaseException | None = None


class ReadingWorker:
    """Runs requests one after the other; answers arrive in the window's thread."""

    def __init__(self, name: str = "reading the model") -> None:
        self.name = name
        self._queue = _Queue()
        self._numbers = itertools.count()
        self._listeners: dict[str, tuple[int, Answer, Failed]] = {}
        queue, send = self._queue, deliver_to(self._deliver)  # the thread must not hold the listeners
        self._thread = BackgroundThread(name, lambda: _run(queue, send))

    def start(self) -> None:
        """Start the thread; a second time nothing happens."""
        if self._thread.ident is None:
            self._thread.start()

    def ask(self, key: str, work: Work, answer: Answer, failed: Failed) -> None:
        """Run `work` soon, in place of any earlier request under this key."""
        request = _Request(key, next(self._numbers), work)
        self._listeners[key] = (request.number, answer, failed)
        self._queue.put(request)

    def silence(self, key: str) -> None:
        """Nothing that was asked under this key will be answered."""
        self._listeners.pop(key, None)
        self._queue.remove(key)

    def is_busy(self, key: str) -> bool:
        """Whether an answer under this key is still to come."""
        return key in self._listeners

    @property
    def is_at_rest(self) -> bool:
        """Whether all that was asked has been answered."""
        return not self._listeners

    def progress(self, key: str) -> float | None:
        """The fraction done of the work under way for this key; None where it has not said so."""
        return self._queue.progress(key)

    def stop(self) -> None:
        """Drop all requests and answers, and end the thread where its work next looks up, without waiting."""
        self._listeners.clear()
        self._queue.close()

    @property
    def seconds_spent(self) -> float:
        """Seconds of a core that its requests have taken so far."""
        return self._queue.seconds_spent

    def is_alive(self) -> bool:
        """Whether its thread runs."""
        return self._thread.is_alive()

    def join(self, timeout: float | None = None) -> None:
        """Wait until its thread has ended, at most `timeout` seconds."""
        if self._thread.ident is not None:
            self._thread.join(timeout)

    def _deliver(self, outcome: _Outcome) -> None:
        request = outcome.request
        listener = self._listeners.get(request.key)
        if listener is None or listener[0] != request.number:
            return
        _, answer, failed = self._listeners.pop(request.key)
        if outcome.fault is None:
            answer(outcome.result)
        else:
            failed(outcome.fault)


class _Queue:
    """The requests that wait, at most one under each key; for both threads."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._waiting: dict[str, _Request] = {}
        self._under_way: _Request | None = None
        self._done: float | None = None
        self._is_wanted = True  # whether somebody waits for the work under way
        self._is_closed = False
        self.seconds_spent = 0.0  # by the thread that takes them, up to its last request

    def put(self, request: _Request) -> None:
        """Add a request; it takes the place in the queue of an earlier one under its key."""
        with self._condition:
            self._waiting[request.key] = request
            self._give_up(request.key)
            self._condition.notify()

    def remove(self, key: str) -> None:
        """Take back what waits under a key, or is under way."""
        with self._condition:
            self._waiting.pop(key, None)
            self._give_up(key)

    def progress(self, key: str) -> float | None:
        """The fraction done of the work under way for a key."""
        with self._condition:
            is_under_way = self._under_way is not None and self._under_way.key == key
            return self._done if is_under_way and self._is_wanted else None

    def look(self, done: float | None) -> None:
        """Called by the work under way: takes note of the fraction done; Interrupted where it may end."""
        if not self._is_wanted:
            raise Interrupted
        if done is not None:
            self._done = done

    def close(self) -> None:
        """Nothing more will be taken."""
        with self._condition:
            self._waiting.clear()
            self._is_closed, self._is_wanted = True, False
            self._condition.notify()

    def take(self) -> _Request | None:
        """The request that waits longest, once there is one; None when the queue has been closed."""
        with self._condition:
            self._under_way = None
            self._condition.wait_for(lambda: self._waiting or self._is_closed)
            if self._is_closed:
                return None
            self._under_way = self._waiting.pop(next(iter(self._waiting)))
            self._done, self._is_wanted = None, True
            return self._under_way

    def _give_up(self, key: str) -> None:
        if self._under_way is not None and self._under_way.key == key:
            self._is_wanted = False


def _run(queue: _Queue, send: Callable[[_Outcome], None]) -> None:
    """What the thread does."""
    while (request := queue.take()) is not None:
        try:
            with interruptible(queue.look):
                outcome = _Outcome(request, request.work())
        except BaseException as fault:  # a panic of a Rust library, too, must not end the thread
            outcome = _Outcome(request, fault=fault)
        queue.seconds_spent = time.thread_time()
        send(outcome)
        del request, outcome  # or the last ones would be kept while the queue is empty
