"""The curves of the runs that are open, read from what each has written down."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.training_state import History
from lmviz.base.errors import LmvizError


class RunHistories:
    """Histories by folder. Curves that cannot be read are none, and the sentence about it is said once."""

    def __init__(self, say: Callable[[str], object]) -> None:
        self._say = say
        self._known: dict[Path, tuple[int, History]] = {}  # with the newest snapshot there was then

    def of(self, model: OpenedModel) -> History:
        """The curves of a run, read again when it has been trained on."""
        newest, history = self._known.get(model.folder, (-1, None))
        if history is None or newest < model.snapshots[-1]:
            try:
                history = History.from_metrics(model.run.metrics())
            except LmvizError as sentence:
                history = History()  # what the run wrote of its curves cannot be read any more
                self._say(str(sentence))
            self._known[model.folder] = model.snapshots[-1], history
        return history

    def keep(self, folder: Path, history: History) -> None:
        """The curves of a training, which has them newer than its run."""
        self._known[folder] = max(history.loss.steps, default=0), history

    def forget_all_but(self, folders: Iterable[Path]) -> None:
        """Forget those of runs that are not open any more: they are read again when they are."""
        kept = set(folders)
        self._known = {folder: known for folder, known in self._known.items() if folder in kept}
