"""A run.json from a stranger may name any file as its text: a person is asked before it is read."""

import json
import shutil
from pathlib import Path

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.training.run import Run


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret.txt"
    path.write_text("nobody is to read this\n" * 30, encoding="utf-8")
    return path


def name_as_text(run: Path, folder: Path, file: Path) -> Path:
    """A copy of a run that says that it learned from a file."""
    shutil.copytree(run, folder)
    values = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    values["corpus"]["sources"] = [str(file)]
    (folder / "run.json").write_text(json.dumps(values), encoding="utf-8")
    return folder


@pytest.fixture
def stranger(session: Session, lstm_run: Path, secret: Path, tmp_path: Path, qtbot: QtBot) -> Session:
    """A session in which a run is open that names somebody's file."""
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open(name_as_text(lstm_run, tmp_path / "download", secret))
    return session


def test_a_file_outside_a_run_is_read_after_a_yes_and_is_not_asked_about_again(
    window: MainWindow, stranger: Session, secret: Path, qtbot: QtBot
) -> None:
    stranger.text.open_text_of(stranger.library.model)
    assert not stranger.text.is_opening
    assert str(secret) in window.notice.sentence
    with qtbot.waitSignal(stranger.text.changed):
        window.notice.findChild(QPushButton).click()
    assert stranger.text.corpus.sources == (str(secret),)
    with qtbot.waitSignal(stranger.text.changed):
        stranger.text.open_text_of(stranger.library.model)


@pytest.mark.parametrize("verb", ["resume", "step"])
def test_training_on_asks_before_it_reads(stranger: Session, verb: str, qtbot: QtBot) -> None:
    with qtbot.waitSignal(stranger.permission.asked):
        getattr(stranger.training, verb)()
    assert stranger.training.state.phase == "idle"


def test_a_file_beside_the_run_and_the_text_of_an_own_run_are_read_at_once(
    session: Session, lstm_run: Path, secret: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    session.permission.asked.connect(pytest.fail)
    beside = tmp_path / "download" / "text.txt"
    own = name_as_text(lstm_run, tmp_path / "runs" / "own", secret)
    for folder, file in ((name_as_text(lstm_run, beside.parent, beside), beside), (own, secret)):
        shutil.copy(secret, beside)
        with qtbot.waitSignal(session.library.model_changed):
            session.library.open(folder)
        with qtbot.waitSignal(session.text.changed):
            session.text.open_text_of(session.library.model)
        assert session.text.corpus.sources == (str(file),)


def test_a_name_of_any_length_is_asked_about_in_a_few_words(
    session: Session, lstm_run: Path, tmp_path: Path
) -> None:
    run = Run.open(name_as_text(lstm_run, tmp_path / "download", tmp_path / ("x" * 10_000) / "end.txt"))
    said: list[str] = []
    session.permission.asked.connect(lambda sentence, agree: said.append(sentence))
    session.permission.read_once_allowed("reading", run, pytest.fail, lambda: None, pytest.fail)
    assert len(said[0]) < 500
    assert "end.txt" in said[0]
