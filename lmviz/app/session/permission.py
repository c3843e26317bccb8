"""Whether files may be read that a run, a scene or the like names: a stranger may have named any file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.part import Part
from lmviz.base.places import elsewhere
from lmviz.text.resources import data_folder
from lmviz.training.run import Run

LONGEST_NAME = 200
"""The characters of a name that are shown."""


@dataclass(frozen=True)
class Limits:
    """What may be read without asking: files in the folder of one's own runs, and those that are allowed."""

    runs_folder: Path
    allowed: frozenset[str]

    def outside(self, named: Iterable[str | Path], folder: Path) -> dict[str, str]:
        """The others, of those that something in a folder names, each with where it lies."""
        return {
            str(file): place
            for file in named
            if str(file) not in self.allowed
            and (place := elsewhere(file, (folder, self.runs_folder))) is not None
        }

    def outside_of_run(self, run: Run) -> dict[str, str]:
        """The files that the text of a run consists of, where a person has to be asked before they are read;
        each with where it lies. It looks into the run's folder, which may answer late."""
        from lmviz.api.training import sources_elsewhere

        folder = Path(run.folder)
        is_own = elsewhere(folder, (self.runs_folder,)) is None
        return {} if is_own else self.outside(sources_elsewhere(run), folder)


class Permission(Part):
    """Asks a person before a file outside a run is read because the run names it.

    Runs that were begun in this window lie in the folder of one's own runs, and name what was open here.
    """

    asked = Signal(str, object)
    """A sentence, and what to call once a person agrees."""

    def __init__(self, runs_folder: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runs_folder = runs_folder or data_folder() / "runs"
        self._allowed: set[str] = set()

    def allow(self, sources: Iterable[str]) -> None:
        """A person wants these files to be read."""
        self._allowed.update(sources)

    def may_read(self, run: Run, then: Callable[[], object] | None) -> bool:
        """Whether the text of a run may be read; if not, a person is asked, and a yes calls `then`.

        With None nobody is asked.
        """
        files = self.limits().outside_of_run(run)
        if files and then is not None:
            self.ask_person(files, run.description.name, then)
        return not files

    def may_read_files(
        self, named: Iterable[str | Path], folder: Path, namer: str, then: Callable[[], object] | None
    ) -> bool:
        """Whether files may be read that something of this name names, in a folder; as `may_read`."""
        files = self.limits().outside(named, folder)
        if files and then is not None:
            self.ask_person(files, namer, then)
        return not files

    def limits(self) -> Limits:
        """What may be read now, for a thread."""
        return Limits(self._runs_folder, frozenset(self._allowed))

    def ask_person(self, files: Mapping[str, str], namer: str, then: Callable[[], object]) -> None:
        """Ask about files that something of this name names, each with where it lies; a yes calls `then`."""

        def agree() -> None:
            self.allow(files)
            then()

        [(first, place), *others] = files.items()
        leads = f", which leads to {_short(place)}" if place != os.path.abspath(first) else ""
        more = f" and {len(others):,} more files" if others else ""
        self.asked.emit(f"{_short(namer)} names {_short(first)}{leads}{more}, outside its folder.", agree)


def _short(name: str) -> str:
    """A name of any length, its middle left out where it is long."""
    return (
        name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME // 2]} … {name[-LONGEST_NAME // 2 :]}"
    )
