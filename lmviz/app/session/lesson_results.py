"""What was done and answered in lessons, kept on this computer, to be saved and sent by whoever wants to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from lmviz.app.session.part import Part
from lmviz.base.errors import LmvizError
from lmviz.base.files import write_atomically
from lmviz.lessons.results import LONGEST, GivenAnswer, LessonResult, Results, open_results
from lmviz.text.resources import data_folder

if TYPE_CHECKING:
    from lmviz.app.session.lesson import CurrentLesson

SOON = 1000  # milliseconds from an answer until it is written, together with later ones


class LessonResults(Part):
    """Follows the lesson one is in. Neither names nor times are kept: a name is typed to save them."""

    def __init__(self, lesson: CurrentLesson, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lesson = lesson
        self._lessons = {each.name: each for each in self._kept().lessons}
        self._write_soon = QTimer(self, singleShot=True, interval=SOON)
        self._write_soon.timeout.connect(self._write)
        lesson.changed.connect(self._note)
        lesson.judged.connect(self._note)

    @property
    def results(self) -> Results:
        """The lessons that were begun."""
        return Results(tuple(lesson for lesson in self._lessons.values() if lesson.is_begun))

    def close(self) -> None:
        """Write what has not been written yet."""
        if self._write_soon.isActive():
            self._write_soon.stop()
            self._write()

    def _note(self, *answers: GivenAnswer) -> None:
        """Note what is done of the present step, and what was answered just now."""
        current = self._lesson
        lesson = current.lesson
        if lesson is None:
            return
        before = self._lessons.get(lesson.name)
        answer = replace(answers[0], words=answers[0].words[:LONGEST]) if answers else None
        found = LessonResult.of(lesson, before).at(
            current.number, current.tasks_done, current.is_hint_shown, answer
        )
        if found != before:
            self._lessons[lesson.name] = found
            self._write_soon.start()

    def _kept(self) -> Results:
        try:
            return open_results(_place())
        except LmvizError:  # there is none yet, or it was damaged
            return Results()

    def _write(self) -> None:
        self.begun.emit()
        try:
            write_atomically(_place(), self.results.to_bytes())
        except LmvizError as error:
            self.failed.emit(str(error))


def _place() -> Path:
    return data_folder() / "results.json"
