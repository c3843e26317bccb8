"""Scores on the held-out part, measured once, as the core measures them."""

from pathlib import Path

import pytest
from benches.compare import LONG, bring_to_front, click, open_all
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from lmviz.api.training import open_model
from lmviz.app.session.session import Session
from lmviz.app.widgets.tables.table_view import TableView
from lmviz.app.window.main_window import MainWindow
from lmviz.training.held_out import evaluate_documents

ONLY_PANELS = ("scores",)


def row_of(view, at: int) -> list[object]:
    """What a line of the table says."""
    shown = view.findChild(TableView).model()
    return [shown.index(at, column).data() for column in range(shown.columnCount())]


def test_scores_are_measured_once_on_the_same_text(
    compare: MainWindow, session: Session, lstm_run: Path, character_run: Path, qtbot: QtBot
) -> None:
    open_all(session, qtbot, character_run)
    words = next(model for model in session.library.models if model.folder == lstm_run.resolve())
    session.comparison.choose([(words, 6)])
    view = bring_to_front(compare, "scores_view", qtbot)
    qtbot.waitUntil(lambda: view.findChild(TableView).model().rowCount() == 2, timeout=LONG)
    moments = [(words, 6), (session.library.model, session.library.step)]
    click(compare, "measure_button", qtbot)
    qtbot.waitUntil(lambda: all(view.score_of(moment) for moment in moments), timeout=LONG)
    documents = session.text.corpus.validation_documents
    for moment, folder in zip(moments, (lstm_run, character_run), strict=True):
        expected = evaluate_documents(open_model(folder), documents)
        score = view.score_of(moment)
        assert score.tokens == expected.tokens
        assert score.perplexity == pytest.approx(expected.perplexity, rel=1e-5)
        assert score.bits_per_character == pytest.approx(expected.bits_per_character, rel=1e-5)
        at, share = moments.index(moment), f"{100 * expected.unknown_share:.1f} %"
        qtbot.waitUntil(lambda at=at, share=share: share in row_of(view, at))
    button = compare.findChild(QPushButton, "measure_button")
    qtbot.waitUntil(lambda: not session.work.jobs and not button.isEnabled(), timeout=LONG)


@pytest.mark.slow
def test_only_what_was_asked_for_here_is_cancelled_here(
    compare: MainWindow, session: Session, qtbot: QtBot
) -> None:
    view = bring_to_front(compare, "scores_view", qtbot)
    qtbot.waitUntil(lambda: view.findChild(TableView).model().rowCount() == 2, timeout=LONG)
    button = compare.findChild(QPushButton, "measure_button")
    said: set[str] = set()

    def look() -> None:
        view.catch_up()
        if session.scores.is_measuring:
            said.add(button.text())

    session.scores.changed.connect(look)
    session.scores.measure([(session.library.shown_moment, ())])  # as Confusion does unasked
    qtbot.waitUntil(lambda: not session.scores.is_measuring, timeout=LONG)
    assert said == {"Measure"}
    said.clear()
    click(compare, "measure_button", qtbot)
    qtbot.waitUntil(lambda: not session.scores.is_measuring, timeout=LONG)
    assert said == {"Cancel"}
    qtbot.waitUntil(lambda: button.text() == "Measure")


@pytest.mark.slow
def test_what_others_had_measured_goes_on_where_this_is_cancelled(
    compare: MainWindow, session: Session, qtbot: QtBot
) -> None:
    view = bring_to_front(compare, "scores_view", qtbot)
    qtbot.waitUntil(lambda: view.findChild(TableView).model().rowCount() == 2, timeout=LONG)
    button = compare.findChild(QPushButton, "measure_button")
    shown = session.library.shown_moment
    [own] = [moment for moment in session.comparison.moments if moment != shown]
    session.scores.measure([(shown, ())])  # as Confusion does unasked
    click(compare, "measure_button", qtbot)
    qtbot.waitUntil(lambda: button.text() == "Cancel" or bool(view.score_of(own)))
    click(compare, "measure_button", qtbot)
    qtbot.waitUntil(lambda: not session.scores.is_measuring, timeout=LONG)
    assert view.score_of(shown) is not None
    assert view.score_of(own) is None
