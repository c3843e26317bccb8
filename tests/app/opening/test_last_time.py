"""What was open last time is offered again."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QPushButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from lmviz.app.opening.beginning import open_last
from lmviz.app.opening.settings import Settings
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.families import FAMILIES
from lmviz.lessons.reading import read_lesson
from lmviz.runs.run_list import title_in
from lmviz.training.options import TrainingOptions

LONG = 20_000


def find(window: MainWindow, kind: type[QWidget], name: str) -> QWidget:
    found = window.findChild(kind, name)
    assert found is not None, name
    return found


def press(window: MainWindow, qtbot: QtBot, name: str) -> None:
    button = find(window, QPushButton, name)
    assert button.isEnabled(), name
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


@pytest.fixture
def open_again(tmp_path: Path, qtbot: QtBot) -> Iterator[Callable[[], MainWindow]]:
    """Call it to have a window with what was kept when the one before was closed."""
    sessions: list[Session] = []

    def make() -> MainWindow:
        later = Session(tmp_path / "runs")
        again = MainWindow(later, Settings(tmp_path / "settings.json"))
        qtbot.addWidget(again)
        later.start()
        sessions.append(later)
        return again

    yield make
    for session in sessions:
        session.close()


def test_what_was_open_is_offered_again(
    window: MainWindow,
    read: Session,
    open_again: Callable[[], MainWindow],
    text_file: Path,
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    read.text.open(text_file, documents="line")
    qtbot.waitUntil(lambda: read.text.corpus is not None)
    read.library.choose_step(3)
    window.show_perspective("attention")
    window.close()

    again = open_again()
    later = again.session
    assert again.perspective.name == "attention"
    again.beginning.welcome(tmp_path)
    assert "farm.txt" in again.notice.sentence
    again.notice.findChild(QPushButton).click()
    qtbot.waitUntil(lambda: later.text.corpus is not None and later.reading.current is not None, timeout=LONG)
    assert (later.reading.prefix, later.library.step) == ("the cows eat", 3)
    assert later.text.corpus.options.documents == "line"


@pytest.mark.slow
def test_a_run_is_called_as_everywhere_else(
    window: MainWindow,
    session: Session,
    lstm_run: Path,
    open_again: Callable[[], MainWindow],
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    run = shutil.copytree(lstm_run, tmp_path / "runs" / "2026-03-05-105008-lstm-farm")
    session.library.open(run)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    window.close()
    again = open_again()
    again.beginning.welcome(tmp_path)
    assert again.notice.sentence == f"Last time you had {title_in(run)} open."
    assert run.name not in again.notice.sentence


@pytest.mark.slow
def test_what_is_opened_instead_takes_the_place_of_the_offer(
    window: MainWindow,
    session: Session,
    settings: Settings,
    text_file: Path,
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    settings.keep("last/sources", str(tmp_path / "other.txt"))
    window.beginning.welcome(tmp_path)
    assert window.notice.sentence == "Last time you had other.txt open."
    session.text.open(text_file, documents="line")
    qtbot.waitUntil(lambda: window.notice.sentence == "")


@pytest.mark.slow
def test_a_lesson_takes_the_place_of_what_is_offered(
    window: MainWindow,
    read: Session,
    open_again: Callable[[], MainWindow],
    text_file: Path,
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    """The offer would lie over the controls that a lesson outlines."""
    read.text.open(text_file, documents="line")
    qtbot.waitUntil(lambda: read.text.corpus is not None)
    window.close()

    again = open_again()
    again.beginning.welcome(tmp_path)
    again.beginning.strip.show()
    assert again.notice.sentence
    again.session.lesson.open(read_lesson("# Own\n\n## One\n\nLook.\n", (), "own"))
    qtbot.waitUntil(lambda: not again.notice.sentence and again.beginning.strip.isHidden(), timeout=5000)


@pytest.mark.slow
def test_a_translation_goes_on_with_its_source(
    window: MainWindow,
    read_pair: Callable[..., Session],
    attending_run: Path,
    settings: Settings,
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    read_pair(attending_run, "abc", "c")
    window.close()

    later = Session(tmp_path / "runs")
    later.start()
    try:
        open_last(later, Settings(tmp_path / "settings.json").last_session)
        qtbot.waitUntil(lambda: later.reading.current is not None, timeout=LONG)
        sequences = later.reading.current.trace.sequences
        assert sequences["source"].tokens == ("a", "b", "c", "⟨end⟩")
        assert sequences["text"].tokens == ("⟨start⟩", "c")
    finally:
        later.close()


@pytest.mark.slow
def test_a_session_that_was_killed_in_mid_training_is_offered_again_and_trains_on(
    window: MainWindow,
    session: Session,
    options: TrainingOptions,
    text_file: Path,
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    session.text.open(text_file, documents="line")
    qtbot.waitUntil(lambda: session.text.corpus is not None)
    session.training.start("lstm", FAMILIES["lstm"].configuration(width=8), options)
    qtbot.waitUntil(
        lambda: session.library.model is not None and session.training.state.progress.step > 20, timeout=LONG
    )
    folder = session.training.state.folder
    qtbot.waitUntil(
        lambda: Settings(tmp_path / "settings.json").last_session.training == str(folder), timeout=LONG
    )
    killed = tmp_path / "killed"  # as the files were at that moment; the training itself goes on
    shutil.copytree(folder, killed)
    copied = tmp_path / "killed.json"
    copied.write_text((tmp_path / "settings.json").read_text().replace(str(folder), str(killed)))
    session.training.stop()
    qtbot.waitUntil(lambda: not session.training.state.is_active, timeout=LONG)

    later = Session(tmp_path)  # one's own runs need not be asked about
    again = MainWindow(later, Settings(copied))
    qtbot.addWidget(again)
    later.start()
    try:
        again.beginning.welcome(tmp_path)
        assert title_in(killed) in again.notice.sentence
        again.notice.findChild(QPushButton).click()
        qtbot.waitUntil(lambda: "stopped at step" in again.notice.sentence, timeout=LONG)
        assert later.library.step == later.library.model.snapshots[-1], (
            "what was followed live is followed again"
        )
        held = later.library.step
        later.training.resume()  # from the menu: the offer is out of date then
        assert again.notice.sentence == ""
        qtbot.waitUntil(
            lambda: later.training.state.progress is not None and later.training.state.progress.step > held,
            timeout=LONG,
        )
        assert later.training.state.folder == killed
    finally:
        later.close()


def test_an_offer_that_was_not_taken_up_is_made_again(
    window: MainWindow, settings: Settings, text_file: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    settings.keep("last/sources", str(text_file))
    window.close()
    assert Settings(tmp_path / "settings.json").last_session.sources == (str(text_file),)
