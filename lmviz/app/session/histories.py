"""The curves of the runs that are open, read once from what each has written down."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from lmviz.app.session.training_state import History

if TYPE_CHECKING:
    from lmviz.app.session.opened_model import OpenedModel


class Histories:
    """Histories by folder."""

    def __init__(self) -> None:
        self._known: dict[Path, History] = {}

    def of(self, model: OpenedModel) -> History:
        """The curves of a run as they were when it was first asked about."""
        if model.folder not in self._known:
            self._known[model.folder] = History.from_metrics(model.run.metrics())
        return self._known[model.folder]

    def keep(self, folder: Path, history: History) -> None:
        """The curves of a training, which has them newer than its run."""
        self._known[folder] = history

    def forget_all_but(self, folders: Iterable[Path]) -> None:
        """Forget those of runs that are not open any more: they are read again when they are."""
        kept = set(folders)
        self._known = {folder: history for folder, history in self._known.items() if folder in kept}
