"""Lectures, lessons, polls and questions are read again when their file changes, and the place is kept."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QFileSystemWatcher
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.app.window.followed_files import FollowedFiles
from lmviz.app.window.main_window import MainWindow

POLL = "# Mine\nquestion: Which?\nA: a\nB: b\nright: A\n"
LECTURE = "# Small\n## One\nstep: memory 1\n## Two\npoll: ./own.poll\n## Three\npoll: order\n"
LESSON = "# Own\n\n## First\nperspective: sample\n\nSay.\n\n## Second\nperspective: sample\n\nSay more.\n"


@pytest.fixture
def followed(window: MainWindow) -> FollowedFiles:
    return FollowedFiles(window)


def write(path: Path, text: str) -> None:
    """As many programs do: beside it, and then in its place."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, path)


def test_a_file_that_another_is_put_in_the_place_of_has_changed_each_time(
    followed: FollowedFiles, tmp_path: Path, qtbot: QtBot
) -> None:
    first, second, told = tmp_path / "first", tmp_path / "second", []
    for path in (first, second):
        path.write_text("one")
    followed.follow("some", [first, second], told.append)
    for count, text in enumerate(("two", "three, and more"), start=1):
        write(first, text)
        qtbot.waitUntil(lambda count=count: len(told) == count)
    assert told == [{first}, {first}]
    second.unlink()
    shutil.copy(first, second)
    qtbot.waitUntil(lambda: len(told) == 3)
    assert told[-1] == {second}


def test_a_file_that_was_away_is_told_of_when_it_is_back(
    followed: FollowedFiles, tmp_path: Path, qtbot: QtBot
) -> None:
    path, told = tmp_path / "alone" / "only", []
    path.parent.mkdir()
    path.write_text("one")
    followed.follow("some", [path], told.append)
    with qtbot.waitSignal(followed._soon.timeout):
        path.unlink()
    path.write_text("three")
    qtbot.waitUntil(lambda: told == [{path}])


def test_nothing_is_watched_with_until_there_is_something_to_watch(
    followed: FollowedFiles, tmp_path: Path
) -> None:
    path = tmp_path / "some"
    path.write_text("one")
    assert followed.findChild(QFileSystemWatcher) is None
    followed.follow("some", [path], lambda _: None)
    assert followed.findChild(QFileSystemWatcher) is not None
    followed.leave("some")
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert followed.findChild(QFileSystemWatcher) is None


def test_what_was_left_is_followed_no_more(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    lesson, lecture, poll = tmp_path / "own.md", tmp_path / "small.lecture", tmp_path / "own.poll"
    lesson.write_text(LESSON, encoding="utf-8")
    lecture.write_text(LECTURE, encoding="utf-8")
    poll.write_text(POLL, encoding="utf-8")

    def followed() -> set[str]:
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        watchers = window.findChildren(QFileSystemWatcher)
        return {Path(path).name for watcher in watchers for path in watcher.files()}

    window.open_paths([lesson])
    qtbot.waitUntil(lambda: session.lesson.lesson is not None)
    assert followed() == {"own.md"}
    session.lesson.leave()
    assert followed() == set()
    window.open_paths([lecture])
    qtbot.waitUntil(lambda: window.lectures.lecture is not None)
    assert followed() == {"small.lecture", "own.poll"}
    window.lectures.leave()
    assert followed() == set()
    assert window.findChildren(QFileSystemWatcher) == []


def test_a_lecture_is_read_again_and_its_place_kept(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    path, poll = tmp_path / "small.lecture", tmp_path / "own.poll"
    path.write_text(LECTURE, encoding="utf-8")
    poll.write_text(POLL, encoding="utf-8")
    window.open_paths([path])
    lectures = window.lectures
    qtbot.waitUntil(lambda: lectures.lecture is not None)
    lectures.go_to(1)
    assert session.polls.current.question == "Which?"
    write(path, LECTURE.replace("## One", "## Before all\nstep: memory 2\n## One"))
    qtbot.waitUntil(lambda: len(lectures.lecture.items) == 4)
    assert lectures.number == 2
    assert lectures.lecture.items[2].title == "Two"
    write(poll, POLL.replace("Which?", "Which one?"))
    qtbot.waitUntil(lambda: session.polls.current.question == "Which one?")
    assert lectures.number == 2
    write(path, LECTURE.replace("## Two", "## Other"))
    qtbot.waitUntil(lambda: len(lectures.lecture.items) == 3)
    assert lectures.number == 2
    write(path, LECTURE.replace("memory 1", "memory 99"))
    qtbot.waitUntil(lambda: "has steps 1 to" in window.notice.sentence)
    assert len(lectures.lecture.items) == 3, "the one that was read stays"


@pytest.mark.slow
def test_a_lesson_of_ones_own_is_read_again_at_its_step(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "own.md"
    path.write_text(LESSON, encoding="utf-8")
    window.open_paths([path])
    qtbot.waitUntil(lambda: session.lesson.lesson is not None)
    session.lesson.go_to(1)
    for said in ("Say less.", "Say nothing."):
        write(path, LESSON.replace("## First", "## Zeroth\n\nBegin.\n\n## First").replace("Say more.", said))
        qtbot.waitUntil(lambda said=said: session.lesson.step.sentences == said)
        assert session.lesson.step.title == "Second"
        assert session.lesson.number == 2
    session.lesson.leave()
    write(path, LESSON)


@pytest.mark.slow
def test_a_poll_of_ones_own_is_read_again(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "own.poll"
    path.write_text(POLL, encoding="utf-8")
    window.open_paths([path])
    qtbot.waitUntil(lambda: session.polls.current.title == "Mine")
    write(path, POLL.replace("B: b", "B: better"))
    qtbot.waitUntil(lambda: session.polls.current.choices[1].text == "better")


@pytest.mark.slow
def test_a_question_opens_a_model_that_it_is_about(
    window: MainWindow, session: Session, tmp_path: Path, answered: Callable[[], None], qtbot: QtBot
) -> None:
    path = tmp_path / "mine.txt"
    text = "title: Mine\nmodels: echo-*\ntext: chair apple\nchanged: chair queen\nmeasure: logit:map-hat\n"
    path.write_text(text, encoding="utf-8")
    assert session.library.model is None
    window.open_paths([path])
    qtbot.waitUntil(lambda: session.library.model is not None)
    assert session.library.model.name.startswith("echo-")
    qtbot.waitUntil(lambda: session.contrast.measure == "logit:map-hat")
    assert (session.reading.prefix, session.contrast.other) == ("chair apple", "chair queen")
    answered()
