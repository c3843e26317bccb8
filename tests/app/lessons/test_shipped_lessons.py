"""Every lesson that comes with lmviz, driven from beginning to end through the window."""

import pytest
from covering import others_slow
from pytestqt.qtbot import QtBot

from lmviz.app.window.lessons import perspective_names
from lmviz.app.window.main_window import MainWindow
from lmviz.lessons.reading import open_lesson
from lmviz.lessons.shipped import shipped_files
from tests.app.lessons.driver import drive

LECTURE_HALL = (1280, 720)
LESSONS = {path.stem: path for path in shipped_files()}


@pytest.fixture(autouse=True)
def _as_when_lessons_are_driven(lessons_in_short: None) -> None:
    """What takes long is measured briefly, and the hidden fault is always the same."""


@pytest.mark.parametrize("name", others_slow(LESSONS, "00-tour"))
def test_a_lesson_can_be_done_from_beginning_to_end(name: str, window: MainWindow, qtbot: QtBot) -> None:
    lesson = open_lesson(LESSONS[name], perspective_names())
    asked = sum(step.question is not None for step in lesson.steps)
    assert drive(window, qtbot, lesson) == asked


@pytest.mark.slow
@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_can_be_done_in_the_lecture_hall(name: str, window: MainWindow, qtbot: QtBot) -> None:
    """Projector mode leaves few panels: each task brings that in sight with which it is done."""
    window.set_projector(True)
    window.resize(*LECTURE_HALL)
    drive(window, qtbot, open_lesson(LESSONS[name], perspective_names()))
