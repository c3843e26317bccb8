"""The session's threads: one that reads models, one for what strangers wrote, one for each long job."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.opened_model import Moment
from lmviz.app.session.part import Part
from lmviz.app.workers.closing import Worker, wait_for
from lmviz.app.workers.faults import sentence_for
from lmviz.app.workers.job import Job, JobWork
from lmviz.app.workers.model_cache import ModelCache
from lmviz.app.workers.reading_worker import ReadingWorker
from lmviz.app.workers.threads import compute_with

if TYPE_CHECKING:
    from lmviz.app.session.lookups import Lookups
    from lmviz.inspection.intervention import Intervention
    from lmviz.models.model import Model

T = TypeVar("T")

BRIEFLY = 0.05  # seconds that the window waits for the answer of a slow folder, before it goes on without it

Failed = Callable[[str], object]
"""Takes the sentence about what failed, in the window's thread."""

Asker = Failed | Part
"""Whoever asks: a part, which says `begun` at once and `failed` later, or what takes the sentence."""


class Work(Part):
    """Has work done in other threads.

    Work is a function that knows no widget. Its answer, and the sentence where it failed, arrive in the
    window's thread. Whoever asks says where that sentence goes; `any_failed` repeats each of them.
    """

    any_failed = Signal(str)
    ready_changed = Signal()
    job_started = Signal(object)
    job_finished = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._cache = ModelCache()
        self._reader = ReadingWorker()
        self._beside = ReadingWorker("running what strangers wrote")
        self._lookups: Lookups | None = None  # made when something is first looked up
        self._jobs: dict[Job, Failed] = {}
        self._files: set[Job] = set()  # those that read a file to be opened
        self._others: list[Worker] = []
        self._closed: dict[Path, Asker] = {}  # folders of models, and who closed each
        self._is_ready = False
        # Asked first of all, so that nothing which a stored trace gave rise to is computed without it.
        self.ask("torch", _load_torch, lambda _: self._become_ready(), self)

    @property
    def cache(self) -> ModelCache:
        """The weights of models; only functions that run in the reading thread may use it."""
        return self._cache

    @property
    def is_ready(self) -> bool:
        """Whether torch has been loaded, so that models can be opened and trained without delay."""
        return self._is_ready

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The jobs under way."""
        return tuple(job for job in self._jobs if not job.is_cancelled)

    @property
    def seconds_spent(self) -> float:
        """Seconds of a core that the window's thread and the reading thread have taken so far."""
        return time.thread_time() + self._reader.seconds_spent

    def start(self) -> None:
        """Start the reading thread, which loads torch first. Call it once the window is painted."""
        self._reader.start()

    def ask(self, key: str, work: Callable[[], T], answer: Callable[[T], object], asker: Asker) -> None:
        """Run `work` in the reading thread; only the newest request under a key is answered."""
        failed = _begun_by(asker)
        self._reader.ask(key, work, answer, lambda fault: self._say(fault, "Reading the model", failed))

    def ask_beside(
        self, key: str, work: Callable[[], T], answer: Callable[[T], object], asker: Asker
    ) -> None:
        """The same for work without a model that waits for what a stranger wrote, perhaps for seconds.

        It keeps no reading waiting: it has a thread of its own, which begins when it is first needed.
        """
        failed = _begun_by(asker)
        self._beside.start()
        self._beside.ask(key, work, answer, lambda fault: self._say(fault, "The template", failed))

    def look_into(self, key: str, look: Callable[[], T], answer: Callable[[T], object], asker: Asker) -> None:
        """Have something looked up in a folder, at once where its place is quick, else beside the window.

        An answer that is there within `BRIEFLY` seconds arrives before this returns. While one look is under
        way, the newest of those asked for under its key follows it.
        """
        failed = _begun_by(asker)
        if self._lookups is None:
            from lmviz.app.session.lookups import Lookups  # not needed for the first paint

            self._lookups = Lookups(self)
        self._lookups.ask(
            key, look, answer, lambda fault: self._say(fault, "Looking into a folder", failed), BRIEFLY
        )

    def ask_model(
        self,
        moment: Moment,
        key: str,
        work: Callable[[Model], T],
        answer: Callable[[T], object],
        asker: Asker,
        interventions: Sequence[Intervention] = (),
    ) -> None:
        """The same for work on a model at a step, which computes with the `interventions` in force."""
        (opened, step), cache = moment, self._cache  # the thread must not hold the session
        spells_out = opened.spells_out
        self.ask(
            key, lambda: work(cache.changed(opened.folder, step, interventions, spells_out)), answer, asker
        )
        self._forget_again({opened.folder})

    def ask_models(
        self,
        moments: Sequence[Moment],
        key: str,
        work: Callable[[Iterator[Model]], T],
        answer: Callable[[T], object],
        asker: Asker,
        interventions: Sequence[Sequence[Intervention]] | None = None,
    ) -> None:
        """The same for several models, with one answer.

        `work` gets them one by one, in their order, each with its weights when it comes to it: one model at
        a time. `interventions` are those in force in each of the models; by default there are none.
        """
        changes = [()] * len(moments) if interventions is None else interventions
        wanted, cache = tuple(zip(moments, changes, strict=True)), self._cache

        def models() -> Iterator[Model]:
            for (opened, step), own in wanted:
                yield cache.changed(opened.folder, step, own, opened.spells_out)

        self.ask(key, lambda: work(models()), answer, asker)
        self._forget_again({opened.folder for opened, _ in moments})

    def let_go(self, folder: Path, asker: Asker) -> None:
        """Keep nothing of a model that is closed, once what was asked about it before has been answered.

        What is asked about it later, such as the rest of an answer that grows, is answered as well.
        """
        self._closed[folder] = asker
        self._forget_again({folder})

    def take_up(self, folder: Path) -> None:
        """Keep the weights of a model: it is open."""
        self._closed.pop(folder, None)

    def _forget_again(self, folders: set[Path]) -> None:
        """Those of them that are closed, after all that has been asked by now."""
        cache = self._cache
        for folder in self._closed.keys() & folders:
            self.silence(f"forget {folder}")  # or it would keep its place before what was asked just now
            asker = self._closed[folder]
            self.ask(f"forget {folder}", partial(cache.forget, folder), lambda _: None, asker)

    def is_busy(self, key: str) -> bool:
        """Whether an answer under this key is still to come."""
        return any(worker.is_busy(key) for worker in self._answering)

    @property
    def is_at_rest(self) -> bool:
        """Whether all that was asked has been answered, also what only adds to what is drawn."""
        return all(worker.is_at_rest for worker in self._answering)

    @property
    def _answering(self) -> tuple[ReadingWorker | Lookups, ...]:
        return self._reader, self._beside, *([] if self._lookups is None else [self._lookups])

    def progress(self, key: str) -> float | None:
        """The fraction done of the work under way for this key; None where it is not known."""
        return self._reader.progress(key)

    def silence(self, key: str) -> None:
        """Whatever was asked under this key will not be answered."""
        self._reader.silence(key)
        self._beside.silence(key)

    def start_job(
        self,
        name: str,
        work: JobWork,
        answer: Callable[[Any], object],
        asker: Asker,
        partial: Callable[[Any], object] | None = None,
    ) -> Job:
        """Start long work in its own thread, shown with its progress and a cancel button.

        `work` takes a function to call with the fraction done so far. It returns its result, or is a
        generator: then floats that it yields are the fraction done, other values go to `partial`, and
        what it returns is the result.
        """
        failed = _begun_by(asker)
        job = Job(name, work, self)
        job.succeeded.connect(answer)
        if partial is not None:
            job.partial_changed.connect(partial)
        # Methods, not functions: one that held the session would let it die inside its own child.
        job.failed.connect(self._say_of_job)
        job.ended.connect(self._forget_job)
        self._jobs[job] = failed
        job.start()
        self.job_started.emit(job)
        return job

    def open_file(
        self, path: Path, work: Callable[[], T], answer: Callable[[T], object], asker: Asker
    ) -> None:
        """Have a file, or a folder, read by a job: at once where its place is quick.

        An answer that is there within `BRIEFLY` seconds arrives before this returns: nothing flickers.
        """
        job = self.start_job(f"Opening {path.name}", lambda report: work(), answer, asker)
        self._files.add(job)
        job.wait_briefly(BRIEFLY)

    @property
    def is_opening_files(self) -> bool:
        """Whether a file is being opened."""
        return bool(self._files)

    def save_file(
        self, path: Path, write: Callable[[], T], saved: Callable[[T], object], asker: Asker
    ) -> None:
        """Have a file written by a job, as `open_file` reads one. `write` must hold all that it writes."""
        self.start_job(f"Saving {path.name}", lambda report: write(), saved, asker).wait_briefly(BRIEFLY)

    def wait_when_closing(self, worker: Worker) -> None:
        """Have `close` also wait, within the same time, for another worker that was asked to stop."""
        self._others.append(worker)

    def close(self) -> None:
        """Cancel every thread and wait a while for all of them; nothing is answered any more."""
        from lmviz.base.side_process import answer_nobody  # not needed for the first paint

        for job in self._jobs:
            job.cancel()
        self._reader.stop()
        self._beside.stop()
        answer_nobody()
        looking = [] if self._lookups is None else self._lookups.stop()
        wait_for([*self._others, *self._jobs, *looking, self._reader, self._beside])

    def _say(self, fault: BaseException, doing: str, failed: Failed) -> None:
        sentence = sentence_for(fault, doing)
        failed(sentence)
        self.any_failed.emit(sentence)

    def _say_of_job(self, job: Job, fault: BaseException) -> None:
        self._say(fault, job.name, self._jobs[job])

    def _become_ready(self) -> None:
        self._is_ready = True
        self.ready_changed.emit()

    def _forget_job(self, job: Job) -> None:
        del self._jobs[job]
        self._files.discard(job)
        self.job_finished.emit(job)


def _begun_by(asker: Asker) -> Failed:
    """What takes the sentence of whoever asks; a part says that it begins anew."""
    if isinstance(asker, Part):
        asker.begin_anew()
        return asker.say_failed
    return asker


def _load_torch() -> None:
    import torch

    torch.set_grad_enabled(False)  # for this thread alone: reading never learns
    compute_with(1)  # helpers of a second thread, even idle ones, would have those of the training sleep
