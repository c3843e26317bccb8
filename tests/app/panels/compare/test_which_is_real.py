"""The game of telling a real passage from an invented one."""

from pathlib import Path

import pytest
from benches.compare import LONG, bring_to_front, click
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from lmviz.api.training import open_model
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.empty_text import EmptyText
from lmviz.app.widgets.text.passage_view import PassageView
from lmviz.app.window.main_window import MainWindow
from lmviz.decoding.which_is_real import HeldOutPassage, invent

ONLY_PANELS = ("which_is_real",)


def test_the_real_passage_is_held_out_and_the_other_is_the_model_s(
    compare: MainWindow, session: Session, lstm_run: Path, qtbot: QtBot
) -> None:
    view = bring_to_front(compare, "real_view", qtbot)
    qtbot.waitUntil(lambda: compare.findChild(QPushButton, "real_play_button").isVisible(), timeout=LONG)
    click(compare, "real_play_button", qtbot)
    qtbot.waitUntil(lambda: view.pair is not None, timeout=LONG)
    pair = view.pair
    assert pair.beginning + pair.real in session.text.corpus.validation_documents.text
    first = compare.findChild(PassageView, "real_first")
    qtbot.waitUntil(lambda: first.isVisible() and first.text.endswith(pair.shown[0].strip()))
    qtbot.mouseClick(first, Qt.MouseButton.LeftButton)
    assert view.game.found == (pair.real_first,)
    qtbot.waitUntil(lambda: first.verdict != "")
    assert (first.verdict == "real") == pair.real_first
    again = invent(open_model(lstm_run), HeldOutPassage(pair.beginning, pair.real), view.options_of(0))
    assert again == pair
    second = compare.findChild(PassageView, "real_second")
    qtbot.mouseClick(second, Qt.MouseButton.LeftButton)
    assert len(view.game.found) == 1  # what is judged stays judged


@pytest.mark.slow
def test_of_a_game_that_never_began_no_score_is_said(
    compare: MainWindow, session: Session, lstm_run: Path, qtbot: QtBot
) -> None:
    view = bring_to_front(compare, "real_view", qtbot)
    qtbot.waitUntil(lambda: compare.findChild(QPushButton, "real_play_button").isVisible(), timeout=LONG)
    for model in session.library.models:
        session.library.close(model)
    with qtbot.waitSignal(session.library.model_changed, timeout=LONG):
        view.start(session.text.corpus)
        session.library.open(lstm_run)
        qtbot.waitUntil(lambda: view.game is not None, timeout=LONG)
    said = view.invitation.findChild(EmptyText)
    qtbot.waitUntil(lambda: said.text().startswith("The same beginning, continued twice"), timeout=LONG)
