"""Whether the text that a run names may be read: whoever wrote its run.json may have named any file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.part import Part
from lmviz.text.resources import data_folder

if TYPE_CHECKING:
    from lmviz.training.run import Run

LONGEST_NAME = 200
"""The characters of a name that are shown."""


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

    def may_read(self, run: Run, then: Callable[[], object]) -> bool:
        """Whether the text of a run may be read; if not, a person is asked, and a yes calls `then`."""
        from lmviz.api import sources_elsewhere

        is_own = Path(run.folder).absolute().is_relative_to(self._runs_folder.absolute())
        return self.may_read_files([] if is_own else sources_elsewhere(run), run.description.name, then)

    def may_read_files(self, named: Iterable[str | Path], namer: str, then: Callable[[], object]) -> bool:
        """Whether files may be read that something of this name names outside its folder; as `may_read`."""
        files = [str(file) for file in named if str(file) not in self._allowed]
        if not files:
            return True

        def agree() -> None:
            self.allow(files)
            then()

        more = f" and {len(files) - 1:,} more files" if len(files) > 1 else ""
        self.asked.emit(
            f"{_short(namer)} names {_short(files[0])}{more} as its text, outside its folder.",
            agree,
        )
        return False


def _short(name: str) -> str:
    """A name of any length, its middle left out where it is long."""
    return (
        name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME // 2]} … {name[-LONGEST_NAME // 2 :]}"
    )
