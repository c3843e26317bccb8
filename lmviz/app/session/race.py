"""A race from the window: lanes made, begun, paused, forked and resumed; and how they stand.

Its lanes are runs like any others: the library opens them with their first snapshot, Compare takes them, and
the time slider takes all of them to the same step.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from lmviz.app.session.part import Part
from lmviz.app.session.race_lane import RaceLane, free_colors, in_colors, labelled, lanes_of_plan, read_lane
from lmviz.app.session.race_models import RaceModels
from lmviz.app.session.training import BUSY, LOOK_EVERY, NO_TEXT, RACING, make_way
from lmviz.app.workers.faults import sentence_for
from lmviz.app.workers.race_worker import RaceWorker
from lmviz.base.errors import LmvizError
from lmviz.runs.new_folder import new_folder
from lmviz.runs.race_folder import RaceFolder, open_race
from lmviz.training.race import check_lanes, check_turns
from lmviz.training.run import Run

if TYPE_CHECKING:
    from lmviz.app.session.comparison import Comparison
    from lmviz.app.session.library import Library
    from lmviz.app.session.open_text import OpenText
    from lmviz.app.session.opened_model import OpenedModel
    from lmviz.app.session.permission import Permission
    from lmviz.app.session.training import Training
    from lmviz.app.session.training_plan import TrainingPlan
    from lmviz.app.session.training_state import TrainingState
    from lmviz.app.session.work import Work
    from lmviz.app.workers.race_worker import Begin, LaneNews
    from lmviz.runs.racing import PlannedLane
    from lmviz.text.corpus import Corpus
    from lmviz.training.race import Lane

NO_LANES = "There are no lanes to train: add some under Race."
OTHER_TEXT = "The lanes of this race learned from another text: open it under Corpus, or make a new race."


class CurrentRace(Part):
    """Up to six trainings that take turns in one thread. Lanes are called by their names."""

    changed = Signal()
    offered = Signal()
    """Another perspective has made a lane, or a race was opened: for a person to look at."""

    def __init__(
        self,
        work: Work,
        permission: Permission,
        text: OpenText,
        library: Library,
        plan: TrainingPlan,
        training: Training,
        comparison: Comparison,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._work, self._permission, self._text, self._library = work, permission, text, library
        self._plan, self._training = plan, training
        self._lanes: tuple[RaceLane, ...] = ()
        self._driven: dict[str, Lane] = {}  # those that the thread has made ready
        self._unreadable: dict[str, Path] = {}
        self._folder: Path | None = None
        self._turns = "steps"
        self._hidden: frozenset[str] = frozenset()
        self._chosen = ""
        self._models = RaceModels(library, comparison, lambda: self._lanes, self.changed.emit)
        self._worker: RaceWorker | None = None
        self._let_go: list[RaceWorker] = []  # which may still be making their last step
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_EVERY)
        self._timer.timeout.connect(self._empty_mailbox)
        training.stand_beside(self)
        training.stop_before(self._await_what_was_let_go)
        self.changed.connect(training.changed)

    @property
    def lanes(self) -> tuple[RaceLane, ...]:
        """The lanes in their order."""
        return self._lanes

    @property
    def folder(self) -> Path | None:
        """Where their runs lie; None before the first has begun."""
        return self._folder

    @property
    def turns(self) -> str:
        """Whose turn it is: that of the lane with the fewest "steps" or "seconds"."""
        return self._turns

    @property
    def is_active(self) -> bool:
        """Whether lanes are being trained, or rest."""
        return self._worker is not None

    @property
    def is_paused(self) -> bool:
        """Whether all lanes rest."""
        return self._worker is not None and self._worker.is_paused

    @property
    def can_go_on(self) -> bool:
        """Whether there is something for `go_on`: lanes that wait, rest or were stopped."""
        return self.is_paused or any(lane.can_go_on for lane in self._lanes)

    @property
    def obstacle(self) -> str:
        """Why nothing can be begun now; "" when it can."""
        if self._training.state.is_active:
            return BUSY
        waits = any(lane.phase == "waiting" for lane in self._lanes)
        corpus = self._text.corpus
        if (waits or not self._lanes) and corpus is None:
            return NO_TEXT
        if not self._work.is_ready:
            return "torch is being loaded."
        begun = self._begun_lane
        if waits and corpus is not None and begun is not None:
            return "" if self._fits(begun, corpus) else OTHER_TEXT
        return ""

    @property
    def needed_memory(self) -> int | None:
        """Bytes that the lanes which train or wait take together; None while no text is open."""
        from lmviz.training.cost import cost_on

        corpus = self._text.corpus
        lanes = [lane.planned for lane in self._lanes if lane.is_active or lane.can_go_on]
        if corpus is None:
            return None
        return sum(cost_on(lane.configuration, lane.options, corpus).bytes for lane in lanes)

    @property
    def chosen(self) -> RaceLane | None:
        """The lane that is looked at more closely: whose model is shown, or one that has none yet."""
        chosen, shown = self._lane(self._chosen), self._library.model
        if chosen is not None and self.opened(chosen) is None:
            return chosen
        looked_into = (lane for lane in self._lanes if shown is not None and lane.folder == shown.folder)
        return next(looked_into, None) or chosen or next(iter(self._lanes), None)

    @property
    def hidden(self) -> frozenset[str]:
        """The names of lanes that are not drawn."""
        return self._hidden

    def opened(self, lane: RaceLane) -> OpenedModel | None:
        """Its model as it is open; None while it is not."""
        return self._models.of(lane)

    def state_of(self, folder: Path) -> TrainingState | None:
        """How the training of the run in a folder stands; None where it is no lane."""
        lane = next((lane for lane in self._lanes if lane.folder == folder), None)
        return None if lane is None else lane.training_state

    def choose(self, name: str) -> None:
        """Look at a lane more closely, and into its model where that is open."""
        lane = self._lane(name)
        if lane is None:
            return
        self._chosen = name
        opened = self.opened(lane)
        if opened is not None and opened != self._library.model:
            self._library.choose(opened, None if self._library.live else self._library.step)
        self.changed.emit()

    def hide(self, names: Collection[str]) -> None:
        """Draw all lanes but these, and compare all but these."""
        if frozenset(names) == self._hidden:
            return
        self._hidden = frozenset(names)
        hidden = {lane.folder for lane in self._lanes if lane.name in names and lane.folder is not None}
        self._models.leave_out(hidden)
        self.changed.emit()

    def set_turns(self, turns: str) -> None:
        """Let lanes take turns by "steps" or by "seconds", from the next start on."""
        self._turns = check_turns(turns)
        self.changed.emit()

    def add(self, varied: Mapping[str, Sequence[Any]] | None = None) -> None:
        """Make lanes of what is planned in Train: one, or one for each value of some settings."""
        lists = {name: list(given) for name, given in (varied or {}).items()}
        plan = self._plan.current
        try:
            planned = lanes_of_plan(plan, lists)
            check_lanes(len(self._lanes) + len(planned))
            if self._plan.problem:
                raise LmvizError(self._plan.problem)
        except LmvizError as sentence:
            self.failed.emit(str(sentence))
            return
        added = [replace(lane, name=lane.name if lists else plan.family) for lane in planned]
        colors = free_colors(self._taken_colors(), len(added))
        named = self._named_apart(added)
        new = (RaceLane(lane, color) for lane, color in zip(named, colors, strict=True))
        self.begun.emit()
        self._set_lanes((*self._lanes, *new))

    def offer(self) -> None:
        """Make a lane of what is planned in Train, and show the race."""
        self.add()
        self.offered.emit()

    def remove(self, name: str) -> None:
        """Take out a lane that waits, or that could not begin."""
        gone = ("waiting", "failed")
        self._set_lanes(lane for lane in self._lanes if lane.name != name or lane.phase not in gone)

    def clear(self) -> None:
        """Begin another race: this one's models are closed, and its runs stay where they are."""
        if self.is_active:
            self.failed.emit(RACING)
            return
        models = [opened for opened in map(self.opened, self._lanes) if opened is not None]
        self._folder, self._hidden, self._chosen, self._unreadable = None, frozenset(), "", {}
        self._models.forget()
        self._set_lanes(())
        for opened in models:
            self._library.close(opened)

    def go_on(self, name: str = "") -> None:
        """Begin the lanes that wait, go on with those that rest, and resume those that were stopped.

        With a name, go on with the lane that rests alone.
        """
        worker = self._worker
        if name:
            self._let_rest(name, False)
        elif worker is None:
            self._begin_ready(("waiting", "stopped"))
        else:
            if any(lane.phase == "waiting" for lane in self._lanes):
                self._begin_ready(("waiting",))
            worker.go_on()
            self._empty_mailbox()

    def pause(self, name: str = "") -> None:
        """Let all lanes rest after the step under way, or one of them."""
        if name:
            self._let_rest(name, True)
        elif self._worker is not None:
            self._worker.pause()
            self._empty_mailbox()

    def step(self) -> None:
        """One step of each lane, then rest."""
        if self._worker is not None:
            self._worker.step()
            self._empty_mailbox()

    def stop(self, name: str = "") -> None:
        """End all lanes after the step under way, or one of them. Their runs stay, and can be resumed."""
        if self._worker is not None and not name:
            self._worker.stop()
        elif self._worker is not None and name in self._driven:
            self._driven[name].controls.stop = True
            self._worker.look_again()

    def let_go(self) -> None:
        """Stop all lanes, and wait for none: the race is over now. Their runs stay, and can be resumed."""
        if self._worker is not None:
            self._worker.stop()
            self._let_go.append(self._worker)
            self._forget_worker(self._lanes)

    def set_learning_rate(self, rate: float | None, name: str = "") -> None:
        """Train on with another learning rate, one lane or all; None gives each its schedule back.

        LmvizError for one that no training can have.
        """
        for lane in self._lanes:
            if lane.is_active and lane.name in self._driven and name in ("", lane.name):
                self._driven[lane.name].controls.learning_rate = rate
        self._set_lanes(map(self._with_rate, self._lanes))

    def fork(self, folder: Path, step: int, changes: Mapping[str, Any]) -> None:
        """Begin a lane with what a run was at a step, with some settings changed, once its folder answers."""
        limits = self._permission.limits()

        def look() -> tuple[Run, dict[str, str]]:
            run = Run.open(folder)
            return run, limits.outside_of_run(run)

        def take(found: tuple[Run, dict[str, str]]) -> None:
            self._fork(*found, step, changes)

        self._work.look_into(f"fork of {folder} at {step}, {changes}", look, take, self)

    def _fork(self, run: Run, outside: dict[str, str], step: int, changes: Mapping[str, Any]) -> None:
        from lmviz.api.training import split_settings
        from lmviz.runs.further import further_options
        from lmviz.runs.racing import PlannedLane

        folder = Path(run.folder)
        try:
            check_lanes(len(self._lanes) + 1)
            if self._training.state.is_active:
                raise LmvizError(BUSY)
            before = run.description
            values = {**before.configuration, **before.training, **changes}
            configuration, options = split_settings(before.family, values)
            options = options if "steps" in changes else further_options(before, step, options)
        except LmvizError as sentence:
            self.failed.emit(str(sentence))
            return
        parent = next((lane for lane in self._lanes if lane.folder == folder), None)
        said = ", ".join(f"{name}={value}" for name, value in changes.items())
        name = f"{folder.name}@{step}" + (f", {said}" if said else "")
        [planned] = self._named_apart([PlannedLane(name, before.family, configuration, options)])
        color = free_colors(self._taken_colors(), 1)[0] if parent is None else parent.color
        origin = folder.name if parent is None else parent.name
        lane = RaceLane(planned, color, parent=origin, left_at=step)
        again = partial(self.fork, folder, step, changes)
        self._begin((*(self._lanes), lane), (run, outside), again, forked=(planned.name, run, step))

    def open(self, race: Path | tuple[RaceLane, ...]) -> None:
        """Open a race that lies in a folder, each of its lanes like a run; or lanes that waited before."""
        if self.is_active:
            self.failed.emit(RACING)
            return
        if isinstance(race, tuple):
            self.clear()
            self._set_lanes(race)
            return
        folder = race

        def work() -> tuple[RaceFolder, dict[str, RaceLane | str]]:
            race = open_race(folder)
            check_lanes(len(race.lanes))
            return race, {name: read_lane(name, place) for name, place in race.lanes.items()}

        self._work.ask("open race", work, lambda found: self._take_opened(*found), self)

    def close(self) -> None:
        """Stop the race, leaving runs that can be resumed; `Work.close` waits for the thread."""
        self.let_go()
        for worker in self._let_go:
            self._work.wait_when_closing(worker)

    @property
    def _begun_lane(self) -> RaceLane | None:
        return next((lane for lane in self._lanes if lane.folder is not None), None)

    def _begin_ready(self, phases: Collection[str]) -> None:
        """Have the lanes in these phases begin, once the folder of one that has begun before has answered."""
        folders = [lane.folder for lane in self._lanes if lane.folder is not None and lane.knows_training]
        again = partial(self._begin_ready, phases)
        if not folders:
            self._begin(self._ready_to_begin(phases), None, again)
            return
        limits = self._permission.limits()

        def look() -> tuple[Run, dict[str, str]]:
            run = _first_readable(folders)
            return run, limits.outside_of_run(run)

        def take(found: tuple[Run, dict[str, str]]) -> None:
            self._begin(self._ready_to_begin(phases), found, again)

        self._work.look_into(f"race in {self._folder}", look, take, self)

    def _fits(self, lane: RaceLane, corpus: Corpus) -> bool:
        """Whether a lane learned from a text; one of which nothing is written yet does."""
        opened = self.opened(lane)
        return opened is None or opened.description.fingerprint == corpus.fingerprint

    def _taken_colors(self) -> list[int]:
        return [lane.color for lane in self._lanes] + [model.color_index for model in self._library.models]

    def _named_apart(self, planned: Sequence[PlannedLane]) -> list[PlannedLane]:
        """The same, each with a name that no other lane and no other folder has."""
        taken = {lane.planned.folder_name for lane in self._lanes} | set(self._unreadable)
        named = []
        for lane in planned:
            base, number = lane.name, 1
            while lane.folder_name in taken:
                number += 1
                lane = replace(lane, name=f"{base} ({number})")
            taken.add(lane.folder_name)
            named.append(lane)
        return named

    def _let_rest(self, name: str, rests: bool) -> None:
        if name in self._driven and self._worker is not None:
            self._driven[name].is_paused = rests
            self._worker.look_again()
            self._empty_mailbox()

    def _lane(self, name: str) -> RaceLane | None:
        return next((lane for lane in self._lanes if lane.name == name), None)

    def _rests(self, lane: RaceLane) -> bool:
        return lane.name in self._driven and self._driven[lane.name].is_paused

    def _with_rate(self, lane: RaceLane) -> RaceLane:
        """A lane with the rate that it is trained with: one that is resumed goes on with its own."""
        driven = self._driven.get(lane.name)
        return lane if driven is None else replace(lane, rate=driven.controls.learning_rate)

    def _set_lanes(self, lanes: Any) -> None:
        self._lanes = labelled(lanes)
        self.changed.emit()

    def _ready_to_begin(self, phases: Collection[str]) -> tuple[RaceLane, ...]:
        """The lanes, those in these phases as they are while they are made ready."""
        return tuple(
            replace(lane, phase="preparing", sentence="") if lane.phase in phases else lane
            for lane in self._lanes
        )

    def _begin(
        self,
        lanes: tuple[RaceLane, ...],
        looked: tuple[Run, dict[str, str]] | None,
        again: Callable[[], object],
        forked: tuple[str, Run, int] | None = None,
    ) -> None:
        """Have lanes begin that wait and resume those that stopped, or one fork.

        `looked` is a run that has begun, and which files of its text a person has to be asked about, whose
        yes calls `again`.
        """
        obstacle = "" if forked else self.obstacle or ("" if lanes else NO_LANES)
        corpus = self._text.corpus
        source, outside = looked or (None, {})
        if source is not None and (corpus is None or corpus.fingerprint != source.description.fingerprint):
            corpus = None
        if obstacle or (corpus is None and source is None):
            self.failed.emit(obstacle or NO_TEXT)
            return
        if corpus is None and source is not None:
            if outside:
                self._permission.ask_person(outside, source.description.name, again)
                return
        elif corpus is not None and (sentence := _lack_of_memory(lanes, corpus)):
            self.failed.emit(sentence)
            return
        if self._folder is None:
            name = _text_name(corpus, source)
            self._folder = new_folder(self._training.runs_folder, f"race {lanes[0].planned.family} {name}")
        text, prepared = _text_of(corpus, source), list[RaceLane]()
        begins: list[Begin] = []
        if corpus is not None and corpus.training_examples is not None:
            lanes = tuple(lane if lane.folder else lane.of_examples() for lane in lanes)
        for lane in lanes:
            is_fork = forked is not None and lane.name == forked[0]
            waits = forked is None and lane.phase == "preparing" and lane.name not in self._driven
            if is_fork or waits:
                place = lane.folder or self._folder / lane.planned.folder_name
                parent = None if forked is None else forked[1:]
                begins.append((lane.name, partial(_made_ready, lane, place, text, parent)))
                lane = replace(lane, phase="preparing", folder=place)
            prepared.append(lane)
        self._drive(begins, prepared)

    def _drive(self, begins: Sequence[Begin], lanes: Sequence[RaceLane]) -> None:
        """Hand lanes to the thread that drives the race, which begins where there is none."""
        places = {lane.name: lane.folder for lane in lanes if lane.folder is not None} | self._unreadable
        race = RaceFolder(self._folder or Path(), self._turns, places)
        if begins and (self._worker is None or not all(map(self._worker.add, begins))):
            if self._worker is not None:
                self._empty_mailbox()
                self._worker = None
            waits = self._training.have_others_stop()
            self._driven = {}
            self._worker = RaceWorker(begins, self._turns, partial(make_way, waits), race.save)
            self._worker.start()
            self._timer.start()
            self._library.follow_live(True)
        if begins:
            self.begun.emit()
        self._set_lanes(lanes)

    def _empty_mailbox(self) -> None:
        """Empty the worker's mailbox; called by the timer, in the window's thread."""
        worker = self._worker
        if worker is None:
            return
        is_finished = not worker.is_alive()  # asked first: what it left behind is then all there is
        news, saved = worker.take_news(), dict[str, None]()
        lanes = {lane.name: lane for lane in self._lanes}
        for item in news:
            if item.name in lanes:
                lanes[item.name] = self._told(lanes[item.name], item)
                if item.fault is not None and lanes[item.name].parent:
                    del lanes[item.name]  # of a fork that was refused there is nothing
                    continue
                if item.progress is not None and (
                    item.progress.snapshot is not None or item.progress.is_last
                ):
                    saved[item.name] = None
        for name, lane in lanes.items():
            if lane.phase in ("running", "paused"):
                rests = worker.is_paused or self._rests(lane)
                lanes[name] = replace(self._with_rate(lane), phase="paused" if rests else "running")
        if is_finished:
            self._forget_worker(lanes.values())
            if worker.fault is not None:
                self.failed.emit(sentence_for(worker.fault, "The race"))
        elif news or [*lanes.values()] != [*self._lanes]:
            self._set_lanes(lanes.values())
        for name in saved:
            self._models.show_snapshots(lanes[name])

    def _forget_worker(self, lanes: Iterable[RaceLane]) -> None:
        """No thread drives the lanes any more: those that were still active are resumed where they are."""
        self._timer.stop()
        self._worker = None
        self._driven = {}
        self._set_lanes(
            replace(lane, phase="stopped" if lane.step else "waiting") if lane.is_active else lane
            for lane in lanes
        )

    def _await_what_was_let_go(self) -> Callable[[], None]:
        """What waits until the last steps of races that were let go are written."""
        workers = self._let_go = [worker for worker in self._let_go if worker.is_alive()]

        def wait() -> None:
            for worker in workers:
                worker.join()

        return wait

    def _told(self, lane: RaceLane, item: LaneNews) -> RaceLane:
        """A lane after something has happened to it."""
        if item.fault is not None:
            sentence = sentence_for(item.fault, "Training")
            self.failed.emit(f"{lane.label or lane.name}: {sentence}")
            return replace(lane, phase="failed", sentence=sentence)
        if item.lane is not None:
            self._driven[item.name] = item.lane
            if item.lane.trouble:
                return replace(lane, phase="failed", sentence=item.lane.trouble)
            return lane.begun()
        progress = item.progress
        assert progress is not None, "news without anything"
        was_told_to_stop = item.name in self._driven and self._driven[item.name].controls.stop
        return lane.moved(progress, was_told_to_stop)

    def _take_opened(self, race: RaceFolder, found: Mapping[str, RaceLane | str]) -> None:
        """A race was read: its lanes are those that could be."""
        lanes = [lane for lane in found.values() if isinstance(lane, RaceLane)]
        faults = [fault for fault in found.values() if isinstance(fault, str)]
        self.clear()
        self.begun.emit()
        if faults:
            self.failed.emit(faults[0])
        if not lanes:
            return
        self._folder, self._turns = race.folder, race.turns
        self._unreadable = {name: race.lanes[name] for name in found if isinstance(found[name], str)}
        own = {lane.folder for lane in lanes}
        taken = [model.color_index for model in self._library.models if model.folder not in own]
        self._set_lanes(in_colors(lanes, taken))
        for lane in self._lanes:
            self._models.open(lane)
        self.offered.emit()


def _text_of(corpus: Corpus | None, run: Run | None) -> Callable[[], Corpus]:
    """What lanes learn from: a text that is open, or that of a run, read once where it is first needed."""
    from lmviz.api.training import corpus_of

    if corpus is not None:
        return lambda: corpus
    assert run is not None, "there is a text or a run"
    return cache(lambda: corpus_of(run))


def _first_readable(folders: Sequence[Path]) -> Run:
    """The first run that can be read, of lanes that have begun; LmvizError where none can."""
    faults = list[LmvizError]()
    for folder in folders:
        try:
            return Run.open(folder)
        except LmvizError as fault:
            faults.append(fault)
    raise faults[0]


def _made_ready(
    lane: RaceLane, folder: Path, text: Callable[[], Corpus], parent: tuple[Run, int] | None
) -> Lane:
    """A lane in the thread of the race: begun, resumed, or forked from what a run was at a step."""
    from lmviz.runs.racing import begin_lane, fork_lane, resume_lane

    if parent is not None:
        return fork_lane(lane.planned, *parent, text(), folder)
    if lane.folder is None:
        return begin_lane(lane.planned, text(), folder)
    return resume_lane(lane.name, Run.open(folder), text())


def _text_name(corpus: Corpus | None, run: Run | None) -> str:
    if corpus is not None:
        return corpus.name
    return "" if run is None else str(run.description.corpus.get("name", ""))


def _lack_of_memory(lanes: Sequence[RaceLane], corpus: Corpus) -> str:
    """Why the machine has not the memory for these lanes; "" where it has."""
    from lmviz.runs.racing import needed_memory

    try:
        needed_memory([lane.planned for lane in lanes if lane.is_active], corpus)
    except LmvizError as sentence:
        return str(sentence)
    return ""
