"""Training from the window: start, pause, step, stop, resume a run; and how it stands."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from lmviz.app.session.part import Part
from lmviz.app.session.training_state import History, Phase, Plan, TrainingState
from lmviz.app.workers.faults import sentence_for
from lmviz.app.workers.threads import compute_with
from lmviz.app.workers.training_worker import State, TrainingWorker
from lmviz.text.resources import data_folder
from lmviz.training.controls import Controls

if TYPE_CHECKING:
    from lmviz.app.session.library import Library
    from lmviz.app.session.open_text import OpenText
    from lmviz.app.session.work import Work
    from lmviz.configuration import Configuration
    from lmviz.preparation import PreparedTraining
    from lmviz.text.corpus import Corpus
    from lmviz.training.options import TrainingOptions
    from lmviz.training.run import Run

FIRST_FAMILY = "transformer"
LOOK_EVERY = 250  # milliseconds
LIVE_EVERY = 0.5  # seconds between two looks into the model that is being trained

NO_TEXT = "There is no text to learn from: open one under Corpus."


class Training(Part):
    """Trains one model at a time, in a thread of its own, and shows its newest moments as it goes."""

    changed = Signal()
    plan_changed = Signal()
    live_failed = Signal(str)
    """The weights of this moment could not be shown; `library.step_changed` follows once they can."""

    def __init__(
        self,
        work: Work,
        text: OpenText,
        library: Library,
        runs_folder: Path | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._work, self._text, self._library = work, text, library
        self.runs_folder = runs_folder or data_folder() / "runs"
        self._plan: Plan | None = None
        self._plan_problem = ""
        self._state = TrainingState()
        self._worker: TrainingWorker | None = None
        self._controls = Controls()
        self._rate_begun_with: float | None = None
        self._opening: Path | None = None
        self._live_asked = 0.0
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_EVERY)
        self._timer.timeout.connect(self._look)

    @property
    def state(self) -> TrainingState:
        """How training stands."""
        return self._state

    @property
    def plan(self) -> Plan:
        """What the Train button would train: a family, its configuration, and how."""
        if self._plan is None:
            from lmviz.families import FAMILIES
            from lmviz.training.options import TrainingOptions

            self._plan = Plan(FIRST_FAMILY, FAMILIES[FIRST_FAMILY].configuration(), TrainingOptions())
        return self._plan

    def set_plan(self, family: str, configuration: Configuration, training_options: TrainingOptions) -> None:
        """Say what the Train button trains."""
        plan = Plan(family, configuration, training_options)
        if plan != self._plan:
            self._plan = plan
            self._plan_problem = ""
            self.plan_changed.emit()

    def refuse_plan(self, sentence: str) -> None:
        """Say why what a form shows cannot be trained; "" when it can."""
        self._plan_problem = sentence

    def start(
        self,
        family: str | None = None,
        configuration: Configuration | None = None,
        training_options: TrainingOptions | None = None,
    ) -> None:
        """Start a new run; without arguments, as planned."""
        if family is not None and configuration is not None and training_options is not None:
            self.set_plan(family, configuration, training_options)
            self._plan_problem = ""
        self._start_new(math.inf)

    def pause(self) -> None:
        """Wait after the step in hand."""
        if self._worker is not None:
            self._worker.pause()
            self._look()

    @property
    def trains_shown_model(self) -> bool:
        """Whether the model that is shown is the one that is being trained."""
        is_active, model = self._state.is_active, self._library.model
        return is_active and model is not None and model.folder == self._state.folder

    @property
    def is_following(self) -> bool:
        """Whether a training is under way, and what is shown is its newest moment."""
        return self._library.live and self.trains_shown_model

    @property
    def can_resume(self) -> bool:
        """Whether `resume` can do something: go on after a pause, or with the run that is shown."""
        if self._state.is_active:
            return self._state.phase == "paused"
        return self._library.model is not None and self._library.model.run.is_resumable

    @property
    def can_go_on(self) -> bool:
        """Whether the training that ended last can be resumed where it stopped."""
        model, training = self._library.model, self._state
        ended = training.phase in ("stopped", "failed") and model is not None
        return ended and model.folder == training.folder and model.run.is_resumable

    def resume(self) -> None:
        """Go on: with the training that waits, otherwise with the run that is shown, where it stopped.

        Where the plan's learning rate was changed since that training ended, it goes on with that rate.
        """
        if self._worker is not None:
            self._worker.go_on()
            self._look()
        else:
            self._start_again(math.inf)

    def step(self) -> None:
        """One step, then wait; a new run begins when none is under way."""
        if self._worker is not None:
            self._worker.step()
            self._look()
        else:
            self._start_new(1)

    def stop(self) -> None:
        """End after the step in hand. The run stays, and can be resumed."""
        if self._worker is not None:
            self._worker.stop()

    def set_learning_rate(self, learning_rate: float | None) -> None:
        """Train on with another learning rate; None goes back to the schedule."""
        if self._worker is not None:
            self._controls.learning_rate = learning_rate

    def close(self) -> None:
        """Stop training, leaving a run that can be resumed; `Work.close` waits for the thread."""
        self._timer.stop()
        if self._worker is not None:
            self._worker.stop()
            self._work.wait_when_closing(self._worker)
            self._worker = None

    def _start_new(self, steps: float) -> None:
        plan, corpus = self.plan, self._text.corpus
        if corpus is None and self._text.is_opening:
            self.failed.emit("The text is still being read: press again when it is there.")
        elif corpus is None:
            self.failed.emit(NO_TEXT)
        elif self._plan_problem:
            self.failed.emit(self._plan_problem)
        else:
            folder = self._new_folder(f"{plan.family} {corpus.name}")
            state = TrainingState("preparing", folder=folder, family=plan.family)
            self._rate_begun_with = plan.training_options.learning_rate
            self._start(lambda controls: _begin(plan, corpus, folder, controls), state, steps)

    def _start_again(self, steps: float) -> None:
        model, corpus = self._library.model, self._text.corpus
        if model is None:
            self.failed.emit("There is no run to go on with: open one, or train a new model.")
        else:
            history = History.from_metrics(model.run.metrics())
            state = TrainingState("preparing", None, history, model.folder, model.family)
            rate = self.plan.training_options.learning_rate
            changed = model.folder == self._state.folder and rate != self._rate_begun_with
            self._rate_begun_with = rate
            begin = lambda controls: _resume(model.run, corpus, controls)  # noqa: E731
            self._start(begin, state, steps, rate if changed else None)

    def _start(
        self,
        begin: Callable[[Controls], PreparedTraining],
        state: TrainingState,
        steps: float,
        learning_rate: float | None = None,
    ) -> None:
        if self._worker is not None:
            self.failed.emit("A model is being trained already: stop it first.")
            return
        controls = Controls()
        controls.learning_rate = learning_rate
        self._controls = controls
        self._worker = TrainingWorker(lambda: begin(controls), steps)
        self._worker.start()
        self._timer.start()
        self._take(state)

    def _new_folder(self, name: str) -> Path:
        name = re.sub(r"[^\w.-]+", "-", name).strip("-.")
        stem = f"{datetime.now():%Y-%m-%d-%H%M%S}-{name}"
        taken = (self.runs_folder / stem).exists()
        return self.runs_folder / (f"{stem}-{time.time_ns() % 1000:03d}" if taken else stem)

    def _look(self) -> None:
        """Empty the worker's mailbox; called by the timer, in the window's thread."""
        worker = self._worker
        if worker is None:
            return
        is_finished = not worker.is_alive()  # asked first: what it left behind is then all there is
        taken = worker.take_progress()
        for progress in taken:
            self._state.history.append(progress)
        newest = taken[-1] if taken else self._state.progress
        state = replace(self._state, progress=newest, phase=_phase(worker))
        if is_finished:
            state = _ended(worker, state)
            self._forget_worker()
        if state != self._state:
            self._take(state)
        has_begun = state.progress is not None
        if (is_finished and has_begun) or any(progress.snapshot is not None for progress in taken):
            self._show_snapshots(state.folder)
        if not is_finished:
            self._look_inside(worker)

    def _take(self, state: TrainingState) -> None:
        self._state = state
        self.changed.emit()
        if state.sentence:
            self.failed.emit(state.sentence)

    def _forget_worker(self) -> None:
        self._timer.stop()
        self._worker = None

    def _show_snapshots(self, folder: Path) -> None:
        """Make the newest snapshots available, and the model itself when these are its first."""
        if any(model.folder == folder for model in self._library.models):
            self._library.refresh_snapshots(folder)
        elif folder != self._opening:
            self._opening = folder
            self._library.follow_live(True)
            self._library.open(folder)

    def _look_inside(self, worker: TrainingWorker) -> None:
        """While the training is followed, show the weights it has this moment, several times a second."""
        taken = worker.take_state()
        if taken is not None and self._follows_training():
            step, state = taken
            if step > self._library.step:
                self._go_live(step, state)
        now = time.monotonic()
        if self._follows_training() and now - self._live_asked > LIVE_EVERY:
            self._live_asked = now
            worker.want_state()

    def _follows_training(self) -> bool:
        return (
            self._library.live
            and self._library.model is not None
            and self._library.model.folder == self._state.folder
        )

    def _go_live(self, step: int, state: State) -> None:
        cache, folder = self._work.cache, self._state.folder
        self._work.ask(
            "live",
            lambda: cache.keep(folder, step, state),
            lambda _: self._show_live(step),
            self.live_failed.emit,
        )

    def _show_live(self, step: int) -> None:
        if self._follows_training():
            self._library.show_live_step(step)


def _begin(plan: Plan, corpus: Corpus, folder: Path, controls: Controls) -> PreparedTraining:
    from lmviz.preparation import begin_run

    compute_with(None)
    return begin_run(plan.family, plan.configuration, plan.training_options, corpus, folder, controls)


def _resume(run: Run, corpus: Corpus | None, controls: Controls) -> PreparedTraining:
    """Go on with a run; its text is read again when it is not the one that is open."""
    from lmviz.api import corpus_of
    from lmviz.preparation import resume_run

    compute_with(None)
    fits = corpus is not None and corpus.fingerprint == run.description.fingerprint
    return resume_run(run, corpus if fits else corpus_of(run), controls=controls)


def _phase(worker: TrainingWorker) -> Phase:
    if not worker.has_begun:
        return "preparing"
    return "paused" if worker.is_paused else "running"


def _ended(worker: TrainingWorker, state: TrainingState) -> TrainingState:
    """The state after the thread has ended: by itself, on command, or because it could not go on."""
    if worker.fault is not None:
        return replace(state, phase="failed", sentence=sentence_for(worker.fault, "Training"))
    last = state.progress
    if last is not None and last.finished:
        return replace(state, phase="finished")
    trouble = last.trouble if last is not None else ""
    return replace(state, phase="failed" if trouble else "stopped", sentence=trouble)
