"""What a path opens, and where it is shown."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from lmviz.app.opening.paths import is_written_race, race_at
from lmviz.app.panels.table import has_prefix
from lmviz.app.window.commanded_window import CommandedWindow
from lmviz.base.errors import LmvizError


class OpenedPaths(QObject):
    """Opens files and folders in a window, each where it is seen.

    Signals: `runs_found(Path)`, a folder of runs that nobody has called a race, of which one is to be chosen.
    """

    runs_found = Signal(object)

    def __init__(self, window: CommandedWindow, parent: QObject) -> None:
        super().__init__(parent)
        self._window, self._session = window, window.session
        self._met: set[Path] = set()  # models of other programs that have been shown
        self._given: set[Path] = set()  # models that were opened by a path, and have not been shown yet
        self._session.library.model_changed.connect(self._show_model)
        window.student_files.unpacked.connect(self._open_unpacked)

    def open(self, paths: Sequence[str | Path]) -> None:
        """Open texts, runs, folders, lessons, lectures, bundles, polls, networks, questions or scenes."""
        from lmviz.autodiff.files import is_network  # not before the first paint
        from lmviz.circuits.shipped_questions import is_question
        from lmviz.desktop.scene import is_scene
        from lmviz.lectures.bundle import is_bundle
        from lmviz.lectures.reading import is_lecture
        from lmviz.lessons.reading import is_lesson
        from lmviz.polls.poll_file import is_poll

        window, session = self._window, self._session
        # As Path.expanduser, but a user whom nobody knows is no fault: there is no such file then.
        found = [Path(os.path.expanduser(path)).absolute() for path in paths]
        for path in found:
            window.settings.add_recent(path)
        others, is_shown = found, False
        for is_of_kind, perspective, open_file in (
            (is_bundle, "", window.student_files.open_bundle),
            (is_lesson, "", self.open_lesson),
            (is_lecture, "", self.open_lecture),
            (is_scene, "", lambda path: window.scenes.open(path)),
            (is_poll, "polls", lambda path: session.polls.open_file(path)),
            (is_network, "autodiff", lambda path: session.network.open_file(path)),
            (is_question, "circuits", lambda path: session.contrast.open_file(path)),
        ):
            chosen = list(filter(is_of_kind, others))
            others = [path for path in others if path not in chosen]
            if chosen and perspective:
                window.show_perspective(perspective)  # first: it is there that what is wrong with one is said
                is_shown = True
            for path in chosen:
                open_file(path)
        races = [path for path in others if race_at(path) is not None]
        for path in races[:1]:
            folder = race_at(path) or path
            self.open_race(folder) if is_written_race(folder) else self.runs_found.emit(folder)
        has_text = self._open_models_and_texts([path for path in others if path not in races])
        if has_text and not is_shown and not has_prefix(window.perspective_name):
            window.show_perspective("corpus")  # where it is seen to have been opened

    def open_race(self, folder: Path) -> None:
        """Open the runs in a folder as the lanes of a race."""
        self._window.show_perspective("race")
        self._session.race.open(folder)

    def open_lesson(self, path: Path) -> None:
        """Open a lesson of one's own; the notice says what is wrong with it."""
        try:
            self._window.lessons.open_file(path)
        except LmvizError as sentence:
            self._session.say(str(sentence))

    def open_lecture(self, path: Path) -> None:
        """Open a lecture; the notice says what is wrong with it."""
        try:
            self._window.lectures.open_file(path)
        except LmvizError as sentence:
            self._session.say(str(sentence))

    def _open_unpacked(self, path: Path) -> None:
        """Open what was in a bundle."""
        from lmviz.lectures.reading import is_lecture

        self.open_lecture(path) if is_lecture(path) else self.open_lesson(path)

    def _open_models_and_texts(self, paths: Sequence[Path]) -> bool:
        """Open runs and checkpoints as models, the rest as one corpus; whether there is such a corpus."""
        from lmviz.runs.folder_contents import contents_of
        from lmviz.runs.opening import find_model, steps_said

        models = [find_model(path) for path in paths]
        held = {
            path: contents_of(path)
            for path, folder in zip(paths, models, strict=True)
            if folder is None and os.path.isdir(path)
        }
        said = [*map(steps_said, paths), *(each.sentence for each in held.values() if not each.is_text)]
        for sentence in filter(None, said):
            self._session.say(sentence)
        folders = list(dict.fromkeys(folder for folder in models if folder is not None))
        for folder in folders:
            self._session.library.open(folder)
        texts = [
            path
            for path, folder in zip(paths, models, strict=True)
            if folder is None and (path not in held or held[path].is_text)
        ]
        if texts:
            self._session.text.open(texts)
        else:
            self._given |= {folder.resolve() for folder in folders}
        return bool(texts)

    def _show_model(self) -> None:
        """Show a model that comes without a text, as one of another program does, where it is seen."""
        session = self._session
        model = session.library.model
        if model is None:
            return
        is_new = model.run.was_trained_elsewhere and model.folder not in self._met
        if not is_new and model.folder not in self._given:
            return
        self._met.add(model.folder)
        self._given.discard(model.folder)
        if session.text.corpus is None:
            if self._window.perspective_name == "corpus":
                self._window.show_perspective("attention" if model.has_heads else "inside")
            session.fitting.want_example()
