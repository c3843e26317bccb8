"""What a student did and answered: noted while a lesson is taken, kept, and saved without a name."""

from datetime import date
from pathlib import Path

import pytest
from PySide6.QtWidgets import QDialog, QFileDialog, QLabel, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.session.session import Session
from lmviz.app.window.lessons import perspective_names
from lmviz.app.window.main_window import MainWindow
from lmviz.lessons.lesson import Lesson
from lmviz.lessons.reading import read_lesson
from lmviz.lessons.results import open_results
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
    dialog = driver.window.findChild(QDialog, "results_dialog")
    said = [label.text() for label in dialog.findChildren(QLabel)]
    assert "1 question answered: 0 right at once, 1 right in the end." in said
    assert said[said.index("First") : said.index("First") + 3] == ["First", "3", "right, with the hint"]
    dialog.findChild(QLineEdit, "results_student").setText("4711")
    dialog.findChild(QPushButton, "results_save_button").click()
    content = (tmp_path / "mine.json").read_bytes()
    assert len(content) < 2000
    results = open_results(tmp_path / "mine.json")
    [lesson] = results.lessons
    assert (results.student, results.version) == ("4711", lmviz.__version__)
    assert date.fromisoformat(results.date) <= date.today()
    assert results.verdict_on(lesson) == "sound"
    assert driver.window.settings.text("lessons/student") == "4711", "it is asked once"
    first, second = lesson.steps
    assert (first.question, first.hint) == ("What is 1 + 1?", True)
    assert [(each.words, each.is_right) for each in first.answers] == [("3", False), ("2", True)]
    assert all(each.evidence for each in first.answers)
    assert (second.tasks, second.done, second.is_done) == (1, 1, True)


@pytest.mark.slow
def test_who_is_in_a_step_saves_them_from_the_menu(
    driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their button stands below the list, which whoever was given a lecture may never see."""
    save = next(each for each in driver.window.commands.all() if each.text() == "My results…")
    driver.session.lesson.answer("3")
    assert save.isEnabled()
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *given: (str(tmp_path / "mine.json"), ""))
    save.trigger()
    driver.window.findChild(QPushButton, "results_save_button").click()
    [lesson] = open_results(tmp_path / "mine.json").lessons
    assert [each.words for each in lesson.steps[0].answers] == ["3"]
    assert driver.session.lesson.lesson is not None, "one is still in it"


def test_they_are_there_again_after_a_restart(
    driver: Driver, lesson: Lesson, tmp_path: Path, qtbot: QtBot
) -> None:
    driver.session.lesson.answer("3")
    driver.session.lesson_results.close()
    again = Session(tmp_path / "other runs")
    window = MainWindow(again, driver.window.settings)
    qtbot.addWidget(window)
    assert [answer.words for answer in again.lesson_results.results.lessons[0].steps[0].answers] == ["3"]
    again.lesson.open(lesson, 0)
    again.lesson.answer("2")
    assert [answer.words for answer in again.lesson_results.results.lessons[0].steps[0].answers] == ["3", "2"]
    window.close()


@pytest.mark.slow
def test_nothing_is_saved_where_nothing_was_done(driver: Driver) -> None:
    driver.session.lesson.leave()
    assert not driver.control("lesson_results_save").isEnabled()


@pytest.mark.slow
def test_what_cannot_be_written_is_said(
    driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver.session.lesson.answer("3")
    driver.session.lesson.leave()
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *given: (str(tmp_path / "file" / "a"), ""))
    driver.press("lesson_results_save")
    driver.window.findChild(QPushButton, "results_save_button").click()
    driver.wait(lambda: "cannot be written" in driver.window.notice.sentence)
