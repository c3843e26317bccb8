"""What threads that train have in common: they can be paused, go on and be stopped, and tell what happens.

What happens goes into a mailbox, which a timer in the window's thread empties: a signal for each step of a
training would flood the window.
"""

from __future__ import annotations

import math
import threading
from abc import ABC, abstractmethod
from collections import deque
from typing import Generic, TypeVar

from lmviz.app.workers.threads import BackgroundThread

News = TypeVar("News")


class SteppedWorker(ABC, Generic[News]):
    """Works in a thread of its own, as many steps as are allowed. Subclasses say how, in `_run`."""

    name: str
    """What it is called in logs, and by whoever waits for it."""

    def __init__(self, allowed: float) -> None:
        self._thread = BackgroundThread(self.name, self._run)
        self._allowed = allowed
        self._stopping = False
        self._condition = threading.Condition()
        self._mailbox: deque[News] = deque()
        self.fault: BaseException | None = None

    @property
    def is_paused(self) -> bool:
        """Whether it rests."""
        return self._allowed <= 0

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def is_alive(self) -> bool:
        """Whether its thread runs."""
        return self._thread.is_alive()

    def join(self, timeout: float | None = None) -> None:
        """Wait until its thread has ended, at most `timeout` seconds."""
        self._thread.join(timeout)

    def take_news(self) -> list[News]:
        """What has happened since the last call, oldest first."""
        taken = []
        while self._mailbox:
            taken.append(self._mailbox.popleft())
        return taken

    def pause(self) -> None:
        """Rest after the step under way."""
        self._allow(0)

    def go_on(self) -> None:
        """Go on without pausing."""
        self._allow(math.inf)

    def stop(self) -> None:
        """End after the step under way, in a state that can be resumed; does not wait for it."""
        with self._condition:
            self._stopping = True
            self._wake()

    def _allow(self, steps: float) -> None:
        with self._condition:
            self._allowed = steps
            self._wake()

    def _wake(self) -> None:
        """Have the thread look again; called with the condition held."""
        self._condition.notify()

    @abstractmethod
    def _run(self) -> None:
        """Do the work, in the thread; what is raised goes to `fault`."""
