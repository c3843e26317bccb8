"""The saved settings: the window's arrangement, choices, recent files, and the last session."""

from __future__ import annotations

import base64
import json
import os.path
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import platformdirs
from PySide6.QtCore import QByteArray, QCoreApplication, QTimer

from lmviz.app.session.session import Session
from lmviz.base.errors import LmvizError
from lmviz.base.files import write_atomically
from lmviz.text.ordinary_files import read_file

RECENT = 10
LARGEST_FILE = 10_000_000
LARGEST_NUMBER = 2**53


@dataclass(frozen=True)
class LastSession:
    """Where a session ended. `sources`, `target` and `corpus_options` are those of the corpus, `run` is a
    folder.

    `translated` is what a model that translates read beside the prefix. `live` is whether the newest snapshot
    was followed; `spells_out` is whether special tokens in a text were letters;
    `training` is the folder of a run whose training had not come to its end.
    """

    sources: tuple[str, ...] = ()
    target: str = ""
    corpus_options: Mapping[str, Any] = field(default_factory=dict)
    run: str = ""
    step: int = 0
    prefix: str = ""
    translated: str = ""
    perspective: str = ""
    live: bool = False
    training: str = ""
    spells_out: bool = False

    @property
    def is_worth_going_on(self) -> bool:
        """Whether something was open that can be opened again."""
        return bool(self.sources or self.runs)

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs to open again, as far as they still exist; the one that was shown comes last."""
        folders = dict.fromkeys((self.training, self.run))
        return tuple(folder for folder in folders if folder and os.path.exists(folder))


class Settings:
    """Plain values in one JSON file where the platform expects it.

    QSettings would unpickle values from its file, which can run code. Here the window opens whatever the
    file holds: a value of the wrong type counts as missing.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or platformdirs.user_config_path("lmviz", appauthor=False) / "settings.json"
        self._values = _read(self._path)
        self._kept: dict[str, Any] = {}
        self._forgotten: set[str] = set()
        self._is_waiting = False

    def text(self, key: str, default: str = "") -> str:
        """A word that was kept."""
        value = self._values.get(key)
        return value if isinstance(value, str) else default

    def number(self, key: str, default: int = 0) -> int:
        """A whole number that was kept; the default if the value is of another type."""
        value = self._values.get(key)
        return value if type(value) is int and abs(value) <= LARGEST_NUMBER else default

    def is_on(self, key: str, default: bool = False) -> bool:
        """A switch that was kept."""
        value = self._values.get(key)
        return value if isinstance(value, bool) else default

    def lines(self, key: str) -> list[str]:
        """Lines that were kept; until lmviz wrote lists, they stood in one word."""
        value = self._values.get(key)
        return value if isinstance(value, list) else [line for line in self.text(key).split("\n") if line]

    def mapping(self, key: str) -> dict[str, Any]:
        """Names with plain values that were kept; until lmviz wrote them as such, they stood in one word."""
        value = self._values.get(key)
        return value if isinstance(value, dict) else _mapping(self.text(key))

    def arrangement(self, key: str) -> QByteArray:
        """The geometry of a window; empty when there is none."""
        try:
            return QByteArray(base64.b64decode(self.text(key), validate=True))
        except ValueError:
            return QByteArray()

    def keep(self, key: str, value: str | int | bool | list[str] | dict[str, Any] | QByteArray) -> None:
        """Keep a value under a key such as "view/theme"; it is written when the window has time."""
        plain = bytes(value.toBase64().data()).decode("ascii") if isinstance(value, QByteArray) else value
        self._write_soon()
        self._values[key] = self._kept[key] = plain

    def forget(self, group: str) -> None:
        """Forget everything under a group such as "arrangement"."""
        self._write_soon()
        self._forgotten.add(group)
        self._kept = _without(self._kept, group)
        self._values = _without(self._values, group)

    @property
    def recent(self) -> list[Path]:
        """Files and folders that were opened, the newest first, as far as they still exist."""
        return [Path(line) for line in self.lines("recent") if os.path.exists(line)]

    def add_recent(self, path: Path) -> None:
        """Put a path at the head of the recent ones."""
        paths = [path, *(other for other in self.recent if other != path)]
        self.keep("recent", [str(other) for other in paths[:RECENT]])

    @property
    def last_session(self) -> LastSession:
        """Where the last session ended."""
        return LastSession(
            sources=tuple(self.lines("last/sources")),
            target=self.text("last/target"),
            corpus_options=self.mapping("last/corpus_options"),
            run=self.text("last/run"),
            step=self.number("last/step"),
            prefix=self.text("last/prefix"),
            translated=self.text("last/translated"),
            perspective=self.text("last/perspective"),
            live=self.is_on("last/live"),
            training=self.text("last/training"),
            spells_out=self.is_on("last/spells_out"),
        )

    def keep_session(self, session: Session, perspective: str) -> None:
        """Save what a session has open."""
        corpus, model = session.text.corpus, session.library.model
        options = corpus.options.to_values() if corpus is not None else {}
        self.keep("last/sources", list(corpus.sources) if corpus is not None else [])
        self.keep("last/target", "".join(corpus.target_sources) if corpus is not None else "")
        self.keep("last/corpus_options", options)
        self.keep("last/run", str(model.folder) if model is not None else "")
        self.keep("last/step", session.library.step)
        self.keep("last/prefix", session.reading.prefix)
        self.keep("last/translated", session.reading.source)
        self.keep("last/spells_out", model is not None and model.spells_out)
        self.keep("last/perspective", perspective)
        self.keep("last/live", session.library.live)
        training = session.training.state
        unfinished = training.folder is not None and training.phase != "finished"
        self.keep("last/training", str(training.folder) if unfinished else "")

    def write(self) -> None:
        """Write the changes to the file now; values that another window has written meanwhile stay.

        If the file cannot be written, nothing happens.
        """
        self._is_waiting = True
        self._write_waiting()

    def _write_soon(self) -> None:
        """Have the changes that are made now written down together."""
        if not self._is_waiting and QCoreApplication.instance() is not None:
            self._is_waiting = True
            QTimer.singleShot(0, self._write_waiting)

    def _write_waiting(self) -> None:
        if not self._is_waiting:
            return
        self._is_waiting = False
        values = _read(self._path)
        for group in self._forgotten:
            values = _without(values, group)
        with suppress(LmvizError):
            write_atomically(self._path, json.dumps(values | self._kept, indent=2).encode("ascii"))
            self._forgotten, self._kept = set(), {}


def _read(path: Path) -> dict[str, Any]:
    """The plain values of a file; none where it is not there or damaged."""
    try:
        return _mapping(read_file(path, LARGEST_FILE))
    except OSError:
        return {}


def _without(values: Mapping[str, Any], group: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key != group and not key.startswith(f"{group}/")}


def _mapping(text: str | bytes) -> dict[str, Any]:
    """The plain values of a JSON object; none where it is something else."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    found = values.items() if isinstance(values, dict) else ()
    return {key: value for key, value in found if _is_plain(value)}


def _is_plain(value: object) -> bool:
    """Whether it is a plain value, lines, or names with plain values."""
    if isinstance(value, list):
        return all(isinstance(line, str) for line in value)
    inner = value.values() if isinstance(value, dict) else (value,)
    return all(isinstance(each, str | int | float) for each in inner)
