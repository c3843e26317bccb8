"""Whether files may be read that a run, a scene or the like names: a stranger may have named any file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.part import Part
from lmviz.app.session.work import Asker, Work
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

    def __init__(self, work: Work, runs_folder: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work = work
        self._runs_folder = runs_folder or data_folder() / "runs"
        self._allowed: set[str] = set()

    def allow(self, sources: Iterable[str]) -> None:
        """A person wants these files to be read."""
        self._allowed.update(sources)

    def read_once_allowed(
        self,
        what: str,
        run: Run,
        read: Callable[[], object],
        then: Callable[[], object] | None,
        asker: Asker,
        refused: Callable[[], object] = lambda: None,
    ) -> None:
        """Call `read` where the text of a run may be read, once its folder has said where that lies.

        `what` it is read for: while one look is under way, the newest of those for the same follows it.
        Where the text may not be read, `refused` is called, and a person is asked, whose yes calls `then`;
        with None nobody is asked. All of it is perhaps done before this returns.
        """
        limits = self.limits()

        def take(files: dict[str, str]) -> None:
            if not files:
                read()
                return
            if then is not None:
                self.ask_person(files, run.description.name, then)
            refused()

        key = f"text of {run.folder} for {what}"
        self._work.look_into(key, lambda: limits.outside_of_run(run), take, asker)

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
