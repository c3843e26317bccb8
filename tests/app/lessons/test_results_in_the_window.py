"""What a student did and answered: noted while a lesson is taken, kept, and saved without a name."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.app.window.lessons import perspective_names
from lmviz.app.window.main_window import MainWindow
from lmviz.lessons.lesson import Lesson
from lmviz.lessons.reading import read_lesson
from lmviz.lessons.results import GivenAnswer, open_results
from tests.app.lessons.person import Driver

TEXT = """# Sums
## First
question: What is 1 + 1?
answer: 2
hint: Count.

Add.
## Second
do: go to Sample
until: perspective is sample

Go.
"""


@pytest.fixture
def lesson() -> Lesson:
    return read_lesson(TEXT, perspective_names(), "sums")


@pytest.fixture
def driver(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lesson: Lesson
) -> Driver:
    """The lesson begun, and where nothing was done before."""
    monkeypatch.setenv("LMVIZ_DATA", str(tmp_path / "data"))
    window.lessons.open(lesson)
    return Driver(window, qtbot)


def test_answers_tasks_and_hints_are_noted_and_saved_in_a_small_file(
    driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = driver.session
    session.lesson.answer("three")  # which is no number, and so not judged
    session.lesson.answer("3")
    session.lesson.show_hint()
    session.lesson.answer("2")
    session.lesson.go_on()
    driver.window.show_perspective("sample")
    driver.wait(lambda: session.lesson.is_step_done)
    session.lesson.leave()
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *given: (str(tmp_path / "mine"), ""))
    driver.press("lesson_results_save")
    content = (tmp_path / "mine.json").read_bytes()
    assert len(content) < 1000
    [lesson] = open_results(tmp_path / "mine.json").lessons
    first, second = lesson.steps
    assert (first.question, first.hint) == ("What is 1 + 1?", True)
    assert first.answers == (GivenAnswer("3", False), GivenAnswer("2", True))
    assert (second.tasks, second.done, second.is_done) == (1, 1, True)


def test_who_is_in_a_step_saves_them_from_the_menu(
    driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their button stands below the list, which whoever was given a lecture may never see."""
    save = next(each for each in driver.window.commands.all() if each.text() == "Save my results…")
    driver.session.lesson.answer("3")
    assert save.isEnabled()
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *given: (str(tmp_path / "mine.json"), ""))
    save.trigger()
    [lesson] = open_results(tmp_path / "mine.json").lessons
    assert lesson.steps[0].answers == (GivenAnswer("3", False),)
    assert driver.session.lesson.lesson is not None, "one is still in it"


def test_they_are_there_again_after_a_restart(
    driver: Driver, lesson: Lesson, tmp_path: Path, qtbot: QtBot
) -> None:
    driver.session.lesson.answer("3")
    driver.session.lesson_results.close()
    again = Session(tmp_path / "other runs")
    window = MainWindow(again, driver.window.settings)
    qtbot.addWidget(window)
    assert again.lesson_results.results.lessons[0].steps[0].answers == (GivenAnswer("3", False),)
    again.lesson.open(lesson, 0)
    again.lesson.answer("2")
    assert [answer.words for answer in again.lesson_results.results.lessons[0].steps[0].answers] == ["3", "2"]
    window.close()


def test_nothing_is_saved_where_nothing_was_done(driver: Driver) -> None:
    driver.session.lesson.leave()
    assert not driver.control("lesson_results_save").isEnabled()


def test_what_cannot_be_written_is_said(
    driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver.session.lesson.answer("3")
    driver.session.lesson.leave()
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *given: (str(tmp_path / "file" / "a"), ""))
    driver.press("lesson_results_save")
    driver.wait(lambda: "cannot be written" in driver.window.notice.sentence)
