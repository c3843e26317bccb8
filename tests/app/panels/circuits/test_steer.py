"""Steering along the difference of two texts, in the window: what Python gives, and what the slider does."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton, QSlider
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.panels.circuits.steer import SteerPanel
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.inspection.recipes.recipe import array_recipe

ONLY_PANELS = ("steer",)
TEXT, OTHER = "the cows eat", "the cows see"


@pytest.fixture
def panel(window: MainWindow, session: Session, own_run: Path, qtbot: QtBot) -> SteerPanel:
    """The panel with a small Transformer and a text."""
    [found] = [item for item in window.perspective.panels if isinstance(item, SteerPanel)]
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open(own_run)
    session.reading.set_prefix(TEXT)
    return found


@pytest.mark.slow
def test_without_a_changed_text_it_says_what_is_missing(panel: SteerPanel, qtbot: QtBot):
    qtbot.waitUntil(lambda: "changed text" in panel.shown_look.instead)


def test_the_panel_gives_what_python_gives_and_follows_slider_and_layer(
    panel: SteerPanel, session: Session, own_run: Path, qtbot: QtBot
):
    session.contrast.set_other(OTHER)
    qtbot.waitUntil(lambda: panel.found is not None and "random" in panel.exported_arrays())
    qtbot.waitUntil(lambda: session.work.is_at_rest)  # what is drawn is not computed again
    tap = panel.found.direction.address
    plain = lmviz.direction(own_run, [TEXT], [OTHER], tap)
    north = plain.scaled_to(lmviz.trace(own_run, OTHER)[tap].array)
    expected = lmviz.next_token(own_run, OTHER, interventions=[north.add(1.0)]).probabilities
    exported = panel.exported_arrays()
    assert exported["probabilities"] == pytest.approx(expected, abs=1e-6)
    measure = session.contrast.found.contrast.measure
    steered = lmviz.steer(own_run, north, OTHER, measure)
    assert exported["measure"] == pytest.approx(steered.array, abs=1e-5)
    assert exported["random"] == pytest.approx(steered.random, abs=1e-5)
    known: dict[str, object] = {}
    exec(panel.recipe(), known)
    assert known["values"] == pytest.approx(exported["probabilities"], abs=1e-6)
    assert "times as far as a random direction" in panel.findChild(QLabel, "steer_sentence").text()
    said = panel.findChild(QLabel, "steer_unit").text()
    assert f"own length is {plain.length / north.length:.2f} of it" in said

    panel.findChild(QSlider).setValue(20)  # strength 0: nothing is added
    qtbot.waitUntil(lambda: panel.found.steered.strength == 0)
    plain = lmviz.next_token(own_run, OTHER).probabilities
    assert panel.exported_arrays()["probabilities"] == pytest.approx(plain, abs=1e-6)

    places, other = panel.findChild(QComboBox, "steer_place_picker"), len(panel.found.places) - 1
    other = other if panel.found.places[other] != tap else 0
    places.setCurrentIndex(other)
    places.activated.emit(other)
    qtbot.waitUntil(lambda: panel.found.direction.address == panel.found.places[other] != tap)
    qtbot.waitUntil(lambda: "random" in panel.exported_arrays())
    assert not np.array_equal(panel.exported_arrays()["measure"], steered.array)


def pick(panel: SteerPanel, name: str, at: int) -> None:
    """Choose in one of the pickers."""
    box = panel.findChild(QComboBox, name)
    box.setCurrentIndex(at)
    box.activated.emit(at)


@pytest.mark.slow
def test_a_direction_of_the_list_is_removed_from_a_word_on_and_goes_into_surgery(
    panel: SteerPanel, session: Session, own_run: Path, qtbot: QtBot
):
    qtbot.waitUntil(lambda: session.directions.file is not None)
    session.directions.add(lmviz.word_direction(own_run, "grass", "layers/0/residual2"))
    session.directions.add(lmviz.word_direction(own_run, "corn", "layers/0/residual2"))
    grass, corn = session.directions.listed
    session.directions.choose(0)
    qtbot.waitUntil(lambda: panel.found is not None and panel.found.direction is grass)
    session.focus.choose_position(1)
    pick(panel, "steer_how_picker", 1)
    pick(panel, "steer_words_picker", 1)
    qtbot.waitUntil(lambda: panel.found.use.how == "remove" and panel.found.use.start == 1)
    expected = lmviz.next_token(
        own_run, TEXT, interventions=[grass.remove(position=slice(1, None))]
    ).probabilities
    assert panel.exported_arrays()["probabilities"] == pytest.approx(expected, abs=1e-6)
    known: dict[str, object] = {}
    exec(panel.recipe(), known)
    assert known["values"] == pytest.approx(expected, abs=1e-6)

    qtbot.mouseClick(panel.findChild(QPushButton, "steer_apply_button"), Qt.MouseButton.LeftButton)
    [change] = session.surgery.interventions
    assert change.describe() == "unembedding of “grass” removed"
    reading = session.reading
    qtbot.waitUntil(lambda: reading.current.baseline is not None)
    shown = reading.current.trace["probabilities"].array[-1]
    assert shown == pytest.approx(expected, abs=1e-6)
    known = {}
    exec(array_recipe(reading.current.moment, "probabilities"), known)
    assert known["values"][-1] == pytest.approx(expected, abs=1e-6)
    session.surgery.undo()

    pick(panel, "steer_how_picker", 2)  # swap with the other one
    pick(panel, "steer_words_picker", 0)
    pick(panel, "steer_layers_picker", 1)
    qtbot.waitUntil(lambda: panel.found.use.other is corn and panel.found.use.everywhere)
    qtbot.waitUntil(lambda: panel.found.use.start == 0 and not panel.is_behind)
    change = dataclasses.replace(grass.swap(corn), address="layers/*/residual2")
    expected = lmviz.next_token(own_run, TEXT, interventions=[change]).probabilities
    assert panel.exported_arrays()["probabilities"] == pytest.approx(expected, abs=1e-6)

    session.contrast.set_other(OTHER)
    qtbot.waitUntil(lambda: panel.found is not None and panel.found.text == OTHER)
    pick(panel, "steer_direction_picker", 0)  # that between the two texts, which is chosen already
    session.contrast.set_other("")
    qtbot.waitUntil(lambda: panel.found is not None and panel.found.direction is grass)


@pytest.mark.slow
def test_a_strength_is_as_far_with_directions_of_all_kinds(
    panel: SteerPanel, session: Session, own_run: Path, qtbot: QtBot
):
    """A word, a difference of means and a number have directions of different lengths of their own."""
    tap = "layers/0/residual2"
    kinds = [lmviz.word_direction(own_run, "grass", tap)]
    kinds.append(lmviz.direction(own_run, [TEXT], [OTHER], tap))
    kinds.append(lmviz.probe_number(own_run, [TEXT, OTHER] * 6, "position").direction(tap))
    assert len({one.length for one in kinds}) == 3
    qtbot.waitUntil(lambda: session.directions.file is not None)
    for one in kinds:
        session.directions.add(one)
        qtbot.waitUntil(lambda one=one: panel.found is not None and panel.found.direction is one)
        states = lmviz.trace(own_run, TEXT)[tap].array[1:]
        far = np.sqrt(((states - states.mean(0)) ** 2).sum(1).mean())
        change = lmviz.add(tap, far * one.vector)
        expected = lmviz.next_token(own_run, TEXT, interventions=[change]).probabilities
        assert panel.exported_arrays()["probabilities"] == pytest.approx(expected, abs=1e-6)
        known: dict[str, object] = {}
        exec(panel.recipe(), known)
        assert known["values"] == pytest.approx(expected, abs=1e-6)


@pytest.mark.slow
def test_the_difference_of_two_texts_can_be_kept(panel: SteerPanel, session: Session, qtbot: QtBot):
    session.contrast.set_other(OTHER)
    qtbot.waitUntil(lambda: panel.found is not None and session.directions.file is not None)
    qtbot.mouseClick(panel.findChild(QPushButton, "keep_steered_direction"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(session.directions.listed) == 1)
    [kept] = session.directions.listed
    assert np.array_equal(kept.vector, panel.found.direction.vector)
    assert kept.origin == "difference of two texts"
    qtbot.waitUntil(session.directions.file.exists)
    assert len(lmviz.open_direction(session.directions.file)) == 1
