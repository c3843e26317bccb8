"""What stands side by side in the Compare perspective: which moments, how they are told apart, which trio."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QColor

from lmviz.app.look.theme import current_theme
from lmviz.app.opening.opening import FIRST_MODEL, FIRST_TEXT, MODEL_OFFER
from lmviz.app.session.work import Moment

if TYPE_CHECKING:
    from lmviz.app.session.opened_models import OpenedModel
    from lmviz.app.session.session import Session
    from lmviz.decoding.shared_units import SharedUnits

TRIO = ("ngram", "lstm", "transformer")
"""The families to begin with: counts, a recurrence, attention."""


def present_moment(session: Session) -> Moment:
    """The model that is looked into, at its moment; there must be one."""
    # A training may have thinned its snapshots out since the step was chosen.
    return session.model, session.model.nearest_snapshot(session.step)


def shown_moments(session: Session) -> tuple[Moment, ...]:
    """The present moment and those it is compared with, each once, in the order of opening and of steps."""
    if session.model is None:
        return ()
    places = {model: place for place, model in enumerate(session.models)}
    wanted = [present_moment(session), *session.compared]
    found = {
        (places[model], session.models[places[model]].nearest_snapshot(step))
        for model, step in wanted
        if model in places
    }
    return tuple((session.models[place], step) for place, step in sorted(found))


def names_of(moments: Sequence[Moment]) -> tuple[str, ...]:
    """A name for each moment that no other has; the step belongs to it where a model is there twice."""
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


def color_of(moment: Moment) -> QColor:
    """The colour of the moment's model."""
    series = current_theme().series
    return series[moment[0].color_index % len(series)]


def lacking_for_a_game(session: Session, *, model: str, text: str, held_out: str) -> str:
    """Of three sentences the one about what has to be there first; empty when one can play."""
    if session.model is None:
        return model
    if session.corpus is None:
        return text
    return "" if len(session.corpus.validation) else held_out


def offer_for_a_game(session: Session) -> tuple[str, Callable[[], object]]:
    """What opens what has to be there first, in words and as an act; no words where nothing does."""
    model = session.model
    if model is None:
        return MODEL_OFFER, lambda: session.open_model(FIRST_MODEL)
    if session.corpus is not None:
        return "", lambda: None
    if model.description.corpus.get("sources"):
        return f"Open the text of {model.name}", lambda: session.open_text_of(model)
    return f"Open “{FIRST_TEXT}”", lambda: session.open_corpus(FIRST_TEXT)


def play_or_open(session: Session, play: Callable[[], object]) -> None:
    """Play, or open what has to be there first."""
    if session.model is None or session.corpus is None:
        _, play = offer_for_a_game(session)
    play()


class UnitsCache:
    """The units in which some models can be compared, found once. Used in the reading thread alone."""

    def __init__(self) -> None:
        self._key: tuple[Path, ...] = ()
        self._units: SharedUnits | None = None

    def units(self, models: Sequence[OpenedModel]) -> SharedUnits:
        """Those of the models' tokenizers, in the same order."""
        from lmviz.decoding.shared_units import shared_units

        key = tuple(model.folder for model in models)
        if self._units is None or key != self._key:
            self._key, self._units = key, shared_units([model.tokenizer for model in models])
        return self._units


def find_trio(folders: Iterable[Path], near: str = "") -> tuple[Path, ...]:
    """Runs of the three families that were trained on the same corpus, in the order of `TRIO`.

    `near` is the fingerprint of the corpus to prefer. Empty when there are no such three.
    """
    from lmviz.errors import LmvizError
    from lmviz.training.run import Run

    corpora: dict[str, dict[str, Path]] = {}
    for folder in folders:
        try:
            description = Run.open(folder).description
        except LmvizError:
            continue
        of_corpus = corpora.setdefault(str(description.corpus.get("fingerprint", "")), {})
        of_corpus.setdefault(description.family, folder)
    whole = {mark: found for mark, found in corpora.items() if all(family in found for family in TRIO)}
    if not whole:
        return ()
    chosen = whole.get(near) or next(iter(whole.values()))
    return tuple(chosen[family] for family in TRIO)
