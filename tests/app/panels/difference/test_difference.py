"""A run at two steps, held against each other in the window: numbers of the core, read off the panels."""

import gc
from pathlib import Path

import numpy as np
import pytest
from benches.compare import LONG, bring_to_front, open_all, panel
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QPushButton, QSlider
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.differences.pair import ModelPair
from tests.app.conftest import open_other_text

PREFIX = "the cows eat"


@pytest.fixture(scope="session")
def learned_run(make_run):
    """A small Transformer of two layers, long enough trained that its steps differ."""
    return make_run("transformer", 12, width=8, heads=2, layers=2, context=16)


@pytest.fixture
def two(window: MainWindow, session: Session, learned_run: Path, text_file: Path, qtbot: QtBot) -> MainWindow:
    """The window at Difference: the last step of a run beside its first."""
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(text_file, documents="line")
    open_all(session, qtbot, learned_run)
    session.reading.set_prefix(PREFIX)
    model = session.library.model
    session.pair.choose_before((model, model.snapshots[0]))
    return window


def models(session: Session):
    before, after = session.pair.models
    return tuple(lmviz.open_model(item.model.folder, item.step) for item in (before, after))


def known(qtbot: QtBot, view, name: str):
    qtbot.waitUntil(lambda: name in view.exported_arrays() and not view.is_behind, timeout=LONG)
    return view.exported_arrays()[name]


def run_recipe(view) -> dict:
    found: dict = {}
    exec(view.recipe(), found)
    return found


@pytest.mark.slow
def test_inside_the_two_at_two_steps_of_a_run(two: MainWindow, session: Session, qtbot: QtBot) -> None:
    change = lmviz.difference(*models(session), PREFIX)
    view = panel(two, "difference_view")
    assert known(qtbot, view, "distance") == pytest.approx(change.stream.array, abs=1e-5)
    qtbot.waitUntil(lambda: "similarity" in view.exported_arrays(), timeout=LONG)
    assert view.exported_arrays()["similarity"].shape == (5,)
    assert run_recipe(view)["values"] == pytest.approx(view.exported_arrays()["distance"], abs=1e-5)
    heads = panel(two, "moved_heads_view")
    assert known(qtbot, heads, "moved") == pytest.approx(change.heads.at(-1), abs=1e-5)
    weights = panel(two, "changed_weights_view")
    wanted = [matrix.relative for matrix in change.matrices]
    assert known(qtbot, weights, "relative") == pytest.approx(wanted, nan_ok=True)
    words = panel(two, "changed_words_view")
    shares = [lmviz.next_token(model, PREFIX).probabilities for model in models(session)]
    assert known(qtbot, words, "before") == pytest.approx(shares[0], abs=1e-5)
    assert words.exported_arrays()["after"] == pytest.approx(shares[1], abs=1e-5)
    assert run_recipe(words)["values"] == pytest.approx(np.stack(shares), abs=1e-6)


@pytest.mark.slow
def test_another_step_of_a_is_chosen_and_everything_follows(
    two: MainWindow, session: Session, qtbot: QtBot
) -> None:
    view = panel(two, "difference_view")
    first = known(qtbot, view, "distance").copy()
    picker = view.findChild(QComboBox, "difference_before_picker")
    step = session.library.model.snapshots[1]
    place = next(at for at in range(picker.count()) if picker.itemText(at) == f"A  step {step}")
    picker.setCurrentIndex(place)
    picker.activated.emit(place)
    assert session.pair.before == (session.library.model, step)
    qtbot.waitUntil(lambda: not np.array_equal(view.exported_arrays()["distance"], first), timeout=LONG)
    change = lmviz.difference(*models(session), PREFIX)
    assert known(qtbot, view, "distance") == pytest.approx(change.stream.array, abs=1e-5)


@pytest.mark.slow
def test_the_words_that_rose_are_transplanted(two: MainWindow, session: Session, qtbot: QtBot) -> None:
    view = bring_to_front(two, "transplant_view", qtbot)
    qtbot.waitUntil(
        lambda: view.found is not None and view.found.is_done,
        timeout=LONG,
    )
    moved = lmviz.transplant(*models(session), PREFIX)
    assert known(qtbot, view, "alone") == pytest.approx(moved.array, abs=1e-4)
    assert view.exported_arrays()["from below"][-1] == 1.0
    assert view.exported_arrays()["from above"][0] == 1.0
    assert run_recipe(view)["values"] == pytest.approx(moved.array)
    measure = view.findChild(QComboBox, "transplant_measure_picker")
    measure.setCurrentIndex(1)
    measure.activated.emit(1)
    loss = lmviz.transplant(*models(session), lmviz.contrast(PREFIX, measure="loss"))
    qtbot.waitUntil(lambda: view.found.found.measure == "loss" and view.found.is_done, timeout=LONG)
    assert view.exported_arrays()["alone"] == pytest.approx(loss.array, abs=1e-4)
    assert run_recipe(view)["values"] == pytest.approx(loss.array)
    picker = view.findChild(QComboBox, "transplant_picker")
    picker.setCurrentIndex(2)
    picker.activated.emit(2)
    heads = lmviz.transplant(*models(session), PREFIX, each="head")
    qtbot.waitUntil(lambda: view.exported_arrays()["alone"].shape == heads.array.shape, timeout=LONG)


def test_the_slider_goes_beyond_both_models(two: MainWindow, session: Session, qtbot: QtBot) -> None:
    view = bring_to_front(two, "strength_view", qtbot)
    known(qtbot, view, "probabilities")
    slider = view.findChild(QSlider, "strength_slider")
    for place, strength in ((0, -0.5), (slider.maximum(), 1.5), (10, 0.0)):
        slider.setValue(place)
        qtbot.waitUntil(
            lambda strength=strength: view.found is not None and view.found.strength == strength, timeout=LONG
        )
        model = lmviz.interpolate(*models(session), strength)
        wanted = lmviz.next_token(model, PREFIX).probabilities
        assert view.exported_arrays()["probabilities"] == pytest.approx(wanted, abs=1e-5)
    qtbot.waitUntil(lambda: np.isfinite(view.exported_arrays().get("loss", [np.nan])).all(), timeout=LONG)
    losses = view.exported_arrays()["loss"]
    assert len(losses) == 21
    assert losses[5] != losses[15]
    assert run_recipe(view)["values"] == pytest.approx(view.exported_arrays()["probabilities"], abs=1e-6)


def test_each_word_and_the_held_out_text(
    two: MainWindow, session: Session, text_file: Path, qtbot: QtBot
) -> None:
    view = bring_to_front(two, "changed_text_view", qtbot)
    change = lmviz.difference(*models(session), PREFIX, inside=False)
    assert known(qtbot, view, "change") == pytest.approx(change.text.changes, abs=1e-5)
    assert run_recipe(view)["values"] == pytest.approx(change.text.changes, abs=1e-5)
    picker = view.findChild(QComboBox, "changed_text_picker")
    picker.setCurrentIndex(1)
    picker.activated.emit(1)
    button = view.findChild(QPushButton, "measure_change_button")
    qtbot.waitUntil(button.isVisible)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    held_out = lmviz.difference(*models(session), session.text.corpus, inside=False)
    assert len(held_out.tokens) > len(change.tokens)
    qtbot.waitUntil(
        lambda: len(view.exported_arrays().get("change", ())) == len(held_out.tokens), timeout=LONG
    )
    assert view.exported_arrays()["change"] == pytest.approx(held_out.text.changes, abs=1e-4)
    open_other_text(session, text_file, qtbot)


@pytest.mark.slow
def test_models_of_other_shape_are_compared_as_far_as_they_can_be(
    two: MainWindow, session: Session, lstm_run: Path, learned_run: Path, qtbot: QtBot
) -> None:
    open_all(session, qtbot, lstm_run, learned_run)
    other = next(model for model in session.library.models if model.folder == lstm_run.resolve())
    session.pair.choose_before((other, other.snapshots[-1]))
    view = panel(two, "changed_weights_view")
    qtbot.waitUntil(lambda: "no parts in common" in view.shown_look.instead, timeout=LONG)
    words = panel(two, "changed_words_view")
    assert known(qtbot, words, "before").sum() == pytest.approx(1.0)


def test_the_curve_of_strength_goes_with_its_models(two: MainWindow, session: Session, qtbot: QtBot) -> None:
    view = bring_to_front(two, "strength_view", qtbot)
    known(qtbot, view, "loss")
    two.show_perspective("polls")
    for model in session.library.models:
        session.library.close(model)
    qtbot.waitUntil(lambda: session.work.is_at_rest and not session.work.jobs, timeout=LONG)

    def are_gone() -> bool:
        gc.collect()
        return not any(isinstance(thing, ModelPair) for thing in gc.get_objects())

    qtbot.waitUntil(are_gone, timeout=LONG)
