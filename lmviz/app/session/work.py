"""The session's threads: one that reads models, and jobs for what takes long."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.opened_models import ModelCache, OpenedModel
from lmviz.app.workers.faults import sentence_for
from lmviz.app.workers.job import Job, Work
from lmviz.app.workers.reading_worker import ReadingWorker
from lmviz.app.workers.threads import compute_with

if TYPE_CHECKING:
    from lmviz.inspection.intervention import Intervention
    from lmviz.models.model import Model

T = TypeVar("T")

Moment = tuple[OpenedModel, int]
"""A model at a step of its training."""


class Tasks(QObject):
    """The part of the session that has work done in other threads.

    `failed(where, sentence)` names the part that should show the sentence: "corpus", "model",
    "reading", "training", or the key or name under which work was asked for.
    """

    failed = Signal(str, str)
    ready_changed = Signal()
    job_started = Signal(object)
    job_finished = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._cache = ModelCache()
        self._reader = ReadingWorker(self)
        self._jobs: list[Job] = []
        self._is_ready = False
        # Asked first of all, so that nothing which a stored trace gave rise to is computed without it.
        self._in_reader("torch", _load_torch, lambda _: self._become_ready(), "model")

    @property
    def is_ready(self) -> bool:
        """Whether torch has been loaded, so that models can be opened and trained without delay."""
        return self._is_ready

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The jobs under way."""
        return tuple(job for job in self._jobs if not job.is_cancelled)

    def start(self) -> None:
        """Start the reading thread, which loads torch first. Call it once the window is painted."""
        if not self._reader.isRunning():
            self._reader.start()

    def ask_of(
        self,
        moment: Moment,
        key: str,
        work: Callable[[Model], T],
        answer: Callable[[T], None],
        interventions: Sequence[Intervention] = (),
    ) -> None:
        """Run `work` on a model at a step, in the reading thread; the newest per key is answered.

        `work` must know no widget. `answer` is called in the window's thread. The model computes with the
        `interventions` in force.
        """
        (opened, step), cache = moment, self._cache  # the thread must not hold the session
        self._in_reader(key, lambda: work(cache.changed(opened.folder, step, interventions)), answer)

    def ask_all(
        self,
        key: str,
        moments: Sequence[Moment],
        work: Callable[[Model], T],
        answer: Callable[[list[T]], None],
        interventions: Sequence[Sequence[Intervention]] | None = None,
    ) -> None:
        """Run `work` on each of several models; one answer with all results, in their order.

        `interventions` are those in force in each of the models; by default there are none.
        """
        changes = [()] * len(moments) if interventions is None else interventions
        wanted, cache = tuple(zip(moments, changes, strict=True)), self._cache

        def work_on_all() -> list[T]:
            return [work(cache.changed(opened.folder, step, own)) for (opened, step), own in wanted]

        self._in_reader(key, work_on_all, answer)

    def ask_reader(self, key: str, work: Callable[[], T], answer: Callable[[T], None]) -> None:
        """Run `work`, which needs no model, in the reading thread; the newest per key is answered."""
        self._in_reader(key, work, answer)

    def silence(self, key: str) -> None:
        """Whatever was asked under this key will not be answered."""
        self._reader.silence(key)

    def start_job(
        self,
        name: str,
        work: Callable[[], Generator[Any, None, T]],
        answer: Callable[[T], None],
        partial: Callable[[Any], None] | None = None,
        where: str = "",
    ) -> Job:
        """Long work in a thread of its own, shown with its progress and a cancel button.

        `work` is a generator function that knows no widget: floats it yields are the fraction done,
        other values go to `partial`, and what it returns goes to `answer`. A failure is
        `failed(where or name, sentence)`.
        """
        return self.start_reporting_job(name, lambda report: work(), answer, partial, where)

    def start_reporting_job(
        self,
        name: str,
        work: Work,
        answer: Callable[[Any], None],
        partial: Callable[[Any], None] | None = None,
        where: str = "",
    ) -> Job:
        """The same for a function that takes another to call with the fraction done so far."""
        job = Job(name, work, self, where)
        job.succeeded.connect(answer)
        if partial is not None:
            job.partial_changed.connect(partial)
        # Methods, not functions: one that held the session would let it die inside its own child.
        job.failed.connect(self._say_of_job)
        job.ended.connect(self._forget_job)
        self._jobs.append(job)
        job.start()
        self.job_started.emit(job)
        return job

    def close(self) -> None:
        """Cancel and wait for every thread; nothing is answered any more."""
        for job in self._jobs:
            job.cancel()
        for job in self._jobs:
            job.wait()
        self._reader.stop()

    def _in_reader(
        self, key: str, work: Callable[[], T], answer: Callable[[T], None], where: str = ""
    ) -> None:
        self._reader.ask(key, work, answer, lambda fault: self._say(where or key, fault, "Reading the model"))

    def _say(self, where: str, fault: BaseException, doing: str) -> None:
        self.failed.emit(where, sentence_for(fault, doing))

    def _say_of_job(self, job: Job, fault: BaseException) -> None:
        self._say(job.where, fault, job.name)

    def _become_ready(self) -> None:
        self._is_ready = True
        self.ready_changed.emit()

    def _forget_job(self, job: Job) -> None:
        self._jobs.remove(job)
        self.job_finished.emit(job)
        job.let_go()


def _load_torch() -> None:
    import torch

    torch.set_grad_enabled(False)  # for this thread alone: reading never learns
    compute_with(1)  # helpers of a second thread, even idle ones, would have those of the training sleep
