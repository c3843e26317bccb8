"""A scene: what a demonstration shows, as a small file: texts, models, the moment, what is pinned.

    {"format": "lmviz scene", "format_version": 1, "perspective": "attention",
     "text": {"files": ["farm.txt"], "options": {…}}, "models": [{"sample": "stories-gru", "step": 6000}],
     "prefix": "the cows eat", "position": 2, "surgery": […]}

Files and folders are named relative to the scene's own file, with slashes, so that a folder with all of them
can be handed on. A scene may come from anybody: `Scene.from_bytes` gives a scene or one sentence.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any, Self

from lmviz.base.errors import LmvizError
from lmviz.base.files import write_atomically
from lmviz.base.loading import loads
from lmviz.decoding.options import SamplingOptions
from lmviz.inspection.intervention import Intervention
from lmviz.text.corpus_options import CorpusOptions
from lmviz.text.ordinary_files import read_file

ENDING = ".lmviz"
FORMAT, VERSION = "lmviz scene", 1
LARGEST_FILE = 20_000_000
LARGEST_NUMBER = 2**53
MOST = 1000
"""Entries of a list in a scene: models, files, interventions, axes of a cell."""


class _Damaged(Exception):
    """Why the values are no scene, in words."""


@dataclass(frozen=True)
class SceneText:
    """The open text: the name of one of the catalogue, or files, or the text itself where it is in no file.

    `target` is the file with the same lines in another language; empty where there is none.
    """

    catalogue: str = ""
    files: tuple[str, ...] = ()
    target: str = ""
    content: str = ""
    name: str = ""
    options: CorpusOptions = field(default_factory=CorpusOptions)

    def to_values(self) -> dict[str, Any]:
        """Plain values, without what is empty."""
        plain = {
            "catalogue": self.catalogue,
            "files": list(self.files),
            "target": self.target,
            "content": self.content,
            "name": self.name,
        }
        return _full(plain) | {"options": self.options.to_values()}

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """What `to_values` gave."""
        text = cls(
            catalogue=_word(values, "catalogue"),
            files=tuple(_listed(values, "files", str)),
            target=_word(values, "target"),
            content=_word(values, "content"),
            name=_word(values, "name"),
            options=CorpusOptions.from_values(_object(values, "options")),
        )
        if sum(map(bool, (text.catalogue, text.files, text.content))) != 1:
            raise _Damaged("its text is neither of the catalogue, nor in files, nor in the scene")
        return text


@dataclass(frozen=True)
class SceneModel:
    """A model at a step of its training: a sample model by its name, or a folder or file."""

    sample: str = ""
    path: str = ""
    step: int = 0

    def to_values(self) -> dict[str, Any]:
        """Plain values, without what is empty."""
        return _full({"sample": self.sample, "path": self.path}) | {"step": self.step}

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """What `to_values` gave."""
        model = cls(_word(values, "sample"), _word(values, "path"), _whole(values, "step"))
        if bool(model.sample) == bool(model.path):
            raise _Damaged("a model is neither a sample model nor at a path")
        return model


@dataclass(frozen=True)
class SceneNetwork:
    """The small network of Autodiff: its text, how far its tape has come, and the pinned cell.

    `version` is how the tape goes back, "A" or "B". `cell` is a name and an index in it or its gradient.
    `has_slip` says that the gradients of all modules begin at 1.
    """

    text: str
    version: str = "A"
    pushed: int = 0
    popped: int = 0
    cell: tuple[str, tuple[int, ...]] | None = None
    is_gradient: bool = False
    has_slip: bool = False

    def to_values(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "text": self.text,
            "version": self.version,
            "pushed": self.pushed,
            "popped": self.popped,
            "cell": _plain_cell(self.cell),
            "is_gradient": self.is_gradient,
            "has_slip": self.has_slip,
        }

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """What `to_values` gave."""
        version = _word(values, "version") or "A"
        if version not in ("A", "B"):
            raise _Damaged("its tape goes back neither as A nor as B")
        cell = values.get("cell")
        return cls(
            text=_word(values, "text"),
            version=version,
            pushed=_whole(values, "pushed"),
            popped=_whole(values, "popped"),
            cell=None if cell is None else _cell(_object(values, "cell")),
            is_gradient=values.get("is_gradient") is True,
            has_slip=values.get("has_slip") is True,
        )


@dataclass(frozen=True)
class Scene:
    """What a window shows. The first of `models` is the one looked into, the others stand beside it.

    `compared` says of each of the others whether it is compared. `position` is the pinned position, None
    where the end is followed; `spells_out` says that special tokens in a text are letters; `changed` and
    `measure` are what Circuits asks about; `cell` is the pinned cell, an address with its index. `in_front`
    are the panels in front of others that share their place, by their object names. `race` is the folder of
    the race that is open, "" for none.
    """

    perspective: str = ""
    in_front: tuple[str, ...] = ()
    text: SceneText | None = None
    models: tuple[SceneModel, ...] = ()
    compared: tuple[bool, ...] = ()
    prefix: str = ""
    source: str = ""
    changed: str = ""
    measure: str = ""
    position: int | None = None
    stage: int = 0
    cell: tuple[str, tuple[int, ...]] | None = None
    head: tuple[int, int] = (0, 0)
    side: str = ""
    surgery: tuple[Intervention, ...] = ()
    is_surgery_off: bool = False
    shows_gradients: bool = False
    spells_out: bool = False
    network: SceneNetwork | None = None
    race: str = ""
    sampling: SamplingOptions = field(default_factory=SamplingOptions)

    def beside(self, folder: Path) -> Scene:
        """The scene, which names files and folders by whole paths, as it is to lie in a folder.

        Folders of models and races are named as they really lie, and this folder is looked up for that.
        """
        text, here = self.text, folder.resolve()
        if text is not None:
            files = tuple(named_from(file, folder) for file in text.files)
            text = replace(text, files=files, target=named_from(text.target, folder) if text.target else "")
        models = tuple(
            replace(model, path=named_from(model.path, here)) if model.path else model
            for model in self.models
        )
        race = named_from(self.race, here) if self.race else ""
        return replace(self, text=text, models=models, race=race)

    def to_bytes(self) -> bytes:
        """The content of a scene's file; LmvizError where a change of it is a function."""
        values: dict[str, Any] = {
            "format": FORMAT,
            "format_version": VERSION,
            "perspective": self.perspective,
            "in_front": list(self.in_front),
            "text": None if self.text is None else self.text.to_values(),
            "models": [model.to_values() for model in self.models],
            "compared": list(self.compared),
            "prefix": self.prefix,
            "source": self.source,
            "changed": self.changed,
            "measure": self.measure,
            "position": self.position,
            "stage": self.stage,
            "cell": _plain_cell(self.cell),
            "head": list(self.head),
            "side": self.side,
            "surgery": [change.to_values() for change in self.surgery],
            "is_surgery_off": self.is_surgery_off,
            "shows_gradients": self.shows_gradients,
            "spells_out": self.spells_out,
            "network": None if self.network is None else self.network.to_values(),
            "race": self.race,
            "sampling": self.sampling.to_values(),
        }
        return json.dumps(values, indent=2, ensure_ascii=False).encode("utf-8", "replace") + b"\n"

    @classmethod
    def from_bytes(cls, content: bytes, name: str) -> Self:
        """The scene in the content of a file of this name; LmvizError for anything else."""
        try:
            values = json.loads(content)
        except (ValueError, RecursionError) as error:
            at = f" from line {error.lineno} on" if isinstance(error, json.JSONDecodeError) else ""
            raise LmvizError(
                f"{name} is not a scene, because it is not JSON{at}: choose another file."
            ) from None
        try:
            return cls._from_values(values)
        except (_Damaged, LmvizError) as reason:
            said = str(reason).rstrip(".")
            raise LmvizError(
                f"{name} is not a scene ({said}): choose another file, or save it again."
            ) from None

    @classmethod
    def _from_values(cls, values: Any) -> Self:
        if not isinstance(values, dict) or values.get("format") != FORMAT:
            raise _Damaged(f"it does not say that it is a {FORMAT}")
        if values.get("format_version") != VERSION:
            raise _Damaged(f"only version {VERSION} is known")
        models = tuple(SceneModel.from_values(entry) for entry in _listed(values, "models", dict))
        cell = values.get("cell")
        text, network = values.get("text"), values.get("network")
        head = tuple(_listed(values, "head", int))
        position = values.get("position")
        return cls(
            perspective=_word(values, "perspective"),
            in_front=tuple(_listed(values, "in_front", str)),
            text=None if text is None else SceneText.from_values(_object(values, "text")),
            models=models,
            compared=tuple(_listed(values, "compared", bool))[: max(0, len(models) - 1)],
            prefix=_word(values, "prefix"),
            source=_word(values, "source"),
            changed=_word(values, "changed"),
            measure=_word(values, "measure"),
            position=None if position is None else _whole(values, "position"),
            stage=_whole(values, "stage"),
            cell=None if cell is None else _cell(_object(values, "cell")),
            head=(head[0], head[1]) if len(head) == 2 and min(head) >= 0 else (0, 0),
            side=_word(values, "side"),
            surgery=tuple(Intervention.from_values(entry) for entry in _listed(values, "surgery", dict)),
            is_surgery_off=values.get("is_surgery_off") is True,
            shows_gradients=values.get("shows_gradients") is True,
            spells_out=values.get("spells_out") is True,
            network=None if network is None else SceneNetwork.from_values(_object(values, "network")),
            race=_word(values, "race"),
            sampling=SamplingOptions.from_values(_object(values, "sampling")),
        )


def is_scene(path: Path) -> bool:
    """Whether a file is a scene by its name."""
    return path.suffix.lower() == ENDING


@loads("scene")
def open_scene(path: Path) -> Scene:
    """The scene in a file; LmvizError whatever is in there."""
    try:
        content = read_file(path, LARGEST_FILE)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise LmvizError(f"{path.name} cannot be read ({reason}): choose another scene.") from None
    return Scene.from_bytes(content, path.name)


def save_scene(scene: Scene, path: Path) -> Path:
    """Write a scene; LmvizError where it cannot be written."""
    return write_atomically(path, scene.to_bytes())


def named_from(path: str | Path, folder: Path) -> str:
    """What a scene in `folder` calls a file: its way from there, with slashes."""
    target = os.path.abspath(path)
    try:
        return PurePath(os.path.relpath(target, folder)).as_posix()
    except ValueError:  # on another drive of Windows
        return PurePath(target).as_posix()


def found_from(name: str, folder: Path) -> Path:
    """The file that a scene in `folder` calls so."""
    return Path(os.path.abspath(folder / name))


def _full(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value}


def _word(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name, "")
    if not isinstance(value, str) or (name in _NAMES and "\0" in value):
        raise _Damaged(f"its {name} is not a text")
    return value.encode("utf-8", "replace").decode("utf-8")  # JSON may hold halves of characters


_NAMES = ("path", "race", "sample", "catalogue", "target", "name", "perspective")


def _whole(values: Mapping[str, Any], name: str) -> int:
    value = values.get(name, 0)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LARGEST_NUMBER:
        raise _Damaged(f"its {name} is not a whole number")
    return value


def _object(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = values.get(name, {})
    if not isinstance(value, dict):
        raise _Damaged(f"its {name} is damaged")
    return value


def _listed(values: Mapping[str, Any], name: str, kind: type) -> Sequence[Any]:
    """A list of one kind, in which numbers and yes or no are told apart."""
    value = values.get(name, [])
    if not isinstance(value, list) or len(value) > MOST or not all(type(entry) is kind for entry in value):
        raise _Damaged(f"its {name} is damaged")
    if kind is str and any("\0" in entry for entry in value):
        raise _Damaged(f"its {name} is damaged")
    return value


def _plain_cell(cell: tuple[str, tuple[int, ...]] | None) -> dict[str, Any] | None:
    return None if cell is None else {"address": cell[0], "index": list(cell[1])}


def _cell(values: Mapping[str, Any]) -> tuple[str, tuple[int, ...]]:
    index = tuple(_listed(values, "index", int))
    if not all(-LARGEST_NUMBER <= part <= LARGEST_NUMBER for part in index):
        raise _Damaged("its cell is damaged")
    return _word(values, "address"), index
