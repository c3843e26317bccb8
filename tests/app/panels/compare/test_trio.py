"""The three families that one button opens and compares."""

from pathlib import Path

import numpy as np
import pytest
from benches.compare import LONG, PREFIX, core_distributions, open_all, wait_for_distributions
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from lmviz.api.training import find_run
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow


@pytest.fixture
def first_perspective() -> str:
    """Not where the suggestion stands: it is made when the sample models of a test are known."""
    return "corpus"


def test_one_button_opens_and_compares_the_three_families(
    window: MainWindow,
    session: Session,
    lstm_run: Path,
    ngram_run: Path,
    transformer_run: Path,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folders = {"a": ngram_run, "b": lstm_run, "c": transformer_run}
    monkeypatch.setattr("lmviz.app.panels.compare.trio.sample_models", lambda: tuple(folders))
    monkeypatch.setattr(
        "lmviz.app.panels.compare.trio.find_run", lambda name: folders.get(str(name), Path(name))
    )
    window.show_perspective("compare")
    open_all(session, qtbot, transformer_run)
    session.reading.set_prefix(PREFIX)
    button = window.findChild(QPushButton, "compare_trio_button")
    qtbot.waitUntil(button.isVisible, timeout=LONG)
    assert button.text() == "Compare ngram, lstm and transformer"
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    view = wait_for_distributions(window, 3, qtbot)
    assert {item.model.family for item in view.models} == {"ngram", "lstm", "transformer"}
    assert session.library.model.family == "transformer"
    assert len({item.model.color_index for item in view.models}) == 3
    expected = core_distributions((transformer_run, 2), (ngram_run, 2), (lstm_run, 6))
    for found, probabilities in zip(view.found, expected, strict=True):
        np.testing.assert_allclose(found.distribution.probabilities, probabilities, rtol=1e-4)
    qtbot.waitUntil(lambda: session.text.corpus is not None, timeout=LONG)
    assert session.text.corpus.fingerprint == session.library.model.description.fingerprint


@pytest.mark.slow
def test_the_open_model_stays_when_the_suggestion_is_taken(
    window: MainWindow,
    session: Session,
    lstm_run: Path,
    ngram_run: Path,
    transformer_run: Path,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folders = {"a": ngram_run, "b": lstm_run, "c": transformer_run}
    monkeypatch.setattr("lmviz.app.panels.compare.trio.sample_models", lambda: tuple(folders))
    monkeypatch.setattr(
        "lmviz.app.panels.compare.trio.find_run", lambda name: folders.get(str(name), Path(name))
    )
    window.show_perspective("compare")
    open_all(session, qtbot, lstm_run)
    session.library.choose_step(session.library.model.snapshots[0])
    session.reading.set_prefix(PREFIX)
    button = window.findChild(QPushButton, "compare_trio_button")
    qtbot.waitUntil(button.isVisible, timeout=LONG)
    kept = session.library.moment
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    view = wait_for_distributions(window, 3, qtbot)
    assert session.library.moment == kept
    assert {item.model.family for item in view.models} == {"ngram", "lstm", "transformer"}
    assert {model.family for model, _ in session.comparison.chosen} == {"ngram", "transformer"}


@pytest.mark.slow
def test_beside_a_model_of_another_text_no_such_three_are_suggested(
    window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    window.show_perspective("compare")
    button = window.findChild(QPushButton, "compare_trio_button")
    open_all(session, qtbot, find_run("stories-lstm"))
    qtbot.waitUntil(lambda: button.text() == "Compare stories-5-gram, stories-lstm and stories-transformer")
    session.library.close(session.library.model)
    open_all(session, qtbot, find_run("echo-transformer"))
    qtbot.waitUntil(lambda: not button.isVisible() and not session.work.is_busy("trio"), timeout=LONG)
