"""Probes in the window: the labels of the open text, read off the states of the shown model."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.panels.circuits.probe import ProbePanel
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow

ONLY_PANELS = ("probe",)
TAGGED = "the\tD\ncows\tN\neat\tV\n\nthe\tD\nhens\tN\nsee\tV\n\nthe\tD\ndog\tN\n\n" * 12


@pytest.fixture
def panel(window: MainWindow, session: Session, own_run: Path, qtbot: QtBot) -> ProbePanel:
    """The panel with a small Transformer."""
    [found] = [item for item in window.perspective.panels if isinstance(item, ProbePanel)]
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open(own_run)
    session.reading.set_prefix("the cows eat")
    return found


def test_without_labels_it_says_what_to_open(panel: ProbePanel, qtbot: QtBot):
    qtbot.waitUntil(lambda: "tags or labels" in panel.findChild(QLabel, "probe_sentence").text())
    assert not panel.findChild(QPushButton, "probe_button").isEnabled()


def test_the_panel_gives_what_python_gives_with_all_controls(
    panel: ProbePanel, session: Session, own_run: Path, tmp_path: Path, qtbot: QtBot
):
    path = tmp_path / "tagged.tsv"
    path.write_text(TAGGED, encoding="utf-8")
    session.text.open(path, task="tagging")
    button = panel.findChild(QPushButton, "probe_button")
    qtbot.waitUntil(button.isEnabled)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.probes is not None)
    expected = lmviz.probe(own_run, session.text.corpus)
    exported = panel.exported_arrays()
    assert exported["accuracy"] == pytest.approx(expected.accuracy)
    assert exported["before_training"] == pytest.approx(expected.untrained)
    assert exported["random_labels"] == pytest.approx(expected.shuffled)
    assert panel.findChild(QLabel, "probe_sentence").text() == expected.sentence
    assert expected.words == 1.0  # each word has one tag here, so nothing may be claimed
    assert expected.sentence.startswith("Nothing is read here")

    session.library.choose_step(0)
    qtbot.waitUntil(lambda: panel.probes is None)  # it was of another step


def choose(panel: ProbePanel, name: str, at: int) -> None:
    """Choose in one of the pickers."""
    box = panel.findChild(QComboBox, name)
    box.setCurrentIndex(at)
    box.activated.emit(at)


def press(panel: ProbePanel, name: str, qtbot: QtBot) -> None:
    button = panel.findChild(QPushButton, name)
    qtbot.waitUntil(lambda: button.isVisible() and button.isEnabled())
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


@pytest.mark.slow
def test_numbers_and_marked_words_are_read_and_their_direction_is_kept(
    panel: ProbePanel, session: Session, own_run: Path, tmp_path: Path, qtbot: QtBot
):
    path = tmp_path / "farm.txt"
    path.write_text("the hens see the dog\nthe cows eat corn\n" * 12, encoding="utf-8")
    session.text.open(path, documents="line")
    qtbot.waitUntil(lambda: session.text.corpus is not None)
    choose(panel, "probe_kind_picker", 2)
    press(panel, "probe_button", qtbot)
    qtbot.waitUntil(lambda: "explained" in panel.exported_arrays())
    expected = lmviz.probe_number(own_run, session.text.corpus, "position")
    assert panel.exported_arrays()["explained"] == pytest.approx(expected.explained)
    assert panel.findChild(QLabel, "probe_sentence").text() == expected.sentence

    choose(panel, "probe_kind_picker", 1)
    qtbot.waitUntil(lambda: "to mark" in panel.findChild(QLabel, "probe_sentence").text())
    press(panel, "probe_mark_button", qtbot)  # the last word, "eat"
    edit = panel.findChild(QLineEdit, "probe_marks_edit")
    qtbot.waitUntil(lambda: edit.text() == "eat")
    edit.setText("eat, the dog")
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    press(panel, "probe_button", qtbot)
    qtbot.waitUntil(lambda: panel.probes is not None)
    marked = lmviz.probe(own_run, session.text.corpus, marked=["eat", "the dog"])
    assert panel.probes.names == ("eat", "the dog", "other words")
    assert panel.exported_arrays()["accuracy"] == pytest.approx(marked.accuracy)

    session.directions.look_for()
    qtbot.waitUntil(lambda: session.directions.file is not None)
    choose(panel, "probe_label_picker", 1)
    press(panel, "keep_probe_direction", qtbot)
    qtbot.waitUntil(lambda: len(session.directions.listed) == 1)
    best = marked.addresses[int(marked.gap.argmax())]
    wanted = marked.direction(best, "the dog")
    assert session.directions.direction.vector == pytest.approx(wanted.vector, abs=1e-5)

    other = (marked.addresses.index(best) + 1) % len(marked.addresses)
    choose(panel, "probe_place_picker", other)
    press(panel, "keep_probe_direction", qtbot)
    qtbot.waitUntil(lambda: len(session.directions.listed) == 2)
    kept = session.directions.direction
    assert kept.address == marked.addresses[other]
    assert kept.vector == pytest.approx(marked.direction(kept.address, "the dog").vector, abs=1e-5)
