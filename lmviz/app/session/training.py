"""Training from the window: start, pause, step, stop and resume a run; and its state."""

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

from lmviz.app.session.histories import Histories
from lmviz.app.session.pace import Pace
from lmviz.app.session.part import Part
from lmviz.app.session.training_state import History, Phase, Plan, TrainingState, in_words
from lmviz.app.workers.faults import sentence_for
from lmviz.app.workers.threads import compute_with
from lmviz.app.workers.training_worker import State, TrainingWorker
from lmviz.errors import LmvizError
from lmviz.runs.run_title import STAMP
from lmviz.text.resources import data_folder
from lmviz.training.controls import Controls

if TYPE_CHECKING:
    from lmviz.app.session.library import Library
    from lmviz.app.session.open_text import OpenText
    from lmviz.app.session.opened_model import OpenedModel
    from lmviz.app.session.work import Work
    from lmviz.models.model_configuration import ModelConfiguration
    from lmviz.preparation import PreparedTraining
    from lmviz.text.corpus import Corpus
    from lmviz.training.options import TrainingOptions
    from lmviz.training.run import Run

FIRST_FAMILY = "transformer"
LOOK_EVERY = 250  # milliseconds
LIVE_EVERY = 0.5  # seconds between two looks into the model that is being trained

NO_TEXT = "There is no text to learn from: open one under Corpus."
NO_RUN = "There is no run to go on with: open one, or train a new model."
BUSY = "A model is being trained already: stop it first."
PREPARING_TEXT = "preparing the text…"
PREPARING_MODEL = "preparing the model…"


class Training(Part):
    """Trains one model at a time, in its own thread, and shows its newest snapshots meanwhile."""

    changed = Signal()
    plan_changed = Signal()
    text_missing = Signal(str)
    live_failed = Signal(str)
    """The current weights could not be shown; `library.step_changed` follows once they can."""

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
        self._histories = Histories()
        self._pace = Pace()
        self._steps_waiting: float | None = None  # of a training that begins when the text has been read
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_EVERY)
        self._timer.timeout.connect(self._look)
        text.changed.connect(self._begin_after_the_text)
        text.reading_given_up.connect(self._give_up_without_a_text)
        library.models_changed.connect(self._forget_closed)

    @property
    def state(self) -> TrainingState:
        """The state of the training."""
        return self._state

    @property
    def shown(self) -> TrainingState:
        """How the training of the model that is shown stands, of which a run may be all that is known."""
        model = self._library.model
        if model is None or model.folder == self._state.folder:
            return self._state
        done = model.snapshots[-1] >= model.description.training.get("steps", 0)
        phase: Phase = "finished" if done else "stopped"
        return TrainingState(phase, None, self.history_of(model), model.folder, model.family)

    def history_of(self, model: OpenedModel) -> History:
        """The curves of a run that is open; those of the one under way grow."""
        return self._state.history if model.folder == self._state.folder else self._histories.of(model)

    @property
    def plan_in_words(self) -> str:
        """What the Train button would train on what; the family alone while no text is open."""
        corpus = self._text.corpus
        text, tokenizer = ("", "") if corpus is None else (corpus.name, corpus.options.tokenizer)
        return in_words(self.plan.family, text, tokenizer)

    @property
    def expected_seconds(self) -> float | None:
        """How long what is planned will take here; None until a second of it was measured."""
        corpus = self._text.corpus
        return None if corpus is None else self._pace.seconds(self.plan, corpus.fingerprint)

    @property
    def plan(self) -> Plan:
        """What the Train button would train: a family, its configuration, and how."""
        if self._plan is None:
            from lmviz.families import FAMILIES
            from lmviz.training.options import TrainingOptions

            self._plan = Plan(FIRST_FAMILY, FAMILIES[FIRST_FAMILY].configuration(), TrainingOptions())
        return self._plan

    def set_plan(
        self, family: str, configuration: ModelConfiguration, training_options: TrainingOptions
    ) -> None:
        """Say what the Train button trains."""
        plan = Plan(family, configuration, training_options)
        if plan != self._plan:
            self._plan = plan
            self._plan_problem = ""
            self.plan_changed.emit()

    def refuse_plan(self, sentence: str) -> None:
        """Why the plan in the form cannot be trained; "" when it can."""
        self._plan_problem = sentence

    def start(
        self,
        family: str | None = None,
        configuration: ModelConfiguration | None = None,
        training_options: TrainingOptions | None = None,
    ) -> None:
        """Start a new run; without arguments, as planned."""
        if family is not None and configuration is not None and training_options is not None:
            self.set_plan(family, configuration, training_options)
            self._plan_problem = ""
        self._start_new(math.inf)

    def pause(self) -> None:
        """Pause after the current step."""
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
        """Whether a training is running and its newest weights are shown."""
        return self._library.live and self.trains_shown_model

    @property
    def can_resume(self) -> bool:
        """Whether there is something for `resume`: a paused training, or the shown run."""
        if self._state.is_active:
            return self._state.phase == "paused"
        return not self._obstacle()

    @property
    def further_steps(self) -> int:
        """How many steps `resume` would make; 0 where it can make none."""
        model = self._library.model
        if model is None or self._state.is_active or self._obstacle():
            return 0
        return self._further_options(model).steps - model.snapshots[-1]

    @property
    def can_go_on(self) -> bool:
        """Whether the training that ended last can be resumed where it stopped."""
        model, training = self._library.model, self._state
        if model is None or training.phase not in ("stopped", "failed"):
            return False
        return model.folder == training.folder and model.run.is_resumable

    def resume(self) -> None:
        """Go on: with the training that waits, otherwise with the run that is shown, where it stopped.

        A run goes on to the steps of the plan, where that describes it, or to its own; one that has come to
        its end gets as many steps again. Where the plan's learning rate was changed since that training
        ended, it goes on with that rate. The plan becomes that of the run, and the run is followed live.
        """
        if self._worker is not None:
            self._worker.go_on()
            self._look()
        else:
            self._start_again(math.inf)

    def step(self) -> None:
        """One step of the training under way or of the run that is shown, then wait.

        Only where no model is open a new run begins.
        """
        if self._worker is not None:
            self._worker.step()
            self._look()
        elif self._library.model is not None:
            self._start_again(1)
        else:
            self._start_new(1)

    def stop(self) -> None:
        """Stop after the current step. The run stays, and can be resumed."""
        if self._worker is not None:
            self._worker.stop()
        self._give_up_without_a_text()

    def set_learning_rate(self, learning_rate: float | None) -> None:
        """Train on with another learning rate; None goes back to the schedule."""
        if self._worker is not None:
            self._controls.learning_rate = learning_rate

    def close(self) -> None:
        """Stop training, leaving a run that can be resumed; `Work.close` waits for the thread."""
        self._timer.stop()
        self._steps_waiting = None
        if self._worker is not None:
            self._worker.stop()
            self._work.wait_when_closing(self._worker)
            self._worker = None

    def _start_new(self, steps: float) -> None:
        plan, corpus = self.plan, self._text.corpus
        if self._state.is_active:
            self.failed.emit(BUSY)
        elif self._plan_problem:
            self.failed.emit(self._plan_problem)
        elif self._text.is_opening:
            self._steps_waiting = steps
            self._take(TrainingState("preparing", family=plan.family, doing=PREPARING_TEXT))
        elif corpus is None:
            self.failed.emit(NO_TEXT)
            self.text_missing.emit(NO_TEXT)
        else:
            self._begin_new(plan, corpus, steps)

    def _begin_new(self, plan: Plan, corpus: Corpus, steps: float) -> None:
        folder = self._new_folder(f"{plan.family} {corpus.name}")
        self._rate_begun_with = plan.training_options.learning_rate
        self._pace.begin(plan, corpus.fingerprint)
        state = TrainingState(
            "preparing",
            folder=folder,
            family=plan.family,
            subject=self.plan_in_words,
            doing=PREPARING_MODEL,
        )
        self._start(lambda controls: _begin(plan, corpus, folder, controls), state, steps)

    def _begin_after_the_text(self) -> None:
        """Begin the training that has waited for the text, which is there now."""
        steps, self._steps_waiting = self._steps_waiting, None
        if steps is not None and self._text.corpus is not None:
            self._begin_new(self.plan, self._text.corpus, steps)

    def _give_up_without_a_text(self) -> None:
        """The text for which a training has waited does not come."""
        if self._steps_waiting is not None:
            self._steps_waiting = None
            self._take(TrainingState())

    def _start_again(self, steps: float) -> None:
        model, obstacle = self._library.model, BUSY if self._state.is_active else self._obstacle()
        if model is None or obstacle:
            self.failed.emit(obstacle)
            return
        from lmviz.runs.further import one_step_further

        description, corpus, history = model.description, self._text.corpus, self.history_of(model)
        rate = self.plan.training_options.learning_rate
        changed = model.folder == self._state.folder and rate != self._rate_begun_with
        done = model.snapshots[-1]
        options = one_step_further(description, done) if steps == 1 else self._further_options(model)
        self._plan_run(model, replace(options, learning_rate=rate) if changed else options)
        self._rate_begun_with = self.plan.training_options.learning_rate
        self._pace.begin(self.plan, description.fingerprint)
        fits = corpus is not None and corpus.fingerprint == description.fingerprint
        text = corpus if fits else None
        tokenizer = str(description.corpus.get("options", {}).get("tokenizer", ""))
        state = TrainingState(
            "preparing",
            history=history,
            folder=model.folder,
            family=model.family,
            subject=in_words(model.family, str(description.corpus.get("name", "")), tokenizer),
            doing=PREPARING_MODEL if fits else PREPARING_TEXT,
        )
        self._library.follow_live(True)
        begin = lambda controls: _resume(model.run, text, options, controls)  # noqa: E731
        self._start(begin, state, steps, rate if changed else None)

    def _plan_run(self, model: OpenedModel, options: TrainingOptions) -> None:
        """Make the plan, and so the form that shows it, that of a run."""
        from lmviz.families import find_family

        configuration = find_family(model.family).configuration
        self.set_plan(model.family, configuration.from_values(model.description.configuration), options)

    def _obstacle(self) -> str:
        """Why the model that is shown cannot be trained further; "" when it can."""
        from lmviz.runs.further import check_further

        model, corpus = self._library.model, self._text.corpus
        if model is None:
            return NO_RUN
        try:
            fingerprint = corpus.fingerprint if corpus is not None else ""
            check_further(model.run, model.snapshots[-1], fingerprint=fingerprint)
        except LmvizError as sentence:
            return str(sentence)
        return ""

    def _further_options(self, model: OpenedModel) -> TrainingOptions:
        """With which options the run goes on: those of the plan, where that describes it, at its own rate."""
        from lmviz.runs.further import further_options, is_planned_by

        plan, description = self.plan, model.description
        planned = None
        if is_planned_by(description, plan.family, plan.configuration.to_values(), plan.training_options):
            planned = replace(plan.training_options, learning_rate=description.options.learning_rate)
        return further_options(description, model.snapshots[-1], planned)

    def _forget_closed(self) -> None:
        self._histories.forget_all_but(model.folder for model in self._library.models)

    def _start(
        self,
        begin: Callable[[Controls], PreparedTraining],
        state: TrainingState,
        steps: float,
        learning_rate: float | None = None,
    ) -> None:
        if self._state.folder is not None:
            self._histories.keep(self._state.folder, self._state.history)
        controls = Controls()
        controls.learning_rate = learning_rate
        self._controls = controls
        self._worker = TrainingWorker(lambda: begin(controls), steps)
        self._worker.start()
        self._timer.start()
        self._take(state)

    def _new_folder(self, name: str) -> Path:
        name = re.sub(r"[^\w.-]+", "-", name).strip("-.")
        stem = f"{datetime.now().strftime(STAMP)}-{name}"
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
            self._pace.note(progress)
        newest = taken[-1] if taken else self._state.progress
        state = replace(self._state, progress=newest, phase=_phase(worker))
        if is_finished:
            state = _ended(worker, state)
            self._forget_worker()
        if state != self._state:
            self._take(state)
        has_begun = state.progress is not None
        is_saved = any(progress.snapshot is not None for progress in taken)
        if state.folder is not None and ((is_finished and has_begun) or is_saved):
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
        """While the training is followed, show its current weights several times a second."""
        taken = worker.take_state()
        folder = self._state.folder
        if taken is not None and folder is not None and self._follows_training():
            step, state = taken
            if step > self._library.step:
                self._go_live(folder, step, state)
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

    def _go_live(self, folder: Path, step: int, state: State) -> None:
        cache = self._work.cache
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


def _resume(
    run: Run, corpus: Corpus | None, options: TrainingOptions, controls: Controls
) -> PreparedTraining:
    """Go on with a run; its text is read again where it is not given."""
    from lmviz.api import corpus_of
    from lmviz.preparation import resume_run

    compute_with(None)
    return resume_run(run, corpus or corpus_of(run), options, controls)


def _phase(worker: TrainingWorker) -> Phase:
    if not worker.has_begun:
        return "preparing"
    return "paused" if worker.is_paused else "running"


def _ended(worker: TrainingWorker, state: TrainingState) -> TrainingState:
    """The state after the thread has ended: at the last step, on command, or by an error."""
    if worker.fault is not None:
        return replace(state, phase="failed", sentence=sentence_for(worker.fault, "Training"))
    last = state.progress
    if last is not None and last.finished:
        return replace(state, phase="finished")
    trouble = last.trouble if last is not None else ""
    return replace(state, phase="failed" if trouble else "stopped", sentence=trouble)
