"""What outlives the window: its arrangement, choices, recent files, and where the last session ended."""

from __future__ import annotations

import json
import os.path
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs
from PySide6.QtCore import QByteArray, QSettings

if TYPE_CHECKING:
    from lmviz.app.session.session import Session

RECENT = 10


@dataclass(frozen=True)
class LastSession:
    """Where a session ended. `sources` and `corpus_options` are those of the corpus, `run` is a folder.

    `live` is whether the newest moment was followed; `training` is the folder of a run whose training had
    not come to its end.
    """

    sources: tuple[str, ...] = ()
    corpus_options: Mapping[str, Any] = field(default_factory=dict)
    run: str = ""
    step: int = 0
    prefix: str = ""
    perspective: str = ""
    live: bool = False
    training: str = ""

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
    """Plain values in one INI file where the platform expects it."""

    def __init__(self, path: Path | None = None) -> None:
        path = path or platformdirs.user_config_path("lmviz", appauthor=False) / "lmviz.ini"
        self._values = QSettings(str(path), QSettings.Format.IniFormat)

    def text(self, key: str, default: str = "") -> str:
        """A word that was kept."""
        return str(self._values.value(key, default))

    def number(self, key: str, default: int = 0) -> int:
        """A whole number that was kept; the default where somebody has written something else."""
        try:
            return int(str(self._values.value(key, default)))
        except ValueError:
            return default

    def is_on(self, key: str, default: bool = False) -> bool:
        """A switch that was kept."""
        return self.text(key, str(default)).lower() == "true"

    def arrangement(self, key: str) -> QByteArray:
        """An arrangement of windows or docks; empty when there is none."""
        value = self._values.value(key)
        return value if isinstance(value, QByteArray) else QByteArray()

    def keep(self, key: str, value: str | int | bool | QByteArray) -> None:
        """Keep a value under a key such as "view/theme"."""
        self._values.setValue(key, str(value).lower() if isinstance(value, bool) else value)

    def forget(self, group: str) -> None:
        """Forget everything under a group such as "arrangement"."""
        self._values.remove(group)

    @property
    def recent(self) -> list[Path]:
        """Files and folders that were opened, the newest first, as far as they still exist."""
        kept = self.text("recent").split("\n")
        return [Path(line) for line in kept if line and os.path.exists(line)]

    def add_recent(self, path: Path) -> None:
        """Put a path at the head of the recent ones."""
        paths = [path, *(other for other in self.recent if other != path)]
        self.keep("recent", "\n".join(str(other) for other in paths[:RECENT]))

    @property
    def last_session(self) -> LastSession:
        """Where the last session ended."""
        return LastSession(
            sources=tuple(source for source in self.text("last/sources").split("\n") if source),
            corpus_options=_mapping(self.text("last/corpus_options")),
            run=self.text("last/run"),
            step=self.number("last/step"),
            prefix=self.text("last/prefix"),
            perspective=self.text("last/perspective"),
            live=self.is_on("last/live"),
            training=self.text("last/training"),
        )

    def keep_session(self, session: Session, perspective: str) -> None:
        """Remember where a session stands."""
        corpus, model = session.text.corpus, session.library.model
        options = corpus.options.to_values() if corpus is not None else {}
        self.keep("last/sources", "\n".join(corpus.sources) if corpus is not None else "")
        self.keep("last/corpus_options", json.dumps(options))
        self.keep("last/run", str(model.folder) if model is not None else "")
        self.keep("last/step", session.library.step)
        self.keep("last/prefix", session.reading.prefix)
        self.keep("last/perspective", perspective)
        self.keep("last/live", session.library.live)
        training = session.training.state
        unfinished = training.folder is not None and training.phase != "finished"
        self.keep("last/training", str(training.folder) if unfinished else "")

    def write(self) -> None:
        """Write everything to the file now."""
        self._values.sync()


def _mapping(text: str) -> dict[str, Any]:
    try:
        values = json.loads(text)
    except ValueError:
        return {}
    return values if isinstance(values, dict) else {}
