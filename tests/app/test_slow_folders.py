"""Folders that answer late, vanish and return: the window goes on, says so, and loses nothing."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from lmviz.app.session import work
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from tests.app.slow_folders import SlowFolder

LESSON = "# Night\nnumber: 1\n\n## Begin\nperspective: corpus\nLook.\n"
LECTURE = "# Talk\n\n## First\npoll: ./own.poll\n"
POLL = "question: One or two?\nA: one\nB: two\nright: B\n"

OPENED: dict[str, Callable[[Session, MainWindow], bool]] = {
    "lesson.md": lambda session, window: session.lesson.lesson is not None,
    "talk.lecture": lambda session, window: window.lectures.lecture is not None,
    "own.poll": lambda session, window: session.polls.current.title == "own",
    "farm.txt": lambda session, window: session.text.corpus is not None,
    "run": lambda session, window: session.library.model is not None,
}


@pytest.fixture
def folder(
    tmp_path: Path,
    text_file: Path,
    make_run: Callable[..., Path],
    window: MainWindow,
    session: Session,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[SlowFolder]:
    """One of everything that can be opened, beside a window that is ready."""
    place = tmp_path / "network drive"
    place.mkdir()
    for name, content in (("lesson.md", LESSON), ("talk.lecture", LECTURE), ("own.poll", POLL)):
        (place / name).write_text(content, encoding="utf-8")
    shutil.copy(text_file, place / "farm.txt")
    shutil.copytree(make_run("ngram", 2, order=2), place / "run")
    qtbot.waitUntil(lambda: session.work.is_ready)
    monkeypatch.setattr(work, "BRIEFLY", 0.05)
    folder = SlowFolder(place, monkeypatch)
    yield folder
    folder.give_back()


@pytest.mark.parametrize("name", OPENED)
def test_what_a_slow_folder_holds_is_waited_for_by_no_window(
    name: str, folder: SlowFolder, window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    folder.hold()
    window.open_paths([folder.path / name])
    assert not OPENED[name](session, window)
    qtbot.waitUntil(folder.was_asked.is_set)
    assert [job.name for job in session.work.jobs] == [f"Opening {name}"]
    folder.give_back()
    qtbot.waitUntil(lambda: OPENED[name](session, window))
    assert folder.waited == []


@pytest.mark.parametrize("name", OPENED)
def test_what_vanishes_while_it_is_opened_is_said_and_opens_once_it_is_back(
    name: str, folder: SlowFolder, window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    said: list[str] = []
    for part in (session, session.text, session.library, session.polls):
        getattr(part, "said" if part is session else "failed").connect(said.append)
    folder.hold()
    window.open_paths([folder.path / name])
    qtbot.waitUntil(folder.was_asked.is_set)
    folder.lose()
    qtbot.waitUntil(lambda: bool(said) and not session.work.jobs)
    assert name in said[0]
    assert not OPENED[name](session, window)
    folder.give_back()
    window.open_paths([folder.path / name])
    qtbot.waitUntil(lambda: OPENED[name](session, window))
    assert folder.waited == []


def test_a_lesson_that_comes_late_takes_no_place(
    folder: SlowFolder, window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    here = tmp_path / "here.md"
    here.write_text(LESSON.replace("Night", "Day"), encoding="utf-8")
    folder.hold()
    window.open_lesson(folder.path / "lesson.md")
    window.open_lesson(here)
    qtbot.waitUntil(lambda: session.lesson.lesson is not None)
    folder.give_back()
    qtbot.waitUntil(lambda: not session.work.jobs)
    assert session.lesson.lesson.title == "Day"


def test_snapshots_and_exports_wait_for_their_folder_beside_the_window(
    folder: SlowFolder,
    window: MainWindow,
    session: Session,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []
    session.reading.failed.connect(said.append)
    session.said.connect(said.append)
    session.library.open(folder.path / "run")
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix("the cows")
    qtbot.waitUntil(lambda: session.reading.current is not None and not session.reading.is_busy)
    first, out = session.library.model.snapshots[0], folder.path / "run.arpa"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *given: (str(out), ""))
    folder.hold()
    session.library.choose_step(first)
    window.commands.choosing.save_model()
    assert [job.name for job in session.work.jobs] == ["Saving run.arpa"]
    qtbot.waitUntil(folder.was_asked.is_set)
    folder.lose()
    qtbot.waitUntil(lambda: bool(said) and not session.work.jobs and not session.reading.is_busy)
    folder.give_back()
    window.commands.choosing.save_model()
    qtbot.waitUntil(lambda: out.is_file())
    assert folder.waited == []
