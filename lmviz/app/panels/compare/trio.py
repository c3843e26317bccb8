"""What to compare first: an n-gram, an LSTM and a Transformer of one corpus, or whatever is open."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from lmviz.app.session.comparing import find_trio

if TYPE_CHECKING:
    from lmviz.app.session.session import Session


class Trio(QObject):
    """`look()` finds what can be offered; `offer` says it in words; `compare()` opens and compares it.

    Signal: `changed()` when the offer has changed.
    """

    changed = Signal()

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._looked_for: tuple[object, ...] | None = None
        self._folders: tuple[Path, ...] = ()
        self._awaited: tuple[Path, ...] = ()
        self._soon = QTimer(self, singleShot=True, interval=0)  # once an opened model has been chosen
        self._soon.timeout.connect(self._go_on)
        session.models_changed.connect(self._go_on_soon)

    @property
    def offer(self) -> str:
        """What `compare` would compare; empty when there are no two models."""
        if self._folders:
            return _listed([folder.name for folder in self._folders])
        models = self._session.models
        return _listed([model.name for model in models]) if len(models) > 1 else ""

    def look(self) -> None:
        """Look for the three again if other models or another corpus are open."""
        session = self._session
        open_folders = tuple(model.folder for model in session.models)
        marks = [session.model.description.fingerprint] if session.model is not None else []
        marks += [session.corpus.fingerprint] if session.corpus is not None else []
        looked_for = (open_folders, tuple(marks))
        if looked_for == self._looked_for or not session.is_ready:
            return
        self._looked_for = looked_for

        def work() -> tuple[Path, ...]:
            from lmviz.api import find_run, sample_models

            samples = [find_run(name).resolve() for name in sample_models()]
            return find_trio(dict.fromkeys([*open_folders, *samples]), *marks[:1])

        session.ask_reader("trio", work, self._take)

    def compare(self) -> None:
        """Open what is offered and not open yet, and compare it."""
        if not self._folders:
            self.compare_all()
            return
        self._awaited = self._folders
        known = {model.folder for model in self._session.models}
        for folder in self._awaited:
            if folder not in known:
                self._session.open_model(folder)
        self._go_on()

    def compare_all(self) -> None:
        """Compare the present model with all others that are open."""
        session = self._session
        session.compare((model, model.snapshots[-1]) for model in session.models if model != session.model)

    def _go_on_soon(self) -> None:
        if self._awaited:
            self._soon.start()

    def _go_on(self) -> None:
        """Once all are open, the last of them is the present one and the others stand beside it."""
        session = self._session
        found = {model.folder: model for model in session.models}
        if not self._awaited or not all(folder in found for folder in self._awaited):
            return
        chosen = [found[folder] for folder in self._awaited]
        self._awaited = ()
        session.choose_model(chosen[-1])
        session.compare((model, model.snapshots[-1]) for model in chosen[:-1])
        if session.corpus is None:
            session.open_text_of(chosen[-1])  # on whose held-out part they are judged

    def _take(self, folders: tuple[Path, ...]) -> None:
        if folders != self._folders:
            self._folders = folders
            self.changed.emit()


def _listed(names: Sequence[str]) -> str:
    """Names as one says them, such as: a, b and c."""
    return f"{', '.join(names[:-1])} and {names[-1]}"
