"""What of a text stands in the training text, in the window."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.panels.sample.copied import CopiedPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.text.concordance_list import ConcordanceList
from lmviz.app.window.main_window import MainWindow
from tests.app.conftest import open_other_text, wait_for_reading

ONLY_PANELS = ("copied",)
WORDS = ("horn", "drum", "doll", "lamp", "boat", "kite", "bell", "coin")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An n-gram, and the text beside it."""
    folder = tmp_path_factory.mktemp("copied")
    chance = np.random.default_rng(0)
    lines = [f"Mira owned a {' and a '.join(chance.choice(WORDS, 3))} ." for _ in range(200)]
    (folder / "things.txt").write_text("\n".join(lines) + "\n")
    corpus = lmviz.load_corpus(folder / "things.txt", documents="line", validation=0.3)
    return lmviz.train("ngram", corpus, folder / "run", order=3).folder


@pytest.mark.slow
def test_the_longest_passages_are_found_and_the_model_writes_for_a_verdict(
    window: MainWindow, session: Session, run: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.library.open(run)
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix("Then Mira owned a horn and a")
    wait_for_reading(session, qtbot)
    window.perspective.bring_forward("copied_view")
    [panel] = window.findChildren(CopiedPanel)
    qtbot.waitUntil(lambda: panel.shown_look.aside == "learned from things")
    session.text.open(run.parent / "things.txt", documents="line", validation=0.3)
    qtbot.waitUntil(lambda: panel.found is not None)
    wanted = lmviz.copied(run, "Then Mira owned a horn and a")
    assert np.array_equal(panel.exported_arrays()["lengths"], wanted.texts[0].lengths)
    assert "6 words in a row" in said(panel, "copied_sentence")
    assert "Too few texts" in said(panel, "copied_verdict")

    known: dict[str, object] = {}
    exec(panel.recipe(), known)  # - what the window hands out to be run
    assert np.array_equal(known["lengths"], panel.exported_arrays()["lengths"])  # type: ignore[arg-type]

    with qtbot.waitSignal(session.text.place_changed):
        panel.findChild(ConcordanceList).part_clicked.emit(0)
    assert session.text.place == panel.found.places[0][1].position

    button = panel.findChild(QPushButton, "copied_write_button")
    qtbot.waitUntil(lambda: button.isVisible())
    button.click()
    qtbot.waitUntil(lambda: panel.written is not None)
    written = panel.written
    assert len(written.texts) == 100
    assert written.verdict is not None
    assert "by chance)" in said(panel, "copied_verdict")


def test_lines_learned_by_heart_are_found_on_a_click(
    window: MainWindow, session: Session, tmp_path: Path, text_file: Path, qtbot: QtBot
) -> None:
    chance = np.random.default_rng(0)
    lines = [" ".join(chance.choice(WORDS, 7)) for _ in range(40)]
    (tmp_path / "things.txt").write_text("\n".join(lines) + "\n")
    corpus = lmviz.load_corpus(tmp_path / "things.txt", documents="line", validation=0.4)
    settings = {"steps": 60, "batch": 8, "snapshots": 5, "learning_rate": 0.02, "sampling": "sentences"}
    run = lmviz.train("gru", corpus, tmp_path / "run", width=24, layers=1, **settings).folder
    session.library.open(run)
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.text.open(tmp_path / "things.txt", documents="line", validation=0.4)
    session.reading.set_prefix("horn drum")
    wait_for_reading(session, qtbot)
    window.perspective.bring_forward("copied_view")
    [panel] = window.findChildren(CopiedPanel)
    button = panel.findChild(QPushButton, "learned_by_heart_button")
    qtbot.waitUntil(lambda: panel.found is not None and button.isVisible())
    button.click()
    qtbot.waitUntil(lambda: panel.findChild(QLabel, "learned_by_heart_sentence") is not None)
    wanted = lmviz.memorised(run, corpus=corpus)
    label = panel.findChild(QLabel, "learned_by_heart_sentence")
    assert f"after step {wanted.since:,} than" in (label.accessibleName() or label.text())
    assert f"of {wanted.count} lines" in (label.accessibleName() or label.text())
    del corpus
    open_other_text(session, text_file, qtbot)


def said(panel: CopiedPanel, name: str) -> str:
    label = panel.findChild(QLabel, name)
    return label.accessibleName() or label.text()
