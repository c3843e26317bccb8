"""Every lesson that comes with lmviz, driven from beginning to end through the window."""

from functools import partial, partialmethod
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from lmviz.app.session.module_checks import ModuleChecks
from lmviz.app.window.lessons import perspective_names
from lmviz.app.window.main_window import MainWindow
from lmviz.decoding import judged_pairs
from lmviz.lessons.reading import open_lesson
from lmviz.lessons.shipped import shipped_files
from lmviz.scaling import text_length
from tests.app.lessons.driver import drive

LECTURE_HALL = (1280, 720)
QUICK = ("00-tour", "03-memory", "08-gradient-descent", "11-two-sequences")  # which take few seconds
FAULT_IN_Y_HAT = 18
"""A seed with which a fault is hidden there, in the net of the lecture."""


@pytest.fixture(autouse=True)
def _measured_briefly(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is measured for real takes a sentence of each length, and texts of two lengths."""
    monkeypatch.setattr(judged_pairs, "judged_pairs", partial(judged_pairs.judged_pairs, each=1))
    monkeypatch.setattr(text_length.measure_lengths, "__defaults__", ((8, 16),))


@pytest.fixture(autouse=True)
def _fault_in_a_value_that_no_key_types(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lesson that hides a fault asks for the value's name, and always it is ŷ."""
    monkeypatch.setattr(ModuleChecks, "hide_fault", partialmethod(ModuleChecks.hide_fault, FAULT_IN_Y_HAT))


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=[] if path.stem in QUICK else pytest.mark.slow, id=path.stem)
        for path in shipped_files()
    ],
)
def test_a_lesson_can_be_done_from_beginning_to_end(path: Path, window: MainWindow, qtbot: QtBot) -> None:
    lesson = open_lesson(path, perspective_names())
    asked = sum(step.question is not None for step in lesson.steps)
    assert drive(window, qtbot, lesson) == asked


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=[] if path.stem == "03-memory" else pytest.mark.slow)
        for path in shipped_files()
    ],
    ids=lambda path: path.stem,
)
def test_a_lesson_can_be_done_in_the_lecture_hall(path: Path, window: MainWindow, qtbot: QtBot) -> None:
    """Projector mode leaves few panels: each task brings that in sight with which it is done."""
    window.set_projector(True)
    window.resize(*LECTURE_HALL)
    drive(window, qtbot, open_lesson(path, perspective_names()))
