"""The thread in which it is measured how long a training would take."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from lmviz.app.workers.delivery import deliver_to
from lmviz.app.workers.threads import BackgroundThread, lower_priority

Key = tuple[object, ...]
Timing = tuple[Key, float | None]
"""What was measured, and seconds a step; None where it could not be."""


class TimingWorker:
    """Drives a measurement until it has a number, fails or is stopped.

    `begin` is called in the thread and gives an iterator: None until the number is known. `answer` is a
    method of a Qt object, and gets `key` with the number; nothing after `stop`.
    """

    name = "timing"

    def __init__(
        self, key: Key, begin: Callable[[], Iterator[float | None]], answer: Callable[[Timing], None]
    ) -> None:
        self.key = key
        self._begin = begin
        self._send = deliver_to(answer)
        self._stopping = threading.Event()
        self._thread = BackgroundThread(self.name, self._run)

    def start(self) -> None:
        """Begin to measure."""
        self._thread.start()

    def stop(self) -> None:
        """Stop after the step under way; nothing is answered any more."""
        self._stopping.set()

    def is_alive(self) -> bool:
        """Whether its thread runs."""
        return self._thread.is_alive()

    def join(self, timeout: float | None = None) -> None:
        """Wait until its thread has ended, at most `timeout` seconds."""
        self._thread.join(timeout)

    def _run(self) -> None:
        lower_priority()
        found = None
        try:
            for found in self._begin():
                if self._stopping.is_set() or found is not None:
                    break
        except Exception:  # what cannot be trained is said when it is to be trained, and not now
            found = None
        if not self._stopping.is_set():
            self._send((self.key, found))
