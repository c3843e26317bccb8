"""Probes in the window: the labels of the open text, read off the states of the shown model."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.panels.circuits.probe import ProbePanel
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow

ONLY_PANELS = ("probe",)
TAGGED = "the\tD\ncows\tN\neat\tV\n\nthe\tD\nhens\tN\nsee\tV\n\nthe\tD\ndog\tN\n\n" * 12


@pytest.fixture
def panel(window: MainWindow, session: Session, transformer_run: Path, qtbot: QtBot) -> ProbePanel:
    """The panel with a small Transformer."""
    [found] = [item for item in window.perspective.panels if isinstance(item, ProbePanel)]
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open(transformer_run)
    session.reading.set_prefix("the cows eat")
    return found


def test_without_labels_it_says_what_to_open(panel: ProbePanel, qtbot: QtBot):
    qtbot.waitUntil(lambda: "tags or labels" in panel.findChild(QLabel, "probe_sentence").text())
    assert not panel.findChild(QPushButton, "probe_button").isEnabled()


def test_the_panel_gives_what_python_gives_with_all_controls(
    panel: ProbePanel, session: Session, transformer_run: Path, tmp_path: Path, qtbot: QtBot
):
    path = tmp_path / "tagged.tsv"
    path.write_text(TAGGED, encoding="utf-8")
    session.text.open(path, task="tagging")
    button = panel.findChild(QPushButton, "probe_button")
    qtbot.waitUntil(button.isEnabled)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.probes is not None)
    expected = lmviz.probe(transformer_run, session.text.corpus)
    exported = panel.exported_arrays()
    assert exported["accuracy"] == pytest.approx(expected.accuracy)
    assert exported["before_training"] == pytest.approx(expected.untrained)
    assert exported["random_labels"] == pytest.approx(expected.shuffled)
    assert panel.findChild(QLabel, "probe_sentence").text() == expected.sentence
    assert expected.words == 1.0  # each word has one tag here, so nothing may be claimed
    assert expected.sentence.startswith("Nothing is read here")

    session.library.choose_step(0)
    qtbot.waitUntil(lambda: panel.probes is None)  # it was of another step
