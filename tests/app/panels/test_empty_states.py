"""Where nothing is open yet, one button opens what is missing."""

from collections.abc import Callable
from pathlib import Path

import pytest
from covering import parametrize_few
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow

LONG = 30_000
GAMES = {"guess_view": "guess_play_button", "real_view": "real_play_button"}


@parametrize_few(("perspective", "name"), [("inside", "picture"), ("sample", "distribution")])
def test_without_a_model_a_button_opens_one(
    window: MainWindow, session: Session, qtbot: QtBot, perspective: str, name: str
) -> None:
    window.show_perspective(perspective)
    button = window.findChild(QPushButton, f"{name}_invitation")
    window.findChild(QWidget, f"{name}_view").refresh()
    press(button, qtbot)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    session.reading.set_prefix("the")
    qtbot.waitUntil(lambda: session.reading.current is not None and not button.isVisible(), timeout=LONG)


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_a_game_opens_a_model_to_play_against(
    window: MainWindow, session: Session, qtbot: QtBot, game: str
) -> None:
    press(button_of(window, game), qtbot)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_a_game_opens_the_text_of_the_model_and_is_then_played(
    window: MainWindow, session: Session, make_run: Callable[..., Path], qtbot: QtBot, game: str
) -> None:
    session.library.open(make_run("ngram", 3, order=2))
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    button = button_of(window, game)
    qtbot.waitUntil(lambda: button.text() == "Open the text of ngram", timeout=LONG)
    press(button, qtbot)
    qtbot.waitUntil(lambda: session.text.corpus is not None, timeout=LONG)
    assert session.text.corpus.fingerprint == session.library.model.description.fingerprint
    qtbot.waitUntil(lambda: button.text() == "Play", timeout=LONG)
    press(button, qtbot)
    qtbot.waitUntil(lambda: not button.isVisible(), timeout=LONG)


def press(button: QPushButton, qtbot: QtBot) -> None:
    qtbot.waitUntil(button.isVisible, timeout=LONG)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def button_of(window: MainWindow, game: str) -> QPushButton:
    """The button of a game, which is brought to the front."""
    window.show_perspective("compare")
    view = window.findChild(QWidget, game)
    view.parentWidget().raise_()
    return view.findChild(QPushButton, GAMES[game])
