"""Since when a state carries the answer, in the window."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QComboBox, QLabel
from pytestqt.qtbot import QtBot

from lmviz.app.panels.inside.back_in_time import BackInTimePanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.plots.word_bars import WordBarsPlot
from lmviz.app.window.main_window import MainWindow
from tests.app.conftest import wait_for_reading

ONLY_PANELS = ("back_in_time",)
TEXT = "the cows eat the"


@pytest.fixture
def panel(window: MainWindow, read: Session, text_file: Path, qtbot: QtBot) -> BackInTimePanel:
    """The panel with a small recurrent network and its text."""
    read.text.open(text_file)
    qtbot.waitUntil(lambda: read.text.corpus is not None)
    [found] = window.findChildren(BackInTimePanel)
    window.perspective.bring_forward("back_in_time_view")
    return found


def read_all(panel: BackInTimePanel, session: Session, qtbot: QtBot) -> None:
    """Type the text, and wait until all of its words have been tried."""
    session.reading.set_prefix(TEXT)
    wait_for_reading(session, qtbot)
    qtbot.waitUntil(lambda: panel.asked is not None and panel.asked.subject is session.reading.current)
    qtbot.waitUntil(lambda: panel.found.growing.is_done)


def test_bars_are_what_python_gives_and_a_click_goes_to_the_word(
    panel: BackInTimePanel, read: Session, qtbot: QtBot
):
    read_all(panel, read, qtbot)
    sentence = panel.findChild(QLabel, "back_in_time_sentence")
    qtbot.waitUntil(lambda: "leads" in sentence.text() and "Measuring" not in sentence.text())
    exported = panel.exported_arrays()
    assert np.isfinite(exported["lost"]).all()
    known: dict[str, object] = {}
    exec(panel.recipe(), known)
    assert known["values"] == pytest.approx(exported["lost"], abs=1e-5)
    [plot] = panel.findChildren(WordBarsPlot)
    assert plot.values.tolist() == pytest.approx(exported["lost"].tolist())
    plot.part_clicked.emit(1)
    assert read.focus.position == 1
    qtbot.waitUntil(lambda: len(panel.exported_arrays()["lost"]) == 2)


@pytest.mark.slow
def test_another_word_is_asked_about(panel: BackInTimePanel, read: Session, qtbot: QtBot):
    read_all(panel, read, qtbot)
    words = panel.findChild(QComboBox, "carried_word_picker")
    before = panel.found.words
    words.setCurrentIndex(2)
    words.activated.emit(2)
    qtbot.waitUntil(lambda: panel.found.words[0] != before[0])
    assert panel.found.words[1] == before[0]  # the likeliest of the others
