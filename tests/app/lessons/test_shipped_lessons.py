"""Every lesson that comes with lmviz, driven from beginning to end through the window."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from lmviz.app.window.lessons import perspective_names
from lmviz.app.window.main_window import MainWindow
from lmviz.lessons.reading import open_lesson
from lmviz.lessons.shipped import shipped_files
from tests.app.lessons.driver import drive


@pytest.mark.parametrize("path", shipped_files(), ids=lambda path: path.stem)
def test_a_lesson_can_be_done_from_beginning_to_end(path: Path, window: MainWindow, qtbot: QtBot) -> None:
    lesson = open_lesson(path, perspective_names())
    asked = sum(step.question is not None for step in lesson.steps)
    assert drive(window, qtbot, lesson) == asked
