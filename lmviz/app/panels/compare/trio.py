"""A suggestion of what to compare: an n-gram, an LSTM and a Transformer trained on the same corpus."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from lmviz.api.training import find_run, sample_models
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.base.errors import LmvizError
from lmviz.tasks import NEXT_TOKEN
from lmviz.training.run import Run

KEY = Key("trio")

TRIO = ("ngram", "lstm", "transformer")
"""The families to begin with: counts, a recurrence, attention."""


class Trio(QObject):
    """`Trio(panel)`: `search()` finds what to offer; `offer` says it; `compare()` opens and compares it.

    Signal: `changed()` when the offer has changed.
    """

    changed = Signal()

    def __init__(self, panel: Panel) -> None:
        super().__init__(panel)
        self._panel = panel
        self._session = session = panel.session
        self._looked_for: tuple[object, ...] | None = None
        self._folders: tuple[Path, ...] = ()
        self._awaited: tuple[Path, ...] = ()
        self._soon = QTimer(self, singleShot=True, interval=0)  # once an opened model has been chosen
        self._soon.timeout.connect(self._go_on)
        session.library.models_changed.connect(self._go_on_soon)

    @property
    def offer(self) -> str:
        """What `compare` would compare; empty when there are no two models."""
        models, present = self._session.comparison.comparable, self._session.library.model
        if self._folders:
            beside = [present.name] if present is not None and present.folder not in self._folders else []
            return _listed([*beside, *(folder.name for folder in self._folders)])
        return _listed([model.name for model in models]) if len(models) > 1 else ""

    def search(self) -> None:
        """Look for the three again if other models or another corpus are open."""
        session = self._session
        open_folders = tuple(model.folder for model in session.library.models)
        shown, corpus = session.library.model, session.text.corpus
        task = NEXT_TOKEN if shown is None else shown.task.name
        of = None if shown is None else shown.description.fingerprint
        near = "" if corpus is None else corpus.fingerprint
        looked_for = (open_folders, of, near, task)
        if looked_for == self._looked_for or not session.work.is_ready:
            return
        self._looked_for = looked_for

        def work(looked_for: object) -> tuple[Path, ...]:
            samples = [find_run(name).resolve() for name in sample_models()]
            return find_trio(dict.fromkeys([*open_folders, *samples]), of, near=near, task=task)

        self._panel.ask(Question(KEY, looked_for, work), self._show_folders)

    def forget(self) -> None:
        """Have `look` look again, even among the same models."""
        self._looked_for = None

    def compare(self) -> None:
        """Open what is offered and not open yet, and put it beside the present model."""
        if not self._folders:
            self.compare_all()
            return
        self._awaited = self._folders
        known = {model.folder for model in self._session.library.models}
        for folder in self._awaited:
            if folder not in known:
                self._session.library.open_beside(folder)
        self._go_on()

    def compare_all(self) -> None:
        """Compare the shown model with all other open ones of its task."""
        session = self._session
        session.comparison.choose(
            (model, model.snapshots[-1])
            for model in session.comparison.comparable
            if model != session.library.model
        )

    def _go_on_soon(self) -> None:
        if self._awaited:
            self._soon.start()

    def _go_on(self) -> None:
        """Once all are open, they stand beside the present model, which was open before or opened first."""
        session = self._session
        found = {model.folder: model for model in session.library.models}
        if not self._awaited or not all(folder in found for folder in self._awaited):
            return
        chosen = [found[folder] for folder in self._awaited]
        self._awaited = ()
        present = session.library.model
        session.comparison.choose((model, model.snapshots[-1]) for model in chosen if model != present)
        if session.text.corpus is None and present is not None:
            session.text.open_text_of(present)  # on whose held-out part they are judged

    def _show_folders(self, folders: tuple[Path, ...]) -> None:
        if folders != self._folders:
            self._folders = folders
            self.changed.emit()


def _listed(names: Sequence[str]) -> str:
    """Names as one says them, such as: a, b and c."""
    return f"{', '.join(names[:-1])} and {names[-1]}"


def find_trio(
    folders: Iterable[Path], of: str | None = None, *, near: str = "", task: str = NEXT_TOKEN
) -> tuple[Path, ...]:
    """Runs of the three families that were trained on the same corpus for a task, in the order of `TRIO`.

    `of` is the fingerprint of that corpus; where it is None, it may be any, and `near` is the one to prefer.
    Empty when there are no such three.
    """
    corpora: dict[str, dict[str, Path]] = {}
    for folder in folders:
        try:
            description = Run.open(folder).description
        except LmvizError:
            continue
        if description.task != task:
            continue
        mark = description.fingerprint
        if not mark or of not in (None, mark):
            continue
        of_corpus = corpora.setdefault(mark, {})
        of_corpus.setdefault(description.family, folder)
    whole = {mark: found for mark, found in corpora.items() if all(family in found for family in TRIO)}
    if not whole:
        return ()
    chosen = whole.get(near) or next(iter(whole.values()))
    return tuple(chosen[family] for family in TRIO)
