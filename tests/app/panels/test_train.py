"""The Train perspective, clicked through: choose, train, watch, pause, scrub, resume, stop."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QSlider
from pytestqt.qtbot import QtBot

from lmviz.app.main_window import MainWindow
from lmviz.app.session import Session
from lmviz.app.widgets.bars import BarsView
from lmviz.app.widgets.configuration_form import ConfigurationForm
from lmviz.app.widgets.line_plot import LinePlot
from lmviz.app.widgets.model_cards import ModelCards
from lmviz.families import FAMILIES
from lmviz.training.options import TrainingOptions

LONG = 30_000


@pytest.fixture
def train(
    window: MainWindow, session: Session, text_file: Path, options: TrainingOptions, qtbot: QtBot
) -> MainWindow:
    """The window at the Train perspective, with a text and a small plan."""
    with qtbot.waitSignal(session.corpus_changed, timeout=LONG):
        session.open_corpus(text_file, documents="line")
    window.show_perspective("train")
    session.set_plan("lstm", FAMILIES["lstm"].configuration(width=8), replace(options, validate_every=5))
    session.set_prefix("the cows")
    qtbot.waitUntil(lambda: session.is_ready, timeout=LONG)
    return window


def click(window: MainWindow, name: str, qtbot: QtBot) -> None:
    qtbot.mouseClick(window.findChild(QPushButton, name), Qt.MouseButton.LeftButton)


def step_of(session: Session) -> int:
    return session.training.progress.step if session.training.progress else -1


def test_choose_train_pause_scrub_resume_stop(train: MainWindow, session: Session, qtbot: QtBot) -> None:
    cards = train.findChild(ModelCards, "family_picker")
    qtbot.mouseClick(cards, Qt.MouseButton.LeftButton, pos=cards.card_rectangle("gru").center().toPoint())
    assert session.plan.family == "gru"
    form = train.findChild(ConfigurationForm, "model_form")
    qtbot.waitUntil(lambda: type(form.configuration).__name__ == "GRUConfiguration")
    form.field("width").control.setValue(6)
    assert session.plan.configuration.width == 6

    click(train, "train_button", qtbot)
    qtbot.waitUntil(lambda: step_of(session) > 25 and session.reading is not None, timeout=LONG)
    click(train, "pause_button", qtbot)
    qtbot.waitUntil(lambda: session.training.phase == "paused", timeout=LONG)

    plot = train.findChild(LinePlot, "loss_plot")
    qtbot.waitUntil(lambda: {"training", "validation"} <= set(plot.curve_names()), timeout=LONG)
    first, last = session.model.snapshots[0], session.model.snapshots[-1]
    session.choose_step(last)
    qtbot.waitUntil(lambda: session.reading.step == last, timeout=LONG)
    late = session.reading.trace["logits"].array
    slider = train.findChild(QSlider, "snapshot_slider")
    slider = slider if slider is not None else train.findChild(object, "snapshot_slider")
    session.choose_step(first)
    qtbot.waitUntil(lambda: session.reading.step == first, timeout=LONG)
    assert not np.allclose(late, session.reading.trace["logits"].array)
    assert slider is not None

    held = step_of(session)
    click(train, "train_button", qtbot)
    qtbot.waitUntil(lambda: step_of(session) > held + 5, timeout=LONG)
    click(train, "stop_button", qtbot)
    qtbot.waitUntil(lambda: not session.training.is_active, timeout=LONG)
    assert session.model.run.is_resumable


def test_settings_are_locked_while_training_but_not_the_learning_rate(
    train: MainWindow, session: Session, qtbot: QtBot
) -> None:
    click(train, "train_button", qtbot)
    qtbot.waitUntil(lambda: step_of(session) > 0, timeout=LONG)
    form = train.findChild(ConfigurationForm, "learning_form")
    qtbot.waitUntil(lambda: not form.field("batch").control.isEnabled(), timeout=LONG)
    assert form.field("learning_rate").control.isEnabled()
    form.field("learning_rate").control.setText("0.0005")
    qtbot.waitUntil(lambda: session.training.progress.learning_rate == 0.0005, timeout=LONG)
    session.stop_training()
    qtbot.waitUntil(lambda: not session.training.is_active, timeout=LONG)


def test_an_impossible_setting_is_a_sentence_below_its_field(train: MainWindow, session: Session) -> None:
    session.set_plan(
        "transformer", FAMILIES["transformer"].configuration(heads=4), session.plan.training_options
    )
    panel = next(panel for panel in train.perspective.panels if panel.objectName() == "plan_view")
    panel.refresh()
    form = train.findChild(ConfigurationForm, "model_form")
    form.field("heads").control.setValue(3)
    assert "heads" in form.complaint
    assert session.plan.configuration.heads == 4


def test_health_and_prediction_over_time_show_what_was_measured(
    train: MainWindow, session: Session, qtbot: QtBot
) -> None:
    click(train, "train_button", qtbot)
    panels = {panel.objectName(): panel for panel in train.perspective.panels}
    bars = panels["health_view"].findChild(BarsView)
    qtbot.waitUntil(lambda: bars.accessibleDescription() != "", timeout=LONG)
    session.stop_training()
    qtbot.waitUntil(lambda: not session.training.is_active, timeout=LONG)
    view = panels["over_time_view"]
    qtbot.waitUntil(lambda: set(view.rows) == set(session.model.snapshots), timeout=LONG)
    step = session.model.snapshots[1]
    session.choose_step(step)
    qtbot.waitUntil(lambda: session.reading.step == step, timeout=LONG)
    shown = session.reading.trace["probabilities"].array[-1]
    np.testing.assert_allclose(view.rows[step], shown, rtol=1e-4, atol=1e-6)


def test_the_references_are_those_of_the_core(train: MainWindow, session: Session, qtbot: QtBot) -> None:
    from lmviz.training.references import reference_perplexities

    panel = next(panel for panel in train.perspective.panels if panel.objectName() == "loss_view")
    qtbot.waitUntil(lambda: bool(panel.references), timeout=LONG)
    corpus = session.corpus
    expected = reference_perplexities(
        corpus.training,
        corpus.validation,
        corpus.tokenizer.vocabulary_size,
        ignored_target=corpus.tokenizer.start_id,
    )
    assert panel.references == pytest.approx(expected)
