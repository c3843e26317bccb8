"""The models that are compared: each at a step of its training, with or without interventions.

A `ComparedModel` holds everything that a request to the reading thread depends on, so that an answer can be
matched to it even if the session has changed meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.part import Part
from lmviz.app.session.reading import of_source
from lmviz.app.session.surgery import of_whole_texts

if TYPE_CHECKING:
    from lmviz.app.session.current_reading import CurrentReading
    from lmviz.app.session.library import Library
    from lmviz.app.session.opened_model import Moment, OpenedModel
    from lmviz.app.session.surgery import Surgery
    from lmviz.app.session.work import Failed, Work
    from lmviz.inspection.intervention import Intervention
    from lmviz.inspection.recipes.recipe import RecipeSubject
    from lmviz.models.model import Model

T = TypeVar("T")

WITH, WITHOUT, BOTH = "with", "without", "both"
"""How the shown model is judged on whole texts: under its changes, as it was trained, or both."""

NAMED = 4
"""So many labels of a model are named."""


@dataclass(frozen=True)
class ComparedModel:
    """A model at a step, with the interventions that are made in it.

    `is_twin`: it is the unchanged model, next to the same model at the same step with interventions.
    `source` is what it reads beside its text, a text or a picture; None where it reads nothing else.
    """

    moment: Moment
    interventions: tuple[Intervention, ...] = ()
    is_twin: bool = False
    source: str | None = None

    @property
    def model(self) -> OpenedModel:
        """The model."""
        return self.moment[0]

    @property
    def step(self) -> int:
        """The step whose weights it carries."""
        return self.moment[1]

    def reads(self, text: str) -> RecipeSubject:
        """The model as it is compared, reading a text, for a recipe."""
        return self.model.reading(text, self.step, self.interventions, self.source)


@dataclass(frozen=True)
class Obstacle:
    """Why two models cannot be compared, in a word or two and in a sentence."""

    reason: str
    sentence: str


class Comparison(Part):
    """The models and steps compared with the shown one, and whether the unchanged model is among them.

    Only models of one task are compared. Others may be chosen, and wait until a model of theirs is shown.
    `changed` follows whatever may change `models`; `choice_changed` follows `choose` alone.
    """

    changed = Signal()
    choice_changed = Signal()

    def __init__(
        self,
        work: Work,
        library: Library,
        surgery: Surgery,
        reading: CurrentReading,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._work, self._library, self._surgery, self._reading = work, library, surgery, reading
        self._chosen: tuple[Moment, ...] = ()
        self._is_twin_wanted = False
        self._under = WITH
        library.model_closed.connect(self._forget)
        library.model_changed.connect(self._forget_twin)
        for changed in (
            library.model_changed,
            library.models_changed,
            library.step_changed,
            surgery.changed,
            reading.source_changed,
            self.choice_changed,
        ):
            changed.connect(self.changed)

    @property
    def shown(self) -> ComparedModel | None:
        """The shown model as it is shown, with the interventions in force and what it reads beside a text."""
        moment, source = self._library.moment, self._reading.source if self._reading.has_source else None
        return None if moment is None else ComparedModel(moment, self._surgery.in_force, source=source)

    @property
    def chosen(self) -> tuple[Moment, ...]:
        """The models and steps chosen for comparison with the shown one."""
        opened = {model.folder: model for model in self._library.models}  # as they are open now
        return tuple((opened.get(model.folder, model), step) for model, step in self._chosen)

    @property
    def present(self) -> Moment:
        """The shown model and step; a model must be open."""
        # A training may have thinned its snapshots out since the step was chosen.
        model, step = self._library.shown_moment
        return model, model.nearest_snapshot(step)

    @property
    def moments(self) -> tuple[Moment, ...]:
        """The shown model and those chosen that do the same task, each once, as opened and by step."""
        if self._library.model is None:
            return ()
        models = self._library.models
        places = {model: place for place, model in enumerate(models)}
        found = {
            (places[model], models[places[model]].nearest_snapshot(step))
            for model, step in (self.present, *self.chosen)
            if model in places and not self.obstacle_to(model)
        }
        return tuple((models[place], step) for place, step in sorted(found))

    @property
    def models(self) -> tuple[ComparedModel, ...]:
        """The compared models of `moments`; interventions apply only to the shown one.

        It is there a second time, as it was trained, where `has_twin`.
        """
        shown, source = [], self._reading.source if self._reading.has_source else None
        for moment in self.moments:
            if moment != self.present:
                shown.append(ComparedModel(moment, source=source))
                continue
            shown.append(ComparedModel(moment, self._surgery.in_force, source=source))
            if self.has_twin:
                shown.append(ComparedModel(moment, is_twin=True, source=source))
        return tuple(shown)

    @property
    def judged(self) -> tuple[ComparedModel, ...]:
        """The same as they are judged on whole texts.

        Changes of certain words of what is typed have no place there: the model is judged as it was trained.
        """
        found: list[ComparedModel] = []
        for item in self.models:
            if item.moment == self.present:
                found += self.judged_present
            else:
                found.append(item)
        return tuple(dict.fromkeys(found))

    @property
    def judged_present(self) -> tuple[ComparedModel, ...]:
        """The shown model as it is judged: with its changes, as it was trained, or both."""
        item = ComparedModel(self.present, source=self._reading.source if self._reading.has_source else None)
        if not self.has_judged_changes:
            return (item,)
        both = replace(item, interventions=self._surgery.in_force), replace(item, is_twin=True)
        return {WITH: both[:1], WITHOUT: both[1:], BOTH: both}[self._under]

    @property
    def has_judged_changes(self) -> bool:
        """Whether the shown model has changes that hold for any text."""
        return self._library.model is not None and bool(of_whole_texts(self._surgery.in_force))

    @property
    def judged_under(self) -> str:
        """WITH the changes, WITHOUT them, or BOTH."""
        return self._under

    def judge_under(self, under: str) -> None:
        """Judge the shown model WITH its changes, WITHOUT them, or BOTH."""
        if under != self._under:
            self._under = under
            self.changed.emit()

    @property
    def comparable(self) -> tuple[OpenedModel, ...]:
        """The open models that can stand beside the shown one, itself included."""
        return tuple(model for model in self._library.models if not self.obstacle_to(model))

    def obstacle_to(self, model: OpenedModel) -> Obstacle | None:
        """Why a model cannot be compared with the shown one; None where it can."""
        shown = self._library.model
        return None if shown is None else obstacle_between(shown, model)

    @property
    def has_twin(self) -> bool:
        """Whether the model as it was trained is compared with it as it is changed."""
        return self._is_twin_wanted and bool(self._surgery.in_force)

    def choose(self, moments: Iterable[Moment]) -> None:
        """Choose what to compare with the shown model."""
        chosen = tuple(moments)
        if chosen != self._chosen:
            self._chosen = chosen
            self.choice_changed.emit()

    def show(self, moment: Moment) -> None:
        """Show one of the compared models instead of the shown one; the same stay in the comparison."""
        if self._library.model is not None and moment != self.present:
            self.choose(dict.fromkeys((*self.chosen, self.present, moment)))
            self._library.choose(*moment)

    def set_twin(self, wanted: bool) -> None:
        """Add the untouched model to the comparison, or remove it."""
        if wanted != self._is_twin_wanted:
            self._is_twin_wanted = wanted
            self._under = BOTH if wanted else WITH
            self.changed.emit()

    def ask(
        self,
        models: Sequence[ComparedModel],
        key: str,
        work: Callable[[Iterator[Model]], T],
        answer: Callable[[T], object],
        failed: Failed,
    ) -> None:
        """Have work done on models with their interventions, in the reading thread: see `Work.ask_models`."""
        interventions = [item.interventions for item in models]
        sources = [item.source for item in models]

        def given_sources(found: Iterator[Model]) -> T:
            return work(of_source(model, source) for model, source in zip(found, sources, strict=True))

        moments = [item.moment for item in models]
        self._work.ask_models(moments, key, given_sources, answer, failed, interventions)

    def _forget(self, closed: OpenedModel) -> None:
        self.choose(moment for moment in self._chosen if moment[0].folder != closed.folder)

    def _forget_twin(self) -> None:
        self._is_twin_wanted, self._under = False, WITH


def obstacle_between(shown: OpenedModel, other: OpenedModel) -> Obstacle | None:
    """Why two models cannot be compared; None where they can."""
    if other.task != shown.task:
        sentence = f"{shown.name} {shown.does}, and {other.name} {other.does}."
        return Obstacle(other.task.title.lower(), sentence)
    labels, others = shown.predicts.names, other.predicts.names
    if labels and set(labels).isdisjoint(others):
        has = f"{shown.name} has the labels {_some(labels)}, and {other.name} has {_some(others)}"
        return Obstacle("other labels", f"{has}: they have none in common.")
    return None


def _some(labels: Sequence[str]) -> str:
    return ", ".join(labels[:NAMED]) + (" …" if len(labels) > NAMED else "")


def names_of(moments: Sequence[Moment]) -> tuple[str, ...]:
    """A unique name for each; it includes the step if a model occurs twice."""
    plain = [model.name for model, _ in moments]
    names = [
        name if plain.count(name) == 1 else f"{name} · step {step:,}"
        for name, (_, step) in zip(plain, moments, strict=True)
    ]
    # Two runs may have the same name and the same steps.
    return tuple(
        name if names.count(name) == 1 else f"{name} ({names[: place + 1].count(name)})"
        for place, name in enumerate(names)
    )


def names_of_compared(models: Sequence[ComparedModel]) -> tuple[str, ...]:
    """`names_of` their moments, marking the changed model and its unchanged twin."""
    once = tuple(dict.fromkeys(item.moment for item in models))
    names = dict(zip(once, names_of(once), strict=True))
    ends = [", changed" if item.interventions else ", as trained" if item.is_twin else "" for item in models]
    return tuple(names[item.moment] + end for item, end in zip(models, ends, strict=True))


def turns_of(models: Sequence[ComparedModel]) -> tuple[int, ...]:
    """For each, how many later ones are of the same model, or of a fork in its colour, to draw their lines
    differently."""
    opened = [item.model.color_index for item in models]
    return tuple(opened[place + 1 :].count(model) for place, model in enumerate(opened))
