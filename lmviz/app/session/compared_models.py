"""What the Compare perspective puts side by side: models at their moments, as changed or as trained.

One of these says all of what is asked of the reading thread, so that an answer is named after what it was
computed from, whatever has happened to the session meanwhile.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from lmviz.app.session.comparing import names_of, present_moment, shown_moments

if TYPE_CHECKING:
    from PySide6.QtCore import SignalInstance

    from lmviz.app.session.opened_models import OpenedModel
    from lmviz.app.session.session import Session
    from lmviz.app.session.work import Moment
    from lmviz.inspection.intervention import Intervention
    from lmviz.models.model import Model

T = TypeVar("T")


@dataclass(frozen=True)
class ComparedModel:
    """A model at a step, with the interventions that are made in it.

    `is_twin`: it stands, as it was trained, beside the same model at the same step as it is changed.
    """

    moment: Moment
    interventions: tuple[Intervention, ...] = ()
    is_twin: bool = False

    @property
    def model(self) -> OpenedModel:
        """The model."""
        return self.moment[0]

    @property
    def step(self) -> int:
        """The step whose weights it carries."""
        return self.moment[1]


def changes_of_compared(session: Session) -> tuple[SignalInstance, ...]:
    """The signals after any of which other models may be compared, or in another state."""
    return (
        session.model_changed,
        session.models_changed,
        session.step_changed,
        session.compared_changed,
        session.interventions_changed,
        session.twin_changed,
    )


def compared_models(session: Session) -> tuple[ComparedModel, ...]:
    """What stands at `shown_moments`; interventions are made in the model that is looked into alone.

    It is there a second time, as it was trained, where one asked for that.
    """
    shown = []
    for moment in shown_moments(session):
        if moment != present_moment(session):
            shown.append(ComparedModel(moment))
            continue
        shown.append(ComparedModel(moment, session.interventions_in_force))
        if session.has_twin:
            shown.append(ComparedModel(moment, is_twin=True))
    return tuple(shown)


def names_of_compared(models: Sequence[ComparedModel]) -> tuple[str, ...]:
    """`names_of` their moments, which say of a model that it is changed, or beside that as it was trained."""
    once = tuple(dict.fromkeys(item.moment for item in models))
    names = dict(zip(once, names_of(once), strict=True))
    ends = [", changed" if item.interventions else ", as trained" if item.is_twin else "" for item in models]
    return tuple(names[item.moment] + end for item, end in zip(models, ends, strict=True))


def turns_of(models: Sequence[ComparedModel]) -> tuple[int, ...]:
    """For each, how many later ones are of the same model: what tells their lines apart."""
    opened = [item.model for item in models]
    return tuple(opened[place + 1 :].count(model) for place, model in enumerate(opened))


def ask_compared(
    session: Session,
    key: str,
    models: Sequence[ComparedModel],
    work: Callable[[Model, int], T],
    answer: Callable[[list[T]], None],
) -> None:
    """`session.ask_all`, with each one's interventions, for work that also needs its place."""
    places = itertools.count()
    session.ask_all(
        key,
        [item.moment for item in models],
        lambda model: work(model, next(places)),
        answer,
        [item.interventions for item in models],
    )
