"""What a step may open before one begins: one literal table of the kinds, each with its check."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from lmviz.base.errors import LmvizError
from lmviz.base.faults import LineFault
from lmviz.base.places import elsewhere
from lmviz.lessons.lesson import Opening

BESIDE = "./"
"""How the name of a file begins that stands beside the lesson."""

TAPES = ("empty", "forward", "backward")
"""How far a network has come: nothing is computed, every value is, every gradient is as well."""

EMPTY = "empty"
"""The race without lanes."""

Check = Callable[[str, "Path | None"], None]


def read_opening(text: str, line: int, folder: Path | None) -> Opening:
    """`text farm`, `model ./my-run`, `plan ngram order=3`; LineFault where it cannot be opened."""
    kind, _, words = text.partition(" ")
    words = words.strip()
    if kind not in OPENINGS:
        raise LineFault(f"{kind!r} cannot be opened: write one of {', '.join(OPENINGS)}.")
    if kind == "plan":
        family, *pairs = words.split() or [""]
        settings = dict(_pair(pair) for pair in pairs)
        _check_plan(family, settings)
        return Opening(kind, family, line, settings)
    if kind == "text":
        name, settings = _with_settings(words)
        _text(name, folder)
        _check_options(settings)
        return Opening(kind, name, line, settings)
    OPENINGS[kind](words, folder)
    return Opening(kind, words, line)


def beside(words: str, folder: Path | None) -> Path | None:
    """The file or folder beside the lesson that is meant; None where the words name no such thing."""
    return folder / words[len(BESIDE) :] if folder is not None and words.startswith(BESIDE) else None


def _tape(words: str, folder: Path | None) -> None:
    if words not in TAPES:
        raise LineFault(f"a tape is not {words!r}: write one of {', '.join(TAPES)}.")


def _any(words: str, folder: Path | None) -> None:
    """Nothing can be wrong with it."""


def _whole(words: str, folder: Path | None) -> None:
    if not words.isascii() or not words.isdigit() or len(words) > 12:
        raise LineFault(f"{words!r} is not a whole number.")


def _text(words: str, folder: Path | None) -> None:
    from lmviz.text.catalogue import CATALOGUE

    _known(words, folder, "text", [entry.name for entry in CATALOGUE])


def _model(words: str, folder: Path | None) -> None:
    from lmviz.api.training import sample_models

    _known(words, folder, "model", sample_models())


def _features(words: str, folder: Path | None) -> None:
    from lmviz.base.places import shipped

    models = shipped("sample_models")
    names = [f"{each.parents[1].name}/{each.stem}" for each in models.glob("*/features/*.safetensors")]
    _known(words, folder, "dictionary of features", sorted(names))


def _network(words: str, folder: Path | None) -> None:
    from lmviz.autodiff import shipped_networks

    _known(words, folder, "network", [network.name for network in shipped_networks()])


def _known(words: str, folder: Path | None, what: str, names: Iterable[str]) -> None:
    """It has a name that comes with lmviz, or stands beside the lesson."""
    names = list(names)
    if words.startswith(BESIDE):
        _check_beside(words, folder)
    elif words not in names:
        _refuse(words, what, names)


def _check_beside(words: str, folder: Path | None) -> None:
    near = Path() if folder is None else folder
    found = near / words[len(BESIDE) :]
    if elsewhere(found, (near,)) is not None:
        raise LineFault(f"{words!r} is not beside the lesson: put it into the lesson's folder.")
    if folder is None or not os.path.exists(found):
        raise LineFault(f"there is no {words!r} beside the lesson: put it there.")


def _refuse(words: str, what: str, names: Sequence[str]) -> None:
    near = difflib.get_close_matches(words, names, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}."
    raise LineFault(f"there is no {what} {words!r}: {hint} A file beside the lesson begins with {BESIDE}")


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise LineFault(f"{text!r} is not a setting: write it as name=value.")
    return name, value


def _with_settings(words: str) -> tuple[str, dict[str, str]]:
    """A name, which may have blanks in it, and the settings behind it."""
    name, settings = words.split(" "), dict[str, str]()
    while len(name) > 1 and "=" in name[-1]:
        key, value = _pair(name.pop())
        settings = {key: value, **settings}
    return " ".join(name).strip(), settings


def _check_options(settings: dict[str, str]) -> None:
    from lmviz.text.corpus_options import CorpusOptions

    try:
        CorpusOptions.from_values(settings)
    except LmvizError as error:
        raise LineFault(str(error)) from None


def _check_plan(family: str, settings: dict[str, str]) -> None:
    from lmviz.api.training import split_settings
    from lmviz.families import FAMILIES

    if family not in FAMILIES:
        raise LineFault(f"there is no family {family!r}: there are {', '.join(FAMILIES)}.")
    try:
        split_settings(family, settings)
    except LmvizError as error:
        raise LineFault(str(error)) from None


def _race(words: str, folder: Path | None) -> None:
    from lmviz.training.options import TrainingOptions

    if words == EMPTY:
        return
    for word in words.split() or [words]:
        name, _ = _pair(word)
        if name not in TrainingOptions.names():
            known = sorted(TrainingOptions.names())
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}."
            raise LineFault(f"a race has no setting {name!r}: {hint}")


OPENINGS: dict[str, Check] = {
    "text": _text,
    "model": _model,
    "beside": _model,
    "step": _whole,
    "features": _features,
    "feature": _whole,
    "network": _network,
    "tape": _tape,
    "plan": _any,
    "race": _race,
    "prefix": _any,
    "source": _any,
    "changed": _any,
    "measure": _any,
    "seed": _whole,
}
"""The kinds, in the order in which they are opened. `beside` compares with a model, `step` goes to a
snapshot, `features` is a dictionary of a sample model, of which `feature` is looked at, `tape` says how far a
network has come, `plan` fills the form of Train, `race` makes lanes of that, `changed` is the text that
Circuits puts beside the shown one, `measure` the number that it asks about, `seed` locks that of the die."""
