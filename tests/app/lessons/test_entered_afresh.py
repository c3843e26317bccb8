"""Every step of every lesson, entered as after a restart, and set up again once its tasks are done."""

from pathlib import Path

import pytest
from pytestqt.exceptions import TimeoutError
from pytestqt.qtbot import QtBot

from lmviz.app.window.lessons import perspective_names
from lmviz.app.window.main_window import MainWindow
from lmviz.lessons.reading import open_lesson
from lmviz.lessons.shipped import shipped_files
from tests.app.lessons.driver import SOON, bring_about
from tests.app.lessons.person import Driver

QUICK = "07-autodiff"


@pytest.fixture(autouse=True)
def _as_when_lessons_are_driven(lessons_in_short: None) -> None:
    """What takes long is measured briefly, and the hidden fault is always the same."""


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[] if path.stem == QUICK else pytest.mark.slow) for path in shipped_files()],
    ids=lambda path: path.stem,
)
def test_a_step_can_be_begun_by_whoever_comes_back(path: Path, window: MainWindow, qtbot: QtBot) -> None:
    """What is outlined can be used and seen, and nothing is ticked before it is done."""
    driver, lesson = Driver(window, qtbot), open_lesson(path, perspective_names())
    driver.press("lessons_button")
    current, faults = window.session.lesson, []
    for number, step in enumerate(lesson.steps):
        current.leave()
        current.open(lesson, number)
        driver.wait(driver.is_quiet)

        def is_usable(name: str = step.control_at(0)) -> bool:
            ringed = window.lessons.control
            return ringed is not None and ringed is window.find_control(name) and ringed.isEnabled()

        if step.control_at(0):
            try:
                qtbot.waitUntil(is_usable, timeout=SOON)
            except TimeoutError:
                faults.append(f"{step.title}: {step.control_at(0)} cannot be used")
        if current.tasks_done:
            faults.append(f"{step.title}: “{step.tasks[0].words}” is ticked")
        for place, task in enumerate(step.tasks):
            bring_about(driver, task, place)
            driver.wait(lambda place=place: current.tasks_done > place, f"{step.title}: {task.words}")
        window.session.training.stop()  # while one runs no other can be begun
        driver.wait(lambda: not window.session.training.state.is_active)
        driver.press("lesson_prepare")
        driver.wait(driver.is_quiet)
        window.session.reading.changed.emit()  # the lesson looks once more
        if current.tasks_done:
            faults.append(f"{step.title}: “{step.tasks[0].words}” is ticked when it is set up again")
        if step.control_at(0):
            try:
                qtbot.waitUntil(is_usable, timeout=SOON)
            except TimeoutError:
                faults.append(f"{step.title}: {step.control_at(0)} cannot be used when it is set up again")
    assert faults == []
