"""Training from the window: start, pause, step, stop and resume a run; and how it stands."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, QTimer, Signal

from lmviz.app.session.going_further import GoingFurther
from lmviz.app.session.live_weights import LiveWeights
from lmviz.app.session.part import Part
from lmviz.app.session.training_state import History, Phase, Plan, RunHistories, TrainingState, in_words
from lmviz.app.workers.faults import sentence_for
from lmviz.app.workers.threads import compute_with
from lmviz.app.workers.training_worker import TrainingWorker
from lmviz.families import find_family
from lmviz.runs import preparation
from lmviz.runs.further import one_step_further
from lmviz.runs.new_folder import new_folder
from lmviz.text.resources import data_folder
from lmviz.training.controls import Controls

if TYPE_CHECKING:
    from lmviz.app.session.library import Library
    from lmviz.app.session.open_text import OpenText
    from lmviz.app.session.opened_model import OpenedModel
    from lmviz.app.session.permission import Permission
    from lmviz.app.session.training_plan import TrainingPlan
    from lmviz.app.session.work import Work
    from lmviz.models.model_configuration import ModelConfiguration
    from lmviz.models.tuning_configuration import TuningConfiguration
    from lmviz.runs.preparation import PreparedTraining
    from lmviz.text.corpus import Corpus
    from lmviz.training.options import TrainingOptions
    from lmviz.training.run import Run

LOOK_EVERY = 250  # milliseconds

NO_TEXT = "There is no text to learn from: open one under Corpus."
BUSY = "A model is being trained already: stop it first."
RACING = "A race is under way: stop it first."
PREPARING_TEXT = "preparing the text…"
TIMING = "timing a step…"
PREPARING_MODEL = "preparing the model…"


class OtherTrainings(Protocol):
    """Trainings that another part drives, and which none may begin beside."""

    @property
    def is_active(self) -> bool:
        """Whether one is under way or paused."""

    def state_of(self, folder: Path) -> TrainingState | None:
        """How the training of the run in a folder stands; None where it has none of it."""


class Training(Part):
    """Trains one model at a time, in its own thread, and shows its newest snapshots meanwhile."""

    changed = Signal()
    text_missing = Signal(str)
    live_failed = Signal(str)
    """The current weights could not be shown; `library.step_changed` follows once they can."""

    def __init__(
        self,
        work: Work,
        permission: Permission,
        text: OpenText,
        library: Library,
        plan: TrainingPlan,
        runs_folder: Path | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._work, self._text, self._library, self._plan = work, text, library, plan
        self._permission = permission
        self.runs_folder = runs_folder or data_folder() / "runs"
        self._state = TrainingState()
        self._worker: TrainingWorker | None = None
        self._controls = Controls()
        self._begun_with: Plan | None = None
        self._trained: OpenedModel | None = None  # the model of the training, once it is open
        self._further = GoingFurther(text, library, plan)
        self._live = LiveWeights(work, library, self.live_failed.emit)
        self._histories = RunHistories(work, self.failed.emit, self.changed.emit)
        self._others: list[Callable[[], Callable[[], None]]] = []
        self._race: OtherTrainings | None = None
        self._steps_waiting: float | None = None  # of a training that begins when all is known that it takes
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_EVERY)
        self._timer.timeout.connect(self._empty_mailbox)
        for settled in (text.changed, plan.timed, work.ready_changed):
            settled.connect(self._begin_when_settled)
        for given_up in (text.reading_given_up, work.failed):
            given_up.connect(self._give_up_waiting)
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
        if (raced := self._raced(model)) is not None:
            return raced
        done = model.snapshots[-1] >= model.description.training.get("steps", 0)
        phase: Phase = "finished" if done else "stopped"
        return TrainingState(phase, None, self.history_of(model), model.folder, model.family)

    def history_of(self, model: OpenedModel) -> History:
        """The curves of a run that is open; those of the one under way grow."""
        if model.folder == self._state.folder:
            return self._state.history
        raced = self._raced(model)
        return self._histories.of(model) if raced is None else raced.history

    @property
    def is_taken(self) -> bool:
        """Whether a model is being trained, be it in a race, so that no other training can begin."""
        return self._state.is_active or (self._race is not None and self._race.is_active)

    @property
    def is_awaited(self) -> bool:
        """Whether a training was asked for, and begins once all is known that it takes."""
        return self._steps_waiting is not None

    def stand_beside(self, race: OtherTrainings) -> None:
        """Begin no training while one of these is under way, and tell how they stand."""
        self._race = race

    def have_others_stop(self) -> list[Callable[[], None]]:
        """Stop what draws from torch's random numbers; each that is returned waits until one has."""
        return [stop() for stop in (self._plan.stop_measuring, *self._others)]

    def start(
        self,
        family: str | None = None,
        configuration: ModelConfiguration | None = None,
        training_options: TrainingOptions | None = None,
    ) -> None:
        """Start a new run; without arguments, as planned."""
        if family is not None and configuration is not None and training_options is not None:
            self._plan.set(family, configuration, training_options)
            self._plan.refuse("")
        self._start_new(math.inf)

    def pause(self) -> None:
        """Pause after the current step."""
        if self._worker is not None:
            self._worker.pause()
            self._empty_mailbox()

    @property
    def trains_shown_model(self) -> bool:
        """Whether the model that is shown is the one that is being trained."""
        model = self._library.model
        return model is not None and self.training_of(model) is not None

    def training_of(self, model: OpenedModel) -> TrainingState | None:
        """How the training of a model stands that is being trained now; None where it is not."""
        state = self._state if model.folder == self._state.folder else self._raced(model)
        return state if state is not None and state.is_active else None

    @property
    def is_following(self) -> bool:
        """Whether a training is running and its newest weights are shown."""
        return self._library.live and self.trains_shown_model

    @property
    def can_resume(self) -> bool:
        """Whether there is something for `resume`: a paused training, or the shown run."""
        if self._state.is_active:
            return self._state.phase == "paused"
        return not self._further.obstacle

    @property
    def further_steps(self) -> int:
        """How many steps `resume` would make; 0 where it can make none."""
        return 0 if self._state.is_active else self._further.steps

    @property
    def obstacle(self) -> str:
        """Why the model that is shown cannot be trained further; "" when it can."""
        return self._further.obstacle

    @property
    def can_go_on(self) -> bool:
        """Whether the training that ended last can be resumed where it stopped."""
        model, training = self._library.model, self._state
        if model is None or training.phase not in ("stopped", "failed"):
            return False
        return model.folder == training.folder and not model.unsaved

    def resume(self) -> None:
        """Go on: with the training that waits, otherwise with the run that is shown, where it stopped.

        A run goes on as `GoingFurther` says. Where the plan's learning rate was changed since that training
        ended, it goes on with that rate. The plan becomes that of the run, and the run is followed live.
        """
        if self._worker is not None:
            self._controls.observe = False
            self._worker.go_on()
            self._empty_mailbox()
        else:
            self._start_again(math.inf)

    def step(self) -> None:
        """One step of the training under way or of the run that is shown, then wait.

        Only where no model is open a new run begins. The step is observed: `state.observed` has its parts.
        """
        if self._worker is not None:
            self._controls.observe = True
            self._worker.step()
            self._empty_mailbox()
        elif self._steps_waiting is not None:
            self._steps_waiting = 1
        elif self._library.model is not None:
            self._start_again(1)
        else:
            self._start_new(1)

    def step_of_a_new_run(self) -> None:
        """Begin a run as planned, and wait after its first step, which is observed."""
        self._start_new(1)

    def stop(self) -> None:
        """Stop after the current step. The run stays, and can be resumed."""
        if self._worker is not None:
            self._worker.stop()
        self._give_up_waiting()

    def stop_before(self, stop: Callable[[], Callable[[], None]]) -> None:
        """Have something stopped before a training begins; what `stop` returns waits until it has."""
        self._others.append(stop)

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
        if self._hindrance:
            self.failed.emit(self._hindrance)
        elif self._plan.problem:
            self.failed.emit(self._plan.problem)
        elif self._text.corpus is None and not self._text.is_opening:
            self.failed.emit(NO_TEXT)
            self.text_missing.emit(NO_TEXT)
        else:
            self._steps_waiting = steps
            self._begin_when_settled()

    def is_hindered_by(self, sentence: str) -> bool:
        """Whether this sentence says why no training could begin now."""
        no_text = "" if self._text.corpus is not None else NO_TEXT
        return sentence in (self._hindrance, self._plan.problem, self._further.obstacle, no_text)

    @property
    def _hindrance(self) -> str:
        """What has to end before a training can begin; "" where nothing has."""
        return "" if not self.is_taken else BUSY if self._state.is_active else RACING

    def _raced(self, model: OpenedModel) -> TrainingState | None:
        return None if self._race is None else self._race.state_of(model.folder)

    def _begin_new(self, plan: Plan, corpus: Corpus, steps: float) -> None:
        folder = new_folder(self.runs_folder, f"{plan.family} {corpus.name}")
        self._begun_with = plan
        self._plan.begin_timing(corpus.fingerprint)
        state = TrainingState(
            "preparing",
            folder=folder,
            family=plan.family,
            subject=self._plan.in_words,
            doing=PREPARING_MODEL,
        )
        planned = plan.family, plan.configuration, plan.training_options
        begin = lambda controls: preparation.begin_run(*planned, corpus, folder, controls)  # noqa: E731
        self._start(begin, folder, state, steps)

    def start_tuning(
        self,
        model: OpenedModel,
        step: int | None,
        chosen: TuningConfiguration,
        options: TrainingOptions,
        corpus: Corpus,
        second: Path | None = None,
    ) -> None:
        """Begin a run that trains an opened model further, from a step of it where it has several.

        The text may be read in other tokens than those of the model: it is read again with these. On the
        file of a `second` text the loss is measured as well.
        """
        if self._hindrance:
            self.failed.emit(self._hindrance)
            return
        self._give_up_waiting()
        folder = new_folder(self.runs_folder, f"{chosen.adapter} {corpus.name}")
        self._begun_with = None
        self._plan.begin_timing("")  # what is planned beside it is not what is trained
        layers = int(model.description.configuration.get("layers", 0))
        state = TrainingState(
            "preparing",
            folder=folder,
            family=model.family,
            subject=f"{chosen.in_words(layers)} of {model.name} on {corpus.name}",
            doing=PREPARING_MODEL,
        )
        place = model.folder
        begin = lambda controls: _tune(place, step, chosen, options, corpus, folder, second, controls)  # noqa: E731
        self._start(begin, folder, state, math.inf)

    def _begin_when_settled(self) -> None:
        """Begin the training that waits, once its text is there and it is known how many steps it takes."""
        steps, plan, corpus = self._steps_waiting, self._plan.current, self._text.corpus
        if steps is None:
            return
        if self._text.is_opening or corpus is None:
            self._wait(PREPARING_TEXT)
        elif not self._plan.is_settled:
            self._wait(TIMING)
            self._plan.settle()
        else:
            self._steps_waiting = None
            self._begin_new(plan, corpus, steps)

    def _wait(self, doing: str) -> None:
        state = TrainingState("preparing", family=self._plan.current.family, doing=doing)
        if state != self._state:
            self._enter(state)

    def _give_up_waiting(self) -> None:
        """What a training has waited for does not come, or nobody waits for it any more."""
        if self._steps_waiting is not None:
            self._steps_waiting = None
            self._enter(TrainingState())

    def _start_again(self, steps: float) -> None:
        """Train the shown run on, once its folder has answered whether that can be."""
        model = self._library.model
        if model is None or self._hindrance:
            self._start_known(steps)
        else:
            self._library.refresh_snapshots(model.folder, then=lambda: self._start_known(steps))

    def _start_known(self, steps: float) -> None:
        model, obstacle = self._library.model, self._hindrance or self._further.obstacle
        if model is None or obstacle:
            self.failed.emit(obstacle)
            return

        corpus = self._text.corpus
        if corpus is not None and corpus.fingerprint == model.description.fingerprint:
            self._go_further(model, corpus, steps)
            return

        def go() -> None:
            if self._hindrance:  # another has begun meanwhile
                self.failed.emit(self._hindrance)
            else:
                self._go_further(model, None, steps)

        again = partial(self._start_again, steps)
        self._permission.read_once_allowed("training", model.run, go, again, self)

    def _go_further(self, model: OpenedModel, text: Corpus | None, steps: float) -> None:
        """Train a run on, with its text; without, that is read again."""
        description, history = model.description, self.history_of(model)
        rate, is_last = self._plan.current.training_options.learning_rate, model.folder == self._state.folder
        begun = None if self._begun_with is None else self._begun_with.training_options.learning_rate
        if is_last and rate == begun:
            chosen = self._controls.learning_rate
            rate = rate if chosen is None else chosen
        changed = is_last and rate != begun
        done = model.snapshots[-1]
        options = one_step_further(description, done) if steps == 1 else self._further.options(model)
        self._further.plan_run(model, replace(options, learning_rate=rate) if changed else options)
        self._begun_with = self._plan.current
        self._plan.begin_timing(description.fingerprint)
        tokenizer = str(description.corpus.get("options", {}).get("tokenizer", ""))
        configuration = find_family(model.family).configuration.from_values(description.configuration)
        state = TrainingState(
            "preparing",
            history=history,
            folder=model.folder,
            family=model.family,
            subject=in_words(
                model.family,
                str(description.corpus.get("name", "")),
                tokenizer,
                description.task,
                configuration.reads_for(description.task),
            ),
            doing=PREPARING_TEXT if text is None else PREPARING_MODEL,
        )
        self._library.follow_live(True)
        begin = lambda controls: _resume(model.run, text, options, controls)  # noqa: E731
        self._start(begin, model.folder, state, steps, rate if changed else None)

    def _forget_closed(self) -> None:
        """Forget what is known of runs that are open no more, and of one in whose place lies another now."""
        self._histories.forget_all_but(self._library.models)
        trained, before = self._opened, self._trained
        if trained is None or (before is not None and before.identity == trained.identity):
            return
        is_replaced = before is not None and before.folder == trained.folder
        if is_replaced and self._state.is_active:  # that training says itself what has happened
            return
        self._trained = trained
        if is_replaced:
            self._enter(TrainingState())

    @property
    def _opened(self) -> OpenedModel | None:
        """The model of the training as it is open; None while it is not."""
        return next((model for model in self._library.models if model.folder == self._state.folder), None)

    def _start(
        self,
        begin: Callable[[Controls], PreparedTraining],
        folder: Path,
        state: TrainingState,
        steps: float,
        learning_rate: float | None = None,
    ) -> None:
        if (trained := self._opened) is not None:
            self._histories.keep(trained, self._state.history)
        controls = Controls()
        controls.learning_rate = learning_rate
        controls.observe = steps == 1
        self._controls = controls
        self._live.begin(folder)
        waits = self.have_others_stop()
        self._worker = TrainingWorker(lambda: _alone(waits, lambda: begin(controls)), steps)
        self._worker.start()
        self._timer.start()
        self._enter(state)
        self._trained = self._opened

    def _empty_mailbox(self) -> None:
        """Empty the worker's mailbox; called by the timer, in the window's thread."""
        worker = self._worker
        if worker is None:
            return
        is_finished = not worker.is_alive()  # asked first: what it left behind is then all there is
        taken = worker.take_news()
        for progress in taken:
            self._state.history.append(progress)
            self._plan.note_progress(progress)
        newest = taken[-1] if taken else self._state.progress
        observed = next((item.observed for item in reversed(taken) if item.observed), self._state.observed)
        state = replace(self._state, progress=newest, phase=_phase(worker), observed=observed)
        if is_finished:
            state = _ended(worker, state)
            self._forget_worker()
            self._give_rate_back()
        if state != self._state:
            self._enter(state)
        has_begun = state.progress is not None
        is_saved = any(progress.snapshot is not None for progress in taken)
        if state.folder is not None and ((is_finished and has_begun) or is_saved):
            self._live.show_snapshots(state.folder)
        elif state.folder is not None and is_finished:  # its folder may not be there
            self._library.refresh_snapshots(state.folder)
        if not is_finished:
            self._live.update_from(worker)

    def _enter(self, state: TrainingState) -> None:
        self._state = state
        self.changed.emit()
        if state.sentence:
            self.failed.emit(state.sentence)

    def _give_rate_back(self) -> None:
        """Plan with the rate that the training began with: one that was chosen on its way is its own.

        What is planned meanwhile instead of it keeps its own rate.
        """
        begun, now = self._begun_with, self._plan.current
        if begun is not None and (begun.family, begun.configuration) == (now.family, now.configuration):
            rate = begun.training_options.learning_rate
            self._plan.change(training_options=replace(now.training_options, learning_rate=rate))

    def _forget_worker(self) -> None:
        self._timer.stop()
        self._worker = None


def make_way(waits: Sequence[Callable[[], None]]) -> None:
    """In the thread of a training: begin with all cores, once nobody else draws torch's random numbers."""
    compute_with(None)
    for wait in waits:
        wait()


def _alone(waits: Sequence[Callable[[], None]], begin: Callable[[], PreparedTraining]) -> PreparedTraining:
    make_way(waits)
    return begin()


def _resume(
    run: Run, corpus: Corpus | None, options: TrainingOptions, controls: Controls
) -> PreparedTraining:
    """Go on with a run; its text is read again where it is not given."""
    from lmviz.api.training import corpus_of

    return preparation.resume_run(run, corpus or corpus_of(run), options, controls)


def _tune(
    place: Path,
    step: int | None,
    chosen: TuningConfiguration,
    options: TrainingOptions,
    corpus: Corpus,
    folder: Path,
    second: Path | None,
    controls: Controls,
) -> PreparedTraining:
    """Begin to train the model at a place further."""
    from lmviz.api.training import corpus_for
    from lmviz.runs.tuning_start import begin_with

    start = begin_with(place, chosen, step)
    context = start.base.context
    if context is not None and options.length > context:
        options = replace(options, length=context)
    read = corpus_for(start.base, corpus)
    other = None if second is None else corpus_for(start.base, second)
    return preparation.begin_tuning(start, options, read, folder, controls, second=other)


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
