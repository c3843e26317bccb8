"""What a path opens, and where it is shown."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from lmviz.app.opening.found_paths import FoundPaths
from lmviz.app.panels.table import has_prefix
from lmviz.app.window.lessons import perspective_names

if TYPE_CHECKING:
    from lmviz.app.window.commanded_window import CommandedWindow
    from lmviz.app.window.followed_files import FollowedFiles
    from lmviz.lectures.lecture import Lecture
    from lmviz.lessons.lesson import Lesson


class OpenedPaths(QObject):
    """Opens files and folders in a window, each where it is seen.

    Signals: `runs_found(Path)`, a folder of runs that nobody has called a race, of which one is to be chosen;
    `set_found(Path)`, a file that is open as a set of texts, and could be a corpus.
    """

    runs_found = Signal(object)
    set_found = Signal(object)

    def __init__(self, window: CommandedWindow, parent: QObject) -> None:
        super().__init__(parent)
        self._window, self._session = window, window.session
        self._met: set[Path] = set()  # models of other programs that have been shown
        self._asked = 0  # lessons and lectures so far
        self._files: FollowedFiles | None = None
        self._given: set[Path] = set()  # models that were opened by a path, and have not been shown yet
        self._session.library.model_changed.connect(self._show_model)
        window.student_files.unpacked.connect(self._open_unpacked)
        window.lectures.changed.connect(self._follow_nothing_closed)
        self._session.lesson.changed.connect(self._follow_nothing_closed)

    def open(self, paths: Sequence[str | Path]) -> None:
        """Open texts, runs, folders, lessons, lectures, bundles, polls, networks, questions, sets of texts or
        scenes."""
        # As Path.expanduser, but a user whom nobody knows is no fault: there is no such file then.
        found = [Path(os.path.expanduser(path)).absolute() for path in paths]
        for path in found:
            self._window.settings.add_recent(path)
        if found:
            work = self._session.work
            into_texts = self._window.perspective_name == "texts"
            find = partial(FoundPaths.at, found, into_texts)
            work.open_file(found[0], find, self._open_found, self._session.say)

    def _open_found(self, found: FoundPaths) -> None:
        """Open what was found to lie at some paths."""
        window, session, is_shown = self._window, self._session, False
        for kind, perspective, open_file in (
            ("bundle", "", window.student_files.open_bundle),
            ("lesson", "", self.open_lesson),
            ("lecture", "", self.open_lecture),
            ("scene", "", lambda path: window.scenes.open(path)),
            ("poll", "polls", self.open_poll),
            ("network", "autodiff", lambda path: session.network.open_file(path)),
            ("question", "circuits", self.open_question),
            ("set", "texts", self.open_set),
            ("readings", "", self.open_readings),
        ):
            chosen = [path for path in found.files if found.files[path] == kind]
            if chosen and perspective:
                window.show_perspective(perspective)  # first: it is there that what is wrong with one is said
                is_shown = True
            for path in chosen:
                open_file(path)
        if found.race is not None:
            self.open_race(found.race) if found.is_race_written else self.runs_found.emit(found.race)
        self._open_models_and_texts(found)
        if found.texts and not is_shown and not has_prefix(window.perspective_name):
            window.show_perspective("corpus")  # where it is seen to have been opened

    def open_race(self, folder: Path) -> None:
        """Open the runs in a folder as the lanes of a race."""
        self._window.show_perspective("race")
        self._session.race.open(folder)

    def open_poll(self, path: Path) -> None:
        """Ask the poll of a file, and once more whenever that changes."""
        polls = self._session.polls
        polls.open_file(path)
        self._followed.follow("poll", [path], lambda _: polls.open_file(path))

    def open_question(self, path: Path) -> None:
        """Ask the question of a file, and once more whenever that changes."""
        contrast = self._session.contrast
        contrast.open_file(path)
        self._followed.follow("question", [path], lambda _: contrast.open_file(path))

    def open_set(self, path: Path) -> None:
        """Ask about the rows of a file."""
        self._session.many.open_file(path)
        self.set_found.emit(path)

    def open_lesson(self, path: Path) -> None:
        """Open a lesson of one's own; the notice says what is wrong with it."""
        from lmviz.lessons.reading import open_lesson, renewed

        def show(lesson: Lesson) -> None:
            if self._is_newest(number):
                self._window.lessons.open_own(lesson, path)
                self._followed.follow("lesson", [path], lambda _: read_again(lesson))

        def read_again(lesson: Lesson) -> None:
            if session.lesson.lesson is lesson:  # else another one, or none, is open by now
                session.work.open_file(path, lambda: open_lesson(path, names), renew, session.say)

        def renew(lesson: Lesson) -> None:
            before = session.lesson.lesson
            if before is not None and before.name == lesson.name:
                self._window.lessons.renew(lesson, renewed(lesson, before.steps[session.lesson.number]))
                self._followed.follow("lesson", [path], lambda _: read_again(lesson))

        session, number, names = self._session, self._ask(), perspective_names()
        session.work.open_file(path, lambda: open_lesson(path, names), show, session.say)

    def open_lecture(self, path: Path) -> None:
        """Open a lecture; the notice says what is wrong with it. It is read again when it changes."""
        from lmviz.lectures.reading import open_lecture

        def show(lecture: Lecture) -> None:
            if self._is_newest(number):
                window.lectures.open(lecture)
                self._followed.follow("lecture", lecture.files, read_again)

        def read_again(changed: set[Path]) -> None:
            if window.lectures.lecture is not None and window.lectures.lecture.path == path:
                renew = partial(self._renew_lecture, changed, read_again)
                session.work.open_file(path, lambda: open_lecture(path, names), renew, session.say)

        window, session, number, names = self._window, self._session, self._ask(), perspective_names()
        session.work.open_file(path, lambda: open_lecture(path, names), show, session.say)

    def _renew_lecture(
        self, changed: set[Path], read_again: Callable[[set[Path]], None], lecture: Lecture
    ) -> None:
        """Take over a lecture that was read again, and follow the files that it names now."""
        before = self._window.lectures.lecture
        if before is not None and before.path == lecture.path:
            self._window.lectures.renew(lecture, changed)
            self._followed.follow("lecture", lecture.files, read_again)

    @property
    def _followed(self) -> FollowedFiles:
        """The files that are read again when they change."""
        from lmviz.app.window.followed_files import FollowedFiles  # not needed for the first paint

        if self._files is None:
            self._files = FollowedFiles(self)
        return self._files

    def _follow_nothing_closed(self) -> None:
        """Follow the files of a lesson or a lecture no more that was left."""
        if self._files is not None:
            if self._session.lesson.lesson is None:
                self._files.leave("lesson")
            if self._window.lectures.lecture is None:
                self._files.leave("lecture")

    def open_readings(self, path: Path) -> None:
        """Show what a module answered that lmviz does not compute, in a window of its own."""
        from lmviz.recording.readings import Readings

        def show(readings: Readings) -> None:
            from lmviz.app.window.readings_dialog import ReadingsDialog

            parent = self.parent()
            assert isinstance(parent, QWidget)
            ReadingsDialog(readings, self._session.work, parent).show()

        self._session.work.open_file(path, lambda: Readings.open(path), show, self._session.say)

    def _ask(self) -> int:
        """The number of one more lesson or lecture that is asked for."""
        self._asked += 1
        return self._asked

    def _is_newest(self, number: int) -> bool:
        """Whether no other lesson or lecture was asked for since: what comes late does not take its place."""
        return number == self._asked

    def _open_unpacked(self, path: Path) -> None:
        """Open what was in a bundle."""
        from lmviz.lectures.reading import is_lecture

        self.open_lecture(path) if is_lecture(path) else self.open_lesson(path)

    def _open_models_and_texts(self, found: FoundPaths) -> None:
        """Open runs and checkpoints as models, the rest as one corpus."""
        for sentence in found.sentences:
            self._session.say(sentence)
        for folder in found.models:
            self._session.library.open(folder)
        if found.texts:
            self._session.text.open(found.texts)
        else:
            self._given |= set(found.models.values())

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
