"""Units: brushed words, the places of the corpus, and the lines that an n-gram was counted from."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from lmviz.app.main_window import MainWindow
from lmviz.app.session import Session
from lmviz.app.widgets.concordance_list import ConcordanceList
from lmviz.app.widgets.token_strip import TokenStrip
from lmviz.inspection.firing_units import firing_units

LONG = 30_000


def open_inside(
    window: MainWindow, session: Session, run: Path, text_file: Path, qtbot: QtBot
) -> dict[str, object]:
    with qtbot.waitSignal(session.corpus_changed, timeout=LONG):
        session.open_corpus(text_file, documents="line")
    session.open_model(run)
    qtbot.waitUntil(lambda: session.model is not None, timeout=LONG)
    session.set_prefix("the cows eat grass")
    qtbot.waitUntil(
        lambda: session.reading is not None and session.reading.trace.text == "the cows eat grass",
        timeout=LONG,
    )
    window.show_perspective("inside")
    qtbot.wait(30)
    return {panel.objectName(): panel for panel in window.perspective.panels}


def test_brushing_words_finds_the_units_that_fire_there(
    window: MainWindow, session: Session, lstm_run: Path, text_file: Path, qtbot: QtBot
) -> None:
    panel = open_inside(window, session, lstm_run, text_file, qtbot)["unit_view"]
    address = "layers/0/forget"
    session.choose_cell((address, (2, 1)))
    qtbot.waitUntil(lambda: panel.unit == (address, 1), timeout=LONG)
    panel.findChild(TokenStrip).tokens_brushed.emit(1, 2)
    expected = firing_units(session.reading.trace, address, (1, 3), panel.threshold)
    offered = [button.text() for button in panel.unit_buttons]
    assert offered == [f"{'−' if item.sign < 0 else ''}{item.unit}" for item in expected[: len(offered)]]
    assert offered
    qtbot.mouseClick(panel.unit_buttons[-1], Qt.MouseButton.LeftButton)
    assert panel.unit == (address, expected[len(offered) - 1].unit)


def test_the_places_where_a_unit_fires_most_are_the_corpus_own(
    window: MainWindow, session: Session, lstm_run: Path, text_file: Path, qtbot: QtBot
) -> None:
    panel = open_inside(window, session, lstm_run, text_file, qtbot)["unit_view"]
    session.choose_cell(("layers/0/hidden", (3, 2)))
    button = window.findChild(QPushButton, "unit_search_button")
    qtbot.waitUntil(lambda: panel.unit == ("layers/0/hidden", 2) and button.isEnabled(), timeout=LONG)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(panel.places) > 3 and not session.jobs, timeout=LONG)
    values = np.array([place.value for place in panel.places])
    assert (np.diff(np.abs(values)) <= 1e-6).all()
    tokens = session.corpus.tokenizer.tokens()
    for place in panel.places:
        assert place.token == tokens[session.corpus.training[place.position]]


@pytest.fixture(scope="module")
def ngram_run(make_run: Callable[..., Path]) -> Path:
    """A small trigram model."""
    return make_run("ngram", 3, order=3)


def test_an_n_gram_shows_the_lines_it_was_counted_from(
    window: MainWindow, session: Session, ngram_run: Path, text_file: Path, qtbot: QtBot
) -> None:
    panels = open_inside(window, session, ngram_run, text_file, qtbot)
    assert session.corpus.fingerprint == session.model.description.fingerprint
    places = panels["unit_view"].findChild(ConcordanceList)
    context = session.reading.trace["orders/3/context"].array[session.reading_position]
    ids = session.corpus.training.tolist()
    wanted = [int(i) for i in context if i >= 0]
    found = sum(ids[n : n + len(wanted)] == wanted for n in range(len(ids) - len(wanted)))
    qtbot.waitUntil(lambda: places.accessibleDescription() == f"{min(found, 200)} places", timeout=LONG)
