"""The open models, which of them is shown, and at which step of its training."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.opened_model import Moment, OpenedModel
from lmviz.app.session.part import Part
from lmviz.app.session.watched_runs import WatchedRuns
from lmviz.app.session.work import Failed, Work
from lmviz.app.workers.model_cache import ModelCache
from lmviz.base.counting import count_from, counted_from
from lmviz.base.errors import LmvizError
from lmviz.families import FAMILIES, DamagedSnapshot
from lmviz.runs.further import without_state
from lmviz.runs.run_title import title_of
from lmviz.training.run import Run

if TYPE_CHECKING:
    from lmviz.interchange.chosen_bases import NoBase

FIRST_MODEL = "stories-transformer"
"""The sample model that is offered where none is open: every perspective has something to say of it."""

MODEL_OFFER = f"Open {FIRST_MODEL}"

FIRST_TEXT = "stories"
"""What one's own model is trained on where no other text has been opened."""

COLORS = 18
"""So many series of the theme differ in colour: six, and two tints of each."""

_LIVE = "live"
_SNAPSHOTS = "snapshots of "
_LOOK = "look into "
_LOOK_AGAIN = "look again "
"""How the work is called that brings newer weights of a run; the last three before the run's folder."""


class Library(Part):
    """Opens and closes models, and chooses which one is shown, at which step."""

    models_changed = Signal()
    model_changed = Signal()
    model_closed = Signal(object)
    step_changed = Signal()
    live_changed = Signal()
    marks_changed = Signal()
    spelling_changed = Signal()
    """Special tokens in texts are read otherwise, by all models."""
    size_failed = Signal(str)
    """How many n-grams a model has could not be counted; `models_changed` follows once it can."""
    base_wanted = Signal(str, object)
    """An adapter has no model that it could be added to: the sentence, and the adapter's folder."""
    warned = Signal(str)
    """A model that has just been opened is not as it should be, and is open all the same."""

    def __init__(self, work: Work, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work = work
        self._models: tuple[OpenedModel, ...] = ()
        self._model: OpenedModel | None = None
        self._step = 0
        self._live = self._spells_out = False
        self._marks: tuple[tuple[OpenedModel, int, str], ...] = ()
        self._prepared: dict[str | Path, OpenedModel] = {}  # read ahead, by what they will be asked for
        self._waiting: dict[str, list[Callable[[OpenedModel], None]]] = {}  # for what has been asked for
        self._to_show: set[str] = set()  # those of it that will be shown
        self._watched = WatchedRuns(self)
        self._watched.changed.connect(self._look_again)
        self.models_changed.connect(self._watch)
        self.models_changed.connect(self._size_up)
        self.step_changed.connect(self._size_up)

    @property
    def models(self) -> tuple[OpenedModel, ...]:
        """The models that are open."""
        return self._models

    @property
    def model(self) -> OpenedModel | None:
        """The model that the panels look into."""
        return self._model

    @property
    def step(self) -> int:
        """The step of its training at which the model is shown."""
        return self._step

    @property
    def moment(self) -> Moment | None:
        """The model and the step at which it is shown."""
        return None if self._model is None else (self._model, self._step)

    @property
    def shown_moment(self) -> Moment:
        """The same where a model is open, for callers that have made sure of it."""
        assert self._model is not None, "no model is open"
        return self._model, self._step

    @property
    def live(self) -> bool:
        """Whether the newest snapshot of a training is followed."""
        return self._live

    @property
    def marks(self) -> tuple[tuple[int, str], ...]:
        """Steps of the shown model's training at which something has been found to happen, and what."""
        return tuple((step, said) for model, step, said in self._marks if model == self._model)

    def mark(self, model: OpenedModel, marks: Sequence[tuple[int, str]]) -> None:
        """Say of a model at which steps something happens, in the place of what was said of any before."""
        found = tuple((model, step, said) for step, said in marks)
        if found != self._marks:
            self._marks = found
            self.marks_changed.emit()

    def open(
        self, path_or_name: str | Path, step: int | None = None, then: Callable[[], object] = lambda: None
    ) -> None:
        """Open a run, or a sample model by its name, and look into it; at its newest snapshot by default.

        `then` is called once it is open.
        """

        def take(opened: OpenedModel) -> None:
            self.choose(self._add(opened), step)
            self._warn_of(opened)
            then()

        self._have_opened(path_or_name, take, to_show=True)

    def open_beside(
        self,
        path_or_name: str | Path,
        then: Callable[[OpenedModel], object] = lambda opened: None,
        color: int | None = None,
        name: str = "",
    ) -> None:
        """Open a run, or a sample model by its name, and stay with the present model if there is one.

        `then` is called with the model once it is open. `color` is its place among the theme's series, by
        default its family's or one that is free; `name` is what the window calls it, by default the run's.
        """

        def take(opened: OpenedModel) -> None:
            opened = self._add(replace(opened, name=name or opened.name), color)
            if self._model is None:
                self.choose(opened)
            then(opened)
            self._warn_of(opened)

        self._have_opened(path_or_name, take)

    def prepare(self, wanted: Iterable[tuple[str | Path, int | None]]) -> None:
        """Read runs, or sample models by their names, and their weights of a step, by default the newest.

        They open at once when they are opened next by the same path or name. What was prepared before and
        has not been opened is forgotten. Nothing is said of what cannot be read: whoever opens it is told.
        """
        self._prepared = {}
        for path_or_name, step in wanted:
            if not self._work.is_busy(f"open {path_or_name}"):
                self._prepare(path_or_name, step)

    def _prepare(self, path_or_name: str | Path, step: int | None) -> None:
        cache, prepared = self._work.cache, self._prepared

        def read() -> OpenedModel:
            opened = _open(cache, path_or_name)
            cache.model(
                opened.folder, opened.snapshots[-1] if step is None else opened.nearest_snapshot(step)
            )
            return opened

        def keep(opened: OpenedModel) -> None:
            prepared[path_or_name] = opened

        self._work.ask(f"open {path_or_name}", read, keep, lambda sentence: None)

    def _have_opened(
        self, path_or_name: str | Path, take: Callable[[OpenedModel], None], *, to_show: bool = False
    ) -> None:
        """Call `take` with a model: at once where it was prepared."""
        cache, prepared = self._work.cache, self._prepared.pop(path_or_name, None)
        key = f"open {path_or_name}"

        def read() -> OpenedModel | NoBase:
            from lmviz.interchange.chosen_bases import NoBase  # not needed for the first paint

            try:
                return _open(cache, path_or_name)
            except NoBase as reason:
                return reason

        def have(found: OpenedModel | NoBase) -> None:
            waiting = self._forget_asked(key)
            if not isinstance(found, OpenedModel):
                self.base_wanted.emit(str(found), found.folder)
                return
            for take in waiting:
                take(found)

        def fail(sentence: str) -> None:
            self._forget_asked(key)
            self.failed.emit(sentence)

        if prepared is not None:
            take(prepared)
            return
        # The newest request alone is answered, and whoever has asked before waits for the model as well.
        self._waiting.setdefault(key, []).append(take)
        if to_show:
            self._to_show.add(key)
        self._work.ask(key, read, have, fail)

    def _forget_asked(self, key: str) -> list[Callable[[OpenedModel], None]]:
        """What was asked for has come, or will not; whoever has waited for it."""
        self._to_show.discard(key)
        return self._waiting.pop(key)

    def choose(self, opened: OpenedModel, step: int | None = None) -> None:
        """Look into another of the open models, at its newest snapshot by default."""
        opened = self._as_open(opened)
        changed = opened is not self._model
        self._model = opened
        moved = self._go_to(opened.snapshots[-1] if step is None else opened.nearest_snapshot(step))
        if changed:
            self.model_changed.emit()
        if moved:
            self.step_changed.emit()

    def _as_open(self, opened: OpenedModel) -> OpenedModel:
        """A model as it is open now; the same one where it is open no more."""
        return next((model for model in self._models if model.folder == opened.folder), opened)

    def spell_out(self, on: bool) -> None:
        """Have special tokens in texts read as letters by all models, or as such again."""
        if on != self._spells_out:
            self._spells_out = on
            self._replace_all(spells_out=on)

    def _replace_all(self, **changes: Any) -> None:
        """Have all models read, or be spoken of, in another way: every answer so far is of the way before."""
        self._models = tuple(replace(model, **changes) for model in self._models)
        self._model = None if self._model is None else self._as_open(self._model)
        for changed in (self.models_changed, self.spelling_changed):
            changed.emit()

    def close(self, opened: OpenedModel) -> None:
        """Close a model; its folder stays."""
        # All state is updated before any signal, so that no receiver sees the closed model.
        opened = self._as_open(opened)
        self._models = tuple(model for model in self._models if model != opened)
        was_shown, moved = self._model == opened, False
        if was_shown:
            self._model = self._models[-1] if self._models else None
            moved = self._go_to(self._model.snapshots[-1] if self._model is not None else 0)
        self.model_closed.emit(opened)
        if was_shown:
            self.model_changed.emit()
        if moved:
            self.step_changed.emit()
        self.models_changed.emit()
        self._work.let_go(opened.folder, self)

    def show_stored(self, opened: OpenedModel, step: int) -> None:
        """Show one model, and no other, of which only a stored trace is known so far."""
        self._models, self._model, self._step = (opened,), opened, step
        for changed in (self.models_changed, self.model_changed, self.step_changed):
            changed.emit()

    def choose_step(self, step: int) -> None:
        """Go to the snapshot nearest to a step, and stay there."""
        if self._model is None:
            return
        self.follow_live(False)
        if self._go_to(self._model.nearest_snapshot(step)):
            self.step_changed.emit()

    def follow_live(self, live: bool) -> None:
        """Follow the newest snapshot of the training, or stay at the current one."""
        if live != self._live:
            self._live = live
            self.live_changed.emit()
        if live and self._model is not None and self._go_to(self._model.snapshots[-1]):
            self.step_changed.emit()

    def show_live(self, folder: Path, step: int, weights: dict[str, Any], failed: Failed) -> None:
        """Show the weights of a training under way, once the reading thread has taken them in.

        They may wait for that: a newer step that is shown by then stays. `failed` takes the sentence where
        they could not be taken in.
        """
        cache = self._work.cache

        def show(_: None) -> None:
            model = self._model
            is_followed = self._live and model is not None and model.folder == folder
            if is_followed and step > self._step and self._go_to(step):
                self.step_changed.emit()

        self._work.ask(_LIVE, lambda: cache.keep(folder, step, weights), show, failed)

    def refresh_snapshots(
        self, folder: Path, run: Run | None = None, then: Callable[[], object] | None = None
    ) -> None:
        """Have it looked up which snapshots a run has, as training adds some and removes others, and whether
        it can be trained further.

        `run` is the run as it is now, where it knows itself what lies in its folder. `then` is called once
        the folder of an open run has answered.
        """
        model = self._model_in(folder)
        if model is None:
            return
        if run is not None:
            self._take_snapshots(model, run, tuple(run.snapshots()), model.unsaved)
            return
        now = model.run

        def take(found: _Found) -> None:
            self._take_look(found)
            if then is not None:
                then()

        key = f"{_SNAPSHOTS}{folder}" if then is None else f"{_LOOK}{folder}"
        self._work.look_into(key, lambda: _look_into(now), take, lambda sentence: None)

    def _take_look(self, found: _Found) -> None:
        model = self._model_in(found.run.folder)
        if model is not None and model.description.continues(found.run.description):
            self._take_snapshots(model, model.run, found.snapshots, found.unsaved)

    def _model_in(self, folder: Path) -> OpenedModel | None:
        return next((model for model in self._models if model.folder == folder), None)

    def _take_snapshots(self, model: OpenedModel, now: Run, snapshots: tuple[int, ...], unsaved: str) -> None:
        """A model has these snapshots now; where its folder was deleted it keeps those it had."""
        snapshots = snapshots or model.snapshots
        if (snapshots, now, unsaved) != (model.snapshots, model.run, model.unsaved):
            gone = tuple(sorted({*model.gone, *model.snapshots} - set(snapshots)))
            gone = gone if now.was_trained_elsewhere else ()
            self._replace(replace(model, run=now, snapshots=snapshots, gone=gone, unsaved=unsaved))

    def stop_watching(self) -> None:
        """Take no more notice of what other programs do to the runs."""
        self._watched.close()

    def _watch(self) -> None:
        self._watched.watch(model.folder for model in self._models if not model.run.was_trained_elsewhere)

    def _look_again(self, folder: Path) -> None:
        """Another program may have trained a run on, renamed it, or put another one in its place."""
        model = self._model_in(folder)
        if model is None:
            return
        known = model.run

        def look() -> _Found:
            try:
                return _look_into(Run.open(folder))
            except LmvizError:  # it was deleted: what is in memory can still be looked at
                return _look_into(known)

        def take(found: _Found) -> None:
            self._watch()  # a folder that was removed and made again is another one
            opened = self._model_in(folder)
            if opened is None:
                return
            run = found.run
            if not run.description.continues(opened.description):
                self.open(folder) if opened == self._model else self.open_beside(folder)
                return
            if run.description != opened.description:
                run = opened.run.described_as(run.description)
                opened = replace(opened, run=run, name=title_of(run.description) or folder.name)
                self._replace(opened)
            self._take_snapshots(opened, opened.run, found.snapshots, found.unsaved)

        self._work.look_into(f"{_LOOK_AGAIN}{folder}", look, take, lambda sentence: None)

    def rename(self, folder: Path, name: str) -> None:
        """Call a run something else, whether or not it is open; see `Run.rename`."""

        def write() -> Run:
            run = Run.open(folder)
            run.rename(name)
            return run

        def take(run: Run) -> None:
            opened = self._model_in(folder.resolve())
            if opened is not None and run.description.continues(opened.description):
                described = opened.run.described_as(run.description)
                self._replace(replace(opened, run=described, name=title_of(run.description)))

        self._work.look_into(f"rename {folder}", write, take, self)

    def _size_up(self) -> None:
        """Have the numbers of counted models counted, which grow: of the shown one as of the shown step."""
        for model in self._models:
            step = self._step if model == self._model else model.snapshots[-1]
            if FAMILIES[model.family].counts and model.sized_at != step:
                self._have_sized((model, step))

    def _have_sized(self, moment: Moment) -> None:
        def take(parameters: int) -> None:
            opened = next((model for model in self._models if model.folder == moment[0].folder), None)
            if opened is not None:
                self._replace(replace(opened, parameters=parameters, sized_at=moment[1]))

        key = f"size of {moment[0].folder}"
        self._work.ask_model(moment, key, lambda model: model.parameter_count(), take, self.size_failed.emit)

    def _go_to(self, step: int) -> bool:
        moved = step != self._step
        self._step = step
        return moved

    def _add(self, opened: OpenedModel, color: int | None = None) -> OpenedModel:
        """Put a model among those that are open: in the colour that it has or is given, else in its family's,
        or in a tint of that if another one has it."""
        others = tuple(model for model in self._models if model.folder != opened.folder)
        if color is None:
            color = next((model.color_index for model in self._models if model not in others), None)
        if color is None:
            taken = {model.color_index for model in others}
            own = list(reversed(FAMILIES)).index(opened.family)
            tints = range(own, COLORS, len(FAMILIES))
            color = next(index for index in (*tints, *range(len(taken) + 1)) if index not in taken)
        opened = replace(opened, color_index=color, spells_out=self._spells_out, counted_from=counted_from())
        self._models = (*others, opened)
        self._work.take_up(opened.folder)
        shown, moved = self._model, False
        is_replaced = shown is not None and shown.folder == opened.folder and shown != opened
        if is_replaced:  # the run that was shown lies there no more
            self._model, moved = opened, self._go_to(opened.nearest_snapshot(self._step))
        self.models_changed.emit()
        if is_replaced:
            self.model_changed.emit()
        if moved:
            self.step_changed.emit()
        return opened

    def _warn_of(self, opened: OpenedModel) -> None:
        """Say that its newest snapshot is damaged, or where it has no numbers and so predicts nothing."""
        if opened.damaged:
            self.warned.emit(opened.damaged)
        if not opened.without_numbers:
            return
        from lmviz.models.finite import without_numbers_in_words  # as below: not before the first paint

        where = without_numbers_in_words(opened.without_numbers)
        others = "choose an earlier step, or open another model"
        damaged = "its file is damaged, or was saved like this; get it again, or open another model"
        self.warned.emit(
            f"{opened.name} has NaN or infinity in {where}, so that its predictions are not numbers: "
            f"{others if opened.run.has_steps else damaged}."
        )

    def _replace(self, changed: OpenedModel) -> None:
        self._models = tuple(changed if item == changed else item for item in self._models)
        self._model = changed if self._model == changed else self._model
        self.models_changed.emit()
        newest = changed.snapshots[-1]
        if self._live and self._model == changed and self._step < newest and self._go_to(newest):
            self.step_changed.emit()


class Coming(NamedTuple):
    """What is on its way: `shown`, a model that will be shown; `any_model`, also one that will stand beside
    it; and newer `weights` of the shown one, as a training that is followed ends before its last are there.
    """

    shown: bool
    any_model: bool
    weights: bool


def coming_to(library: Library) -> Coming:
    """What a library has been asked for, and has not got yet."""
    model, is_busy, weights = library.model, library._work.is_busy, False
    if library.live and model is not None:
        looks = (f"{look}{model.folder}" for look in (_SNAPSHOTS, _LOOK, _LOOK_AGAIN))
        weights = any(map(is_busy, (_LIVE, *looks)))
    return Coming(bool(library._to_show), bool(library._waiting), weights)


class _Found(NamedTuple):
    """A run as it is now, its snapshots, and why it has no saved state; "" where it has one."""

    run: Run
    snapshots: tuple[int, ...]
    unsaved: str


def _look_into(run: Run) -> _Found:
    return _Found(run, tuple(run.snapshots()), without_state(run))


def _open(cache: ModelCache, path_or_name: str | Path) -> OpenedModel:
    from lmviz.api.training import find_run
    from lmviz.models.finite import parameters_without_numbers

    folder, damaged = find_run(path_or_name).resolve(), ""
    try:
        run, model = cache.open(folder)
        snapshots = tuple(run.snapshots())
    except DamagedSnapshot as reason:
        damaged = str(reason)
        run, model = cache.open(folder, reason.readable)
        snapshots = tuple(step for step in run.snapshots() if step <= reason.readable)
    tokenizer = run.tokenizer()
    run.curve_names  # noqa: B018 - curves of another program are read here, and not in the window's thread
    return OpenedModel(
        folder=folder,
        name=title_of(run.description) or folder.name,
        family=run.description.family,
        snapshots=snapshots,
        run=run,
        find_tokenizer=lambda: tokenizer,
        context=model.context,
        parameters=model.parameter_count(),
        sized_at=run.snapshots()[-1],
        without_numbers=parameters_without_numbers(model),
        damaged=damaged or run.trouble(),
        unsaved=without_state(run),
    )


def count_layers_from(library: Library, first: int) -> None:
    """Have layers and heads counted from 0 or from 1, in all that is said of all models."""
    if first != counted_from():
        count_from(first)
        library._replace_all(counted_from=first)
