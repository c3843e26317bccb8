"""Opens what a step of a lesson needs, where it is not open already."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt

from lmviz.api.training import split_settings
from lmviz.base.places import shipped
from lmviz.lessons.openings import EMPTY, OPENINGS, beside
from lmviz.runs.racing import vary

if TYPE_CHECKING:
    from lmviz.app.session.session import Session
    from lmviz.lessons.lesson import Opening

READ_BY = ("tokenizer", "lower_case", "minimum_count", "vocabulary", "documents", "validation")
"""Options by which a text of the catalogue is read otherwise."""

LENT = {"plan": "plan", "race": "race", "seed": "sampling", "beside": "comparison"}
"""What each kind of opening borrows: it is given back when the lesson is left."""

STAYS = (
    *("text", "model", "step", "features", "feature", "network", "tape"),
    *("prefix", "source", "changed", "measure"),
)
"""The kinds that open what one looks at: that stays in sight when the lesson is left."""

Open = Callable[["Session", "Opening", "Path | None"], None]


def open_all(session: Session, openings: Iterable[Opening], folder: Path | None) -> None:
    """Open each, in the order of the table of kinds. `folder` is the lesson's."""
    kinds, openings = list(OPENINGS), tuple(openings)
    if any(opening.kind in ("plan", "race") for opening in openings):
        session.make_way()
    reads_network = any(each.kind == "network" and beside(each.words, folder) for each in openings)
    session.lending.borrow((LENT[each.kind] for each in openings if each.kind in LENT), "lesson")
    for opening in sorted(openings, key=lambda opening: kinds.index(opening.kind)):
        if opening.kind == "step" and any(other.kind == "model" for other in openings):
            continue  # the model is opened at that step
        path = beside(opening.words, folder)
        if opening.kind == "model":
            step = next((int(other.words) for other in openings if other.kind == "step"), None)
            _open_model(session, path or opening.words, step)
        elif opening.kind == "network" and path is not None:  # whose tape is there once the file is read
            tapes = [other for other in openings if other.kind == "tape"]
            session.network.open_file(path, partial(_set_tapes, session, tapes))
        elif opening.kind == "tape" and reads_network:
            continue
        elif opening.kind == "measure":
            _state_measure(session, opening.words, _model_of(openings))
        elif opening.kind == "features":
            chosen = next((int(other.words) for other in openings if other.kind == "feature"), None)
            _open_features(session, path or shipped_features(opening.words), _model_of(openings), chosen)
        elif opening.kind == "feature" and any(other.kind == "features" for other in openings):
            continue
        else:
            _ACTS[opening.kind](session, opening, path)


def prepare_all(session: Session, openings: Iterable[Opening], folder: Path | None) -> None:
    """Read the models and the text of openings ahead, so that they open at once; `folder` as above."""
    openings = tuple(openings)
    models = [each for each in openings if each.kind in ("model", "beside")]
    session.library.prepare((beside(each.words, folder) or each.words, None) for each in models)
    for each in openings:
        path = beside(each.words, folder)
        if each.kind == "text" and not _is_open_text(session, each, path):
            session.text.prepare(path or each.words, **_settings_of(each))


def _open_text(session: Session, opening: Opening, path: Path | None) -> None:
    if not _is_open_text(session, opening, path):
        session.text.open(path or opening.words, **_settings_of(opening))


def _is_open_text(session: Session, opening: Opening, path: Path | None) -> bool:
    """Whether a text of the catalogue is open as it is wanted; one beside a lesson is read once more."""
    from lmviz.text.catalogue import find_entry
    from lmviz.text.corpus_options import CorpusOptions

    corpus, entry = session.text.corpus, find_entry(opening.words)
    if path is not None or entry is None or corpus is None:
        return False
    usual = CorpusOptions(**{**entry.options, **_settings_of(opening)})
    return (
        corpus.name == opening.words
        and len(corpus.sources) == 1
        and all(getattr(corpus.options, name) == getattr(usual, name) for name in READ_BY)
    )


def _settings_of(opening: Opening) -> dict[str, Any]:
    """The options of reading that an opening names, as values."""
    from lmviz.text.corpus_options import CorpusOptions

    options = CorpusOptions.from_values(opening.settings)
    return {name: getattr(options, name) for name in opening.settings}


def _open_model(session: Session, path_or_name: Path | str, step: int | None) -> None:
    shown = session.library.model
    if shown is None or shown.folder.name != Path(path_or_name).name:
        session.library.open(path_or_name, step)
    elif step is not None:
        session.library.choose_step(step)


def _model_of(openings: Iterable[Opening]) -> str:
    """The model that is opened as well; empty where none is."""
    return next((other.words for other in openings if other.kind == "model"), "")


def _is_shown(session: Session, model: str) -> bool:
    """Whether a model is shown by now, or none had to be opened."""
    shown = session.library.model
    return not model or (shown is not None and shown.folder.name == Path(model).name)


def shipped_features(words: str) -> Path:
    """The file of a dictionary that comes with a sample model, of its name: "stories-gru/state"."""
    model, _, name = words.partition("/")
    return shipped("sample_models") / model / "features" / f"{name}.safetensors"


def _open_features(session: Session, file: Path, model: str, feature: int | None) -> None:
    """Now, or after the model that is being opened; and look at a feature of them once they are there."""
    features = session.features

    def choose() -> None:
        if feature is not None and features.opened is not None and features.opened.file == file:
            features.choose(feature)

    def open_now() -> None:
        if _is_shown(session, model) and (features.opened is None or features.opened.file != file):
            features.taken.connect(choose, Qt.ConnectionType.SingleShotConnection)
            features.open_file(file)

    choose()
    open_now()
    if not _is_shown(session, model):
        session.library.model_changed.connect(open_now, Qt.ConnectionType.SingleShotConnection)


def _state_measure(session: Session, measure: str, model: str) -> None:
    """Now, and once more after the model that is being opened: with another one it is proposed anew."""

    def state() -> None:
        if _is_shown(session, model):
            session.contrast.set_measure(measure)

    session.contrast.set_measure(measure)
    if not _is_shown(session, model):
        session.library.model_changed.connect(state, Qt.ConnectionType.SingleShotConnection)


def _compare_with(session: Session, opening: Opening, path: Path | None) -> None:
    session.library.open_beside(
        path or opening.words, lambda opened: session.comparison.choose([(opened, opened.snapshots[-1])])
    )


def _open_network(session: Session, opening: Opening, path: Path | None) -> None:
    session.network.open_shipped(opening.words)


def _set_tapes(session: Session, openings: Iterable[Opening]) -> None:
    for opening in openings:
        _set_tape(session, opening, None)


def _set_tape(session: Session, opening: Opening, path: Path | None) -> None:
    network = session.network
    acts = {"empty": network.rewind, "forward": network.run_forward, "backward": network.run_backward}
    acts[opening.words]()


def _plan(session: Session, opening: Opening, path: Path | None) -> None:
    session.plan.set(opening.words, *split_settings(opening.words, opening.settings, session.plan.task))


def _race(session: Session, opening: Opening, path: Path | None) -> None:
    """Lanes that wait to be started, where they do not already."""
    pairs = [] if opening.words == EMPTY else [word.split("=", 1) for word in opening.words.split()]
    varied = {name: values.split(",") for name, values in pairs}
    found = [lane.name for lane in session.race.lanes if lane.phase == "waiting"]
    if [lane.name for lane in session.race.lanes] != found or found != list(vary(varied) if varied else ()):
        session.race.clear()
        if varied:
            session.race.add(varied)


_ACTS: dict[str, Open] = {
    "text": _open_text,
    "beside": _compare_with,
    "step": lambda session, opening, path: session.library.choose_step(int(opening.words)),
    "feature": lambda session, opening, path: session.features.choose(int(opening.words)),
    "network": _open_network,
    "tape": _set_tape,
    "plan": _plan,
    "race": _race,
    "prefix": lambda session, opening, path: session.reading.set_prefix(opening.words),
    "source": lambda session, opening, path: session.reading.set_source(opening.words),
    "changed": lambda session, opening, path: session.contrast.set_other(opening.words),
    "seed": lambda session, opening, path: session.writing.set_sampling(
        seed=int(opening.words), seed_locked=True
    ),
}
