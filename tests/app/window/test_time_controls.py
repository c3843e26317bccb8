"""The button at the end of the time slider says what is true of the moment shown."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.families import FAMILIES
from lmviz.training.options import TrainingOptions

LONG = 30_000


@pytest.fixture
def button(window: MainWindow) -> QPushButton:
    window.resize(1440, 900)
    return window.findChild(QPushButton, "live_button")


@pytest.mark.slow
def test_nothing_is_called_live_while_nothing_trains(
    window: MainWindow, session: Session, button: QPushButton, lstm_run: Path, qtbot: QtBot
) -> None:
    session.library.open(lstm_run)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    assert button.text() == "step 6 · last"
    width = button.width()
    first = session.library.model.snapshots[0]
    session.library.choose_step(first)
    assert button.text() == f"step {first} of 6"
    assert button.minimumWidth() == width, "the slider beside it keeps its place"
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert session.library.step == 6
    assert button.text() == "step 6 · last"
    assert not button.isChecked(), "there is nothing to follow"


def test_a_training_is_live_while_it_is_followed(
    window: MainWindow,
    session: Session,
    button: QPushButton,
    text_file: Path,
    options: TrainingOptions,
    qtbot: QtBot,
) -> None:
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(text_file, documents="line")
    session.training.start(
        "lstm", FAMILIES["lstm"].configuration(width=8), replace(options, validate_every=0)
    )
    qtbot.waitUntil(lambda: session.training.is_following, timeout=LONG)
    assert button.text() == f"step {session.library.step:,} · live"
    assert button.isChecked()
    session.library.choose_step(0)
    assert button.text() == f"step 0 of {options.steps:,}"
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert button.text().endswith("· live")
    session.training.stop()
    qtbot.waitUntil(lambda: not session.training.state.is_active, timeout=LONG)
    qtbot.waitUntil(
        lambda: button.text() == f"step {session.library.model.snapshots[-1]:,} · last", timeout=LONG
    )


@pytest.mark.slow
def test_the_step_is_whole_in_every_size_of_type(
    window: MainWindow, session: Session, button: QPushButton, lstm_run: Path, qtbot: QtBot
) -> None:
    session.library.open(lstm_run)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    for percent in (200, 150, 100):
        window.set_type_size(percent)
        qtbot.waitUntil(lambda: button.width() >= button.sizeHint().width(), timeout=2_000)
