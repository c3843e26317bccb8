"""What is looked up in folders that may answer late: each in a thread of its own, waited for but briefly."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from PySide6.QtCore import QObject

from lmviz.app.workers.closing import Worker
from lmviz.app.workers.job import Job

T = TypeVar("T")

Look = tuple[Callable[[], Any], Callable[[Any], object], Callable[[BaseException], object]]
"""What looks, what takes the answer, and what takes what went wrong."""


class Lookups(QObject):
    """One look at a time under each key. Of those that are asked for meanwhile, the newest follows."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._under_way: dict[str, Job] = {}
        self._waiting: dict[str, Look] = {}
        self._late: set[str] = set()

    def ask(
        self,
        key: str,
        look: Callable[[], T],
        answer: Callable[[T], object],
        failed: Callable[[BaseException], object],
        seconds: float,
    ) -> None:
        """Look beside the window, which waits for the answer so many seconds: it is mostly there by then.

        Whoever was late once is not waited for again. `answer` and `failed` are called in the window's
        thread, and perhaps before this returns.
        """
        if key in self._under_way:
            self._waiting[key] = (look, answer, failed)
            return
        job = self._begin(key, (look, answer, failed))
        if key not in self._late:
            job.wait_briefly(seconds)
            if job.is_alive():
                self._late.add(key)

    def is_busy(self, key: str) -> bool:
        """Whether an answer under this key is still to come."""
        return key in self._under_way

    @property
    def is_at_rest(self) -> bool:
        """Whether all that was asked has been answered."""
        return not self._under_way

    def stop(self) -> list[Worker]:
        """Answer nobody any more; the threads that may still look."""
        self._waiting.clear()
        for job in self._under_way.values():
            job.cancel()
        return [*self._under_way.values()]

    def _begin(self, key: str, wanted: Look) -> Job:
        look, answer, failed = wanted
        job = self._under_way[key] = Job(f"looking: {key}", lambda report: look(), self)
        job.succeeded.connect(answer)
        job.failed.connect(partial(_fail, failed))
        job.ended.connect(self._go_on)
        job.start()
        return job

    def _go_on(self, ended: Job) -> None:
        [key] = (key for key, job in self._under_way.items() if job is ended)
        del self._under_way[key]
        if key in self._waiting:
            self._begin(key, self._waiting.pop(key))


def _fail(failed: Callable[[BaseException], object], _: Job, fault: BaseException) -> None:
    failed(fault)
