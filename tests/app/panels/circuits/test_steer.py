"""Steering along the difference of two texts, in the window: what Python gives, and what the slider does."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QComboBox, QLabel, QSlider
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.panels.circuits.steer import SteerPanel
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow

ONLY_PANELS = ("steer",)
TEXT, OTHER = "the cows eat", "the cows see"


@pytest.fixture
def panel(window: MainWindow, session: Session, transformer_run: Path, qtbot: QtBot) -> SteerPanel:
    """The panel with a small Transformer and a text."""
    [found] = [item for item in window.perspective.panels if isinstance(item, SteerPanel)]
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open(transformer_run)
    session.reading.set_prefix(TEXT)
    return found


def test_without_a_changed_text_it_says_what_is_missing(panel: SteerPanel, qtbot: QtBot):
    qtbot.waitUntil(lambda: "changed text" in panel.shown_look.instead)


def test_the_panel_gives_what_python_gives_and_follows_slider_and_layer(
    panel: SteerPanel, session: Session, transformer_run: Path, qtbot: QtBot
):
    session.contrast.set_other(OTHER)
    qtbot.waitUntil(lambda: panel.found is not None and "random" in panel.exported_arrays())
    tap = panel.found.direction.address
    north = lmviz.direction(transformer_run, [TEXT], [OTHER], tap)
    expected = lmviz.next_token(transformer_run, OTHER, interventions=[north.add(1.0)]).probabilities
    exported = panel.exported_arrays()
    assert exported["probabilities"] == pytest.approx(expected, abs=1e-6)
    measure = session.contrast.found.contrast.measure
    steered = lmviz.steer(transformer_run, north, OTHER, measure)
    assert exported["measure"] == pytest.approx(steered.array, abs=1e-5)
    assert exported["random"] == pytest.approx(steered.random, abs=1e-5)
    known: dict[str, object] = {}
    exec(panel.recipe(), known)
    assert known["values"] == pytest.approx(exported["probabilities"], abs=1e-6)
    assert "times as far as a random direction" in panel.findChild(QLabel, "steer_sentence").text()

    panel.findChild(QSlider).setValue(20)  # strength 0: nothing is added
    qtbot.waitUntil(lambda: panel.found.steered.strength == 0)
    plain = lmviz.next_token(transformer_run, OTHER).probabilities
    assert panel.exported_arrays()["probabilities"] == pytest.approx(plain, abs=1e-6)

    places, other = panel.findChild(QComboBox, "steer_place_picker"), len(panel.found.places) - 1
    other = other if panel.found.places[other] != tap else 0
    places.setCurrentIndex(other)
    places.activated.emit(other)
    qtbot.waitUntil(lambda: panel.found.direction.address == panel.found.places[other] != tap)
    qtbot.waitUntil(lambda: "random" in panel.exported_arrays())
    assert not np.array_equal(panel.exported_arrays()["measure"], steered.array)
