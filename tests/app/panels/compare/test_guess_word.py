"""The game of guessing words, scored beside the models."""

from pathlib import Path

import pytest
from benches.compare import LONG, bring_to_front, click, open_all, panel
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from lmviz.api.training import open_model
from lmviz.app.session.session import Session
from lmviz.app.widgets.text.passage_view import PassageView
from lmviz.app.window.main_window import MainWindow
from tests.app.conftest import open_other_text

ONLY_PANELS = ("guess_word", "which_is_real")


@pytest.mark.slow
def test_guessing_is_scored_beside_the_models(
    compare: MainWindow, session: Session, lstm_run: Path, transformer_run: Path, qtbot: QtBot
) -> None:
    view = panel(compare, "guess_view")
    qtbot.waitUntil(lambda: compare.findChild(QPushButton, "guess_play_button").isVisible(), timeout=LONG)
    click(compare, "guess_play_button", qtbot)
    own = compare.findChild(QLineEdit, "guess_edit")
    qtbot.waitUntil(lambda: own.isVisible() and own.isEnabled(), timeout=LONG)
    shown = view.round
    assert shown.answer not in compare.findChild(QLabel, "guess_passage").text().removeprefix(
        f"“…{shown.text}"
    )
    qtbot.waitUntil(lambda: bool(offered(view)), timeout=LONG)
    right = next(button for button in offered(view) if button.property("guess") == shown.answer)
    qtbot.mouseClick(right, Qt.MouseButton.LeftButton)
    answer = view.game.answers[0]
    assert answer.is_right
    assert answer.bits["you"] == pytest.approx(shown.player_bits(shown.answer, 0.5))
    for name, folder in (("transformer", transformer_run), ("lstm", lstm_run)):
        assert answer.bits[name] == pytest.approx(shown.model_bits(open_model(folder)), rel=1e-4)

    qtbot.waitUntil(lambda: compare.findChild(QPushButton, "guess_next_button").isVisible())
    click(compare, "guess_next_button", qtbot)
    qtbot.waitUntil(lambda: own.isVisible() and own.isEnabled(), timeout=LONG)
    own.setText("zebra")
    qtbot.keyClick(own, Qt.Key.Key_Return)
    first, second = view.game.answers
    assert not second.is_right
    assert view.game.mean_bits["lstm"] == pytest.approx((first.bits["lstm"] + second.bits["lstm"]) / 2)


@pytest.mark.slow
def test_a_model_of_words_is_not_asked_to_guess_characters(
    compare: MainWindow, session: Session, text_file: Path, character_run: Path, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(text_file, tokenizer="characters", documents="line")
    view = panel(compare, "guess_view")
    qtbot.waitUntil(
        lambda: any("reads words and cannot guess" in label.text() for label in view.findChildren(QLabel)),
        timeout=LONG,
    )
    button = compare.findChild(QPushButton, "guess_play_button")
    assert not button.isVisible()
    open_all(session, qtbot, character_run)
    qtbot.waitUntil(lambda: button.isVisible() and button.text() == "Play", timeout=LONG)
    assert view.game_card.title == "Guess the next character"
    click(compare, "guess_play_button", qtbot)
    own = compare.findChild(QLineEdit, "guess_edit")
    qtbot.waitUntil(lambda: own.isVisible() and own.isEnabled(), timeout=LONG)
    own.setText("e")
    qtbot.keyClick(own, Qt.Key.Key_Return)
    assert set(view.game.answers[0].bits) == {"you", session.library.model.name}


@pytest.mark.slow
@pytest.mark.parametrize("game", ["guess", "real"])
def test_play_stays_with_its_own_game(
    compare: MainWindow, session: Session, game: str, text_file: Path, qtbot: QtBot
) -> None:
    view = bring_to_front(compare, f"{game}_view", qtbot)
    button = compare.findChild(QPushButton, f"{game}_play_button")
    qtbot.waitUntil(lambda: button.isVisible() and button.isEnabled(), timeout=LONG)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: view.pages.currentIndex() == 1, timeout=LONG)
    QApplication.processEvents()  # a jump to another tab would come with the focus, at once
    assert view.is_in_sight
    assert view.isAncestorOf(QApplication.focusWidget())
    if game == "guess":
        qtbot.waitUntil(lambda: bool(offered(view)), timeout=LONG)
        choice = offered(view)[0]
    else:
        qtbot.waitUntil(lambda: view.pair is not None, timeout=LONG)
        choice = compare.findChild(PassageView, "real_first")
    qtbot.mouseClick(choice, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(compare.findChild(QPushButton, f"{game}_next_button").isVisible)
    QApplication.processEvents()
    assert view.is_in_sight
    assert view.isAncestorOf(QApplication.focusWidget())
    open_other_text(session, text_file, qtbot)


@pytest.mark.slow
def test_a_key_right_after_a_guess_leaves_the_keyboard_in_the_game(compare: MainWindow, qtbot: QtBot) -> None:
    bring_to_front(compare, "guess_view", qtbot)
    own = compare.findChild(QLineEdit, "guess_edit")
    qtbot.waitUntil(compare.findChild(QPushButton, "guess_play_button").isVisible, timeout=LONG)
    click(compare, "guess_play_button", qtbot)
    qtbot.waitUntil(lambda: own.isVisible() and own.isEnabled(), timeout=LONG)
    own.setFocus()
    own.setText("corn")
    press(Qt.Key.Key_Return, qtbot)
    own.setFocus()  # as Shift and Tab do while the answer is not shown yet
    following = compare.findChild(QPushButton, "guess_next_button")
    qtbot.waitUntil(following.isVisible)
    assert QApplication.focusWidget() is following
    press(Qt.Key.Key_Return, qtbot)
    compare.findChild(QPushButton, "guess_look_button").setFocus()  # and as Tab does before the next word
    qtbot.waitUntil(lambda: QApplication.focusWidget() is own and own.isEnabled(), timeout=LONG)


def test_a_whole_game_of_guesses_is_played_with_the_keyboard(compare: MainWindow, qtbot: QtBot) -> None:
    view = bring_to_front(compare, "guess_view", qtbot)
    own = compare.findChild(QLineEdit, "guess_edit")
    button = compare.findChild(QPushButton, "guess_play_button")
    qtbot.waitUntil(button.isVisible, timeout=LONG)
    button.setFocus()
    press(Qt.Key.Key_Return, qtbot)
    qtbot.waitUntil(lambda: view.game is not None, timeout=LONG)
    for played in range(1, len(view.game.rounds) + 1):
        qtbot.waitUntil(lambda: QApplication.focusWidget() is own and own.isEnabled(), timeout=LONG)
        qtbot.keyClicks(own, "corn")
        press(Qt.Key.Key_Return, qtbot)
        assert len(view.game.answers) == played
        assert view.is_in_sight
        qtbot.waitUntil(lambda: compare.findChild(QPushButton, "guess_next_button").isVisible())
        assert view.game.answers[-1].round is view.round
        press(Qt.Key.Key_Return, qtbot)
    qtbot.waitUntil(button.isVisible, timeout=LONG)
    assert button.text() == "Play again"
    press(Qt.Key.Key_Return, qtbot)
    qtbot.waitUntil(lambda: view.game.answers == () and own.isEnabled(), timeout=LONG)
    assert view.is_in_sight


def offered(view: QWidget) -> list[QPushButton]:
    """The words that can be clicked; a button is shown only after it was added."""
    buttons = view.findChildren(QPushButton)
    return [button for button in buttons if button.property("guess") and button.isVisible()]


def press(key: Qt.Key, qtbot: QtBot) -> None:
    """Press a key where the keyboard is."""
    qtbot.keyClick(QApplication.focusWidget(), key)


@pytest.mark.slow
def test_after_a_choice_of_passages_return_goes_on(compare: MainWindow, qtbot: QtBot) -> None:
    view = bring_to_front(compare, "real_view", qtbot)
    button = compare.findChild(QPushButton, "real_play_button")
    qtbot.waitUntil(button.isVisible, timeout=LONG)
    button.setFocus()
    press(Qt.Key.Key_Return, qtbot)
    first = compare.findChild(PassageView, "real_first")
    for played in (1, 2):
        qtbot.waitUntil(lambda played=played: view.game is not None and len(view.game.pairs) == played)
        qtbot.waitUntil(lambda: first.isVisible() and first.verdict == "", timeout=LONG)
        qtbot.mouseClick(first, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: compare.findChild(QPushButton, "real_next_button").isVisible())
        assert len(view.game.found) == played
        press(Qt.Key.Key_Return, qtbot)
