"""The Train perspective, clicked through: choose, train, watch, pause, scrub, resume, stop."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QDoubleSpinBox, QLabel, QPlainTextEdit, QPushButton, QSlider, QWidget
from pytestqt.qtbot import QtBot

from lmviz.api.training import train as train_model
from lmviz.app.look.theme import theme_switch
from lmviz.app.panels.train import live_sample
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.controls.configuration_form import ConfigurationForm
from lmviz.app.widgets.diagrams.family_cards import FamilyCards
from lmviz.app.widgets.kit.axes import Axes
from lmviz.app.widgets.plots.bars import BarsView
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.app.window.main_window import MainWindow
from lmviz.families import FAMILIES
from lmviz.text.corpus import load_corpus
from lmviz.text.tokenizer import visible
from lmviz.training.options import TrainingOptions
from tests.app.conftest import wait_for_reading

ONLY_PANELS = ("plan", "loss", "health", "live_sample", "next_word", "over_time")

LONG = 30_000


@pytest.fixture
def train(
    window: MainWindow, session: Session, text_file: Path, options: TrainingOptions, qtbot: QtBot
) -> MainWindow:
    """The window at the Train perspective, with a text and a small plan."""
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(text_file, documents="line")
    window.show_perspective("train")
    session.plan.set("lstm", FAMILIES["lstm"].configuration(width=8), replace(options, validate_every=5))
    session.reading.set_prefix("the cows")
    qtbot.waitUntil(lambda: session.work.is_ready, timeout=LONG)
    return window


def click(window: MainWindow, name: str, qtbot: QtBot) -> None:
    qtbot.mouseClick(window.findChild(QPushButton, name), Qt.MouseButton.LeftButton)


def step_of(session: Session) -> int:
    return session.training.state.progress.step if session.training.state.progress else -1


def test_choose_train_pause_scrub_resume_stop(train: MainWindow, session: Session, qtbot: QtBot) -> None:
    cards = train.findChild(FamilyCards, "family_picker")
    gru = cards.part_rectangle(list(FAMILIES).index("gru")).center().toPoint()
    qtbot.mouseClick(cards, Qt.MouseButton.LeftButton, pos=gru)
    assert session.plan.current.family == "gru"
    form = train.findChild(ConfigurationForm, "model_form")
    qtbot.waitUntil(lambda: type(form.configuration).__name__ == "GRUConfiguration")
    form.field("width").control.setValue(6)
    assert session.plan.current.configuration.width == 6

    click(train, "train_button", qtbot)
    qtbot.waitUntil(lambda: step_of(session) > 25 and session.reading.current is not None, timeout=LONG)
    click(train, "pause_button", qtbot)
    qtbot.waitUntil(lambda: session.training.state.phase == "paused", timeout=LONG)

    plot = train.findChild(LinePlot, "loss_plot")
    qtbot.waitUntil(lambda: {"training", "validation"} <= set(plot.points()), timeout=LONG)
    first, last = session.library.model.snapshots[0], session.library.model.snapshots[-1]
    session.library.choose_step(last)
    qtbot.waitUntil(lambda: session.reading.current.step == last, timeout=LONG)
    late = session.reading.current.trace["logits"].array
    slider = train.findChild(QSlider, "snapshot_slider")
    slider = slider if slider is not None else train.findChild(object, "snapshot_slider")
    session.library.choose_step(first)
    qtbot.waitUntil(lambda: session.reading.current.step == first, timeout=LONG)
    assert not np.allclose(late, session.reading.current.trace["logits"].array)
    assert slider is not None

    held = step_of(session)
    click(train, "train_button", qtbot)
    qtbot.waitUntil(lambda: step_of(session) > held + 5, timeout=LONG)
    click(train, "stop_button", qtbot)
    qtbot.waitUntil(lambda: not session.training.state.is_active, timeout=LONG)
    assert session.library.model.run.is_resumable


@pytest.mark.slow
def test_settings_are_locked_while_training_but_not_the_learning_rate(
    train: MainWindow, session: Session, qtbot: QtBot
) -> None:
    click(train, "train_button", qtbot)
    qtbot.waitUntil(lambda: step_of(session) > 0, timeout=LONG)
    form = train.findChild(ConfigurationForm, "learning_form")
    qtbot.waitUntil(lambda: not form.field("batch").control.isEnabled(), timeout=LONG)
    rate = form.field("learning_rate").control
    assert rate.isEnabled()
    fields = (child for child in form.findChildren(QWidget) if child.objectName().endswith("_field"))
    shown = [field for field in fields if field.isVisible()]
    assert shown == [rate], "what can be changed now is all that is left"
    assert not train.findChild(QWidget, "family_picker").isVisible()
    train.findChild(QPushButton, "all_settings_button").click()
    qtbot.waitUntil(form.field("batch").control.isVisible)
    train.findChild(QDoubleSpinBox, "steering_temperature").setValue(0.5)
    assert session.writing.sampling.temperature == 0.5
    form.field("learning_rate").control.setText("0.0005")
    qtbot.waitUntil(lambda: session.training.state.progress.learning_rate == 0.0005, timeout=LONG)
    form.field("learning_rate").control.setText("0.002")
    qtbot.waitUntil(
        lambda: session.training.state.progress.learning_rate not in (0.0005, 0.002), timeout=LONG
    )
    pause = train.findChild(QPushButton, "steering_pause_button")
    pause.click()
    qtbot.waitUntil(lambda: session.training.state.phase == "paused", timeout=LONG)
    assert pause.text() == "Go on"
    session.training.stop()
    qtbot.waitUntil(lambda: not session.training.state.is_active, timeout=LONG)
    qtbot.waitUntil(lambda: not pause.isVisible())
    assert train.findChild(QWidget, "family_picker").isVisible()


@pytest.mark.slow
def test_a_rate_typed_during_a_training_is_its_own_and_not_that_of_the_next(
    train: MainWindow, session: Session, qtbot: QtBot
) -> None:
    planned = session.plan.current.training_options.learning_rate
    click(train, "train_button", qtbot)
    qtbot.waitUntil(lambda: step_of(session) > 0, timeout=LONG)
    form = train.findChild(ConfigurationForm, "learning_form")
    form.field("learning_rate").control.setText("0.0005")
    qtbot.waitUntil(lambda: session.training.state.progress.learning_rate == 0.0005, timeout=LONG)
    session.training.stop()
    qtbot.waitUntil(lambda: form.configuration.learning_rate == planned, timeout=LONG)
    stopped = step_of(session)
    session.training.resume()
    qtbot.waitUntil(lambda: step_of(session) > stopped, timeout=LONG)
    assert session.training.state.progress.learning_rate == 0.0005, "the run goes on with its own"
    session.training.stop()
    qtbot.waitUntil(lambda: not session.training.state.is_active, timeout=LONG)


@pytest.mark.slow
def test_a_rate_that_is_being_typed_is_not_trained_with(
    train: MainWindow, session: Session, qtbot: QtBot
) -> None:
    click(train, "train_button", qtbot)
    qtbot.waitUntil(lambda: step_of(session) > 0, timeout=LONG)
    edit = train.findChild(ConfigurationForm, "learning_form").field("learning_rate").control
    edit.selectAll()
    for key in "3e-4":
        qtbot.keyClicks(edit, key)
        typed_at = step_of(session)
        qtbot.waitUntil(lambda typed_at=typed_at: step_of(session) > typed_at + 1, timeout=LONG)
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: session.training.state.progress.learning_rate == 0.0003, timeout=LONG)
    session.training.stop()
    qtbot.waitUntil(lambda: not session.training.state.is_active, timeout=LONG)
    assert session.training.state.history.learning_rate.values.max() <= TrainingOptions().learning_rate


@pytest.mark.slow
def test_a_training_that_failed_can_be_resumed_from_its_sentence_with_another_rate(
    train: MainWindow, session: Session, qtbot: QtBot
) -> None:
    wild = TrainingOptions(
        steps=500, batch=2, length=8, optimizer="sgd", learning_rate=100.0, clip=0.0, schedule="constant"
    )
    session.training.start(
        "transformer", FAMILIES["transformer"].configuration(width=8, heads=1, layers=1), wild
    )
    qtbot.waitUntil(lambda: session.training.state.phase == "failed", timeout=LONG)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    failed, notice = step_of(session), train.transport.notice
    form = train.findChild(ConfigurationForm, "learning_form")
    qtbot.waitUntil(lambda: form.configuration.learning_rate == 100.0)
    form.field("learning_rate").control.setText("0.01")
    [button] = notice.findChildren(QPushButton)
    qtbot.waitUntil(lambda: button.text() == "Resume", timeout=LONG)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: step_of(session) > failed + 5, timeout=LONG)
    assert session.training.state.progress.learning_rate == 0.01
    session.training.stop()
    qtbot.waitUntil(lambda: not session.training.state.is_active, timeout=LONG)


def test_an_impossible_setting_is_a_sentence_below_its_field(train: MainWindow, session: Session) -> None:
    session.plan.set(
        "transformer", FAMILIES["transformer"].configuration(heads=4), session.plan.current.training_options
    )
    panel = next(panel for panel in train.perspective.panels if panel.objectName() == "plan_view")
    panel.refresh()
    form = train.findChild(ConfigurationForm, "model_form")
    form.field("heads").control.setValue(3)
    assert "heads" in form.complaint
    assert session.plan.current.configuration.heads == 4


@pytest.mark.slow
def test_what_only_both_forms_know_is_said_below_the_field_and_keeps_from_training(
    train: MainWindow, session: Session, qtbot: QtBot
) -> None:
    session.plan.set("transformer", FAMILIES["transformer"].configuration(context=16), TrainingOptions())
    model_form, form = (train.findChild(ConfigurationForm, name) for name in ("model_form", "learning_form"))
    qtbot.waitUntil(lambda: model_form.configuration == session.plan.current.configuration)
    length = form.field("length")
    length.control.setValue(32)
    assert "at most 16 positions" in length.complaint.text()
    with qtbot.waitSignal(session.training.failed) as failure:
        click(train, "train_button", qtbot)
    assert failure.args == [length.complaint.text()]
    assert session.training.state.phase == "idle"
    form.field("steps").control.setValue(7)
    assert length.complaint.text(), "it is still so"
    length.control.setValue(16)
    assert not length.complaint.text()
    model_form.field("width").control.setValue(7)  # of 4 heads
    with qtbot.waitSignal(session.training.failed) as failure:
        click(train, "train_button", qtbot)
    assert "width" in failure.args[0]
    assert not session.training.runs_folder.exists() or not list(session.training.runs_folder.iterdir())


@pytest.mark.slow
def test_what_went_wrong_stands_beside_the_button_until_the_next_training(
    train: MainWindow, session: Session, qtbot: QtBot
) -> None:
    notice = train.transport.notice
    session.plan.set(
        "transformer", FAMILIES["transformer"].configuration(context=8), TrainingOptions(length=64)
    )
    click(train, "train_button", qtbot)
    qtbot.waitUntil(lambda: "at most 8 positions" in notice.sentence, timeout=LONG)
    session.plan.set(
        "lstm", FAMILIES["lstm"].configuration(width=8), TrainingOptions(steps=2, batch=2, length=8)
    )
    session.training.start()
    assert notice.sentence == ""
    qtbot.waitUntil(lambda: not session.training.state.is_active, timeout=LONG)


@pytest.mark.slow
def test_health_and_prediction_over_time_show_what_was_measured(
    train: MainWindow, session: Session, qtbot: QtBot
) -> None:
    click(train, "train_button", qtbot)
    panels = {panel.objectName(): panel for panel in train.perspective.panels}
    bars = panels["health_view"].findChild(BarsView)
    qtbot.waitUntil(lambda: bars.accessibleDescription() != "", timeout=LONG)
    rate = panels["health_view"].findChild(QLabel, "learning_rate_label")
    qtbot.waitUntil(lambda: rate.text().startswith("learning rate 0."), timeout=LONG)
    session.training.stop()
    qtbot.waitUntil(lambda: not session.training.state.is_active, timeout=LONG)
    panels["health_view"].refresh()
    said = [label.text() for label in panels["health_view"].findChildren(QLabel)]
    norm = session.training.state.history.gradient_norm.values[-1]
    assert f"gradient norm {number(norm, 2)}" in said
    view = panels["over_time_view"]
    qtbot.waitUntil(lambda: set(view.rows) == set(session.library.model.snapshots), timeout=LONG)
    step = session.library.model.snapshots[1]
    session.library.choose_step(step)
    qtbot.waitUntil(lambda: session.reading.current.step == step, timeout=LONG)
    shown = session.reading.current.trace["probabilities"].array[-1]
    np.testing.assert_allclose(view.rows[step], shown, rtol=1e-4, atol=1e-6)
    last, plot = session.library.model.snapshots[-1], view.findChild(Axes).box
    qtbot.waitUntil(lambda: plot.viewRange()[0] == pytest.approx([0, last]), timeout=LONG)


@pytest.mark.slow
def test_the_prediction_over_time_takes_the_colours_of_another_theme(
    train: MainWindow, session: Session, lstm_run: Path, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    view = next(panel for panel in train.perspective.panels if panel.objectName() == "over_time_view")
    session.library.open(lstm_run)
    qtbot.waitUntil(lambda: session.library.model is not None)
    qtbot.waitUntil(lambda: set(view.rows) == set(session.library.model.snapshots))
    drawn()
    theme_switch().set_choice("dark")
    drawn()
    switched = view.grab().toImage()
    view.refresh()
    assert view.grab().toImage() == switched


@pytest.mark.slow
def test_the_prediction_over_time_follows_the_pinned_word(
    train: MainWindow, session: Session, lstm_run: Path, qtbot: QtBot
) -> None:
    from lmviz.api.training import open_model
    from lmviz.decoding.continuation import Continuation
    from lmviz.decoding.distribution import next_distribution

    view = next(panel for panel in train.perspective.panels if panel.objectName() == "over_time_view")
    session.library.open(lstm_run)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    steps = session.library.model.snapshots
    qtbot.waitUntil(lambda: set(view.rows) == set(steps), timeout=LONG)
    at_the_end = view.rows[steps[-1]]
    session.focus.choose_position(session.reading.encoding.tokens.index("the"))
    card = view.findChild(Card)
    qtbot.waitUntil(lambda: card.title == "After “the” over time", timeout=LONG)
    qtbot.waitUntil(lambda: set(view.rows) == set(steps), timeout=LONG)
    for step in steps:
        expected = next_distribution(Continuation.of(open_model(lstm_run, step), "the").logits)
        np.testing.assert_allclose(view.rows[step], expected.probabilities, rtol=1e-4, atol=1e-6)
    session.focus.follow_end()
    qtbot.waitUntil(lambda: steps[-1] in view.rows and card.title == "Next word over time", timeout=LONG)
    qtbot.waitUntil(lambda: np.array_equal(view.rows.get(steps[-1]), at_the_end), timeout=LONG)


@pytest.mark.slow
def test_no_point_of_a_pinned_word_is_that_of_a_text_whose_angles_are_others(
    train: MainWindow, session: Session, make_run: Callable[..., Path], qtbot: QtBot
) -> None:
    dynamic = {"positions": "rotary", "rotary_scaling": "dynamic", "rotary_original": 2, "rotary_base": 3.0}
    view = next(panel for panel in train.perspective.panels if panel.objectName() == "over_time_view")
    session.library.open(make_run("transformer", 3, width=8, heads=2, layers=1, context=16, **dynamic))
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    steps = session.library.model.snapshots
    session.reading.set_prefix("the cat sees the dog")
    wait_for_reading(session, qtbot)  # an older one has no point at all here
    session.focus.choose_position(2)
    card = view.findChild(Card)
    qtbot.waitUntil(lambda: card.title.startswith("After") and set(view.rows) == set(steps), timeout=LONG)
    view.refresh()
    drawn = [points[-1, 1] for points in view.exported_arrays().values()]
    assert len(drawn) > 1
    assert drawn == sorted(view.rows[steps[-1]], reverse=True)[: len(drawn)]


@pytest.mark.slow
def test_the_prediction_over_time_says_what_is_predicted(
    train: MainWindow, session: Session, text_file: Path, qtbot: QtBot
) -> None:
    view = next(panel for panel in train.perspective.panels if panel.objectName() == "over_time_view")
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(text_file, documents="line", tokenizer="characters")
    card = view.findChild(Card)
    qtbot.waitUntil(lambda: card.title == "Next character over time", timeout=LONG)


@pytest.mark.slow
def test_the_references_are_those_of_the_core(train: MainWindow, session: Session, qtbot: QtBot) -> None:
    from lmviz.training.references import reference_losses

    panel = next(panel for panel in train.perspective.panels if panel.objectName() == "loss_view")
    qtbot.waitUntil(lambda: bool(panel.references), timeout=LONG)
    corpus = session.text.corpus
    expected = reference_losses(
        corpus.training,
        corpus.validation,
        corpus.tokenizer.vocabulary_size,
        ignored_target=corpus.tokenizer.start_id,
    )
    assert panel.references == pytest.approx(expected)


@pytest.mark.slow
def test_the_sample_begins_anew_with_a_model_of_other_tokens(
    train: MainWindow,
    session: Session,
    text_file: Path,
    lstm_run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    letters = load_corpus(text_file, documents="line", tokenizer="characters")
    train_model("gru", letters, tmp_path / "letters", steps=1, batch=2, length=8, width=8)
    session.writing.set_sampling(stop_at_end=False)
    panel = next(panel for panel in train.perspective.panels if panel.objectName() == "live_sample_view")
    failed: list[str] = []
    session.work.any_failed.connect(failed.append)
    for folder in (tmp_path / "letters", lstm_run):
        session.library.open(folder)
        opened = folder.resolve()
        qtbot.waitUntil(
            lambda opened=opened: opened in [model.folder for model in session.library.models], timeout=LONG
        )
        session.reading.set_prefix("the cows")
        qtbot.waitUntil(lambda: len(panel.exported_arrays().get("ids", ())) >= 16, timeout=LONG)
    asked: list[tuple[int, int]] = []  # how many tokens the model has that was to go on, after how many
    sample = live_sample.sample

    def watch(model: Any, text: str, tokens: int, options: Any, ids: list[int]) -> Any:
        asked.append((model.vocabulary_size, len(ids)))
        return sample(model, text, tokens, options, ids)

    def choose_other() -> None:
        """At the turn's end: after an answer, but before what is to be written on with it is asked."""
        page.textChanged.disconnect(choose_other)
        others = [model for model in session.library.models if model != session.library.model]
        QTimer.singleShot(0, lambda: session.library.choose(others[0]))

    monkeypatch.setattr(live_sample, "sample", watch)
    page = panel.findChild(QPlainTextEdit)
    for _ in range(4):
        shown = session.library.model
        session.writing.set_sampling(seed=session.writing.sampling.seed + 1)  # another text begins
        page.textChanged.connect(choose_other)
        qtbot.waitUntil(lambda shown=shown: session.library.model != shown, timeout=LONG)
        qtbot.waitUntil(lambda: len(panel.exported_arrays().get("ids", ())) >= 16, timeout=LONG)
    assert len({size for size, _ in asked}) == 2
    for (before, _), (model, length) in pairwise(asked):
        assert model == before or length == 0, "it would go on with ids of another model"
    assert failed == []
    qtbot.waitUntil(lambda: not panel.is_behind, timeout=LONG)
    assert panel.exported_arrays()["ids"].max() < session.library.model.tokenizer.vocabulary_size


@pytest.mark.slow
def test_while_a_model_learns_its_next_word_and_the_newest_point_over_time_agree(
    train: MainWindow, session: Session, qtbot: QtBot
) -> None:
    view = next(panel for panel in train.perspective.panels if panel.objectName() == "over_time_view")
    next_word = next(panel for panel in train.perspective.panels if panel.objectName() == "next_word_view")
    click(train, "train_button", qtbot)
    session.reading.set_prefix("the cows")

    def is_between_snapshots() -> bool:
        reading = session.reading.current
        return reading is not None and reading.step not in session.library.model.snapshots

    qtbot.waitUntil(is_between_snapshots, timeout=LONG)
    click(train, "pause_button", qtbot)
    qtbot.waitUntil(lambda: session.training.state.phase == "paused", timeout=LONG)
    session.library.follow_live(False)

    def agree() -> bool:
        drawn, points = next_word.distribution, view.exported_arrays()
        if drawn is None or not points or session.reading.is_busy or view.is_behind:
            return False
        tokens = [visible(token) for token in drawn.tokens]
        newest = {name: curve[-1] for name, curve in points.items()}
        return all(
            at == session.library.step
            and share == pytest.approx(drawn.probabilities[tokens.index(name)], abs=1e-5)
            for name, (at, share) in newest.items()
        )

    qtbot.waitUntil(agree, timeout=LONG)
