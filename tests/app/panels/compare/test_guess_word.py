"""The game of guessing words, scored beside the models."""

from pathlib import Path

import pytest
from benches.compare import LONG, click, panel
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from lmviz.api import open_model
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow


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
    offered = [button for button in view.findChildren(QPushButton) if button.property("guess")]
    right = next(button for button in offered if button.property("guess") == shown.answer)
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
