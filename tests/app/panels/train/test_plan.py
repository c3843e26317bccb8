"""The plan says what it will train and how long that takes, and its form holds what the family uses."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.base.steady import SpinBox
from lmviz.app.widgets.controls.configuration_form import ConfigurationForm
from lmviz.app.widgets.controls.preset_cards import PresetCards
from lmviz.app.window.main_window import MainWindow
from lmviz.base.durations import briefly, in_words
from lmviz.families import FAMILIES
from lmviz.text import corpus
from lmviz.training.options import TrainingOptions
from lmviz.training.presets import steps_by_name

ONLY_PANELS = ("plan",)

LONG = 30_000


@pytest.fixture
def statement(window: MainWindow) -> QWidget:
    window.show_perspective("train")
    return window.findChild(QWidget, "training_statement")


def subject(statement: QWidget) -> str:
    return statement.findChild(QLabel, "training_subject").text()


def duration(statement: QWidget) -> str:
    return statement.findChild(MutedLine, "training_duration").text


def test_it_says_what_will_be_trained_and_measures_how_long_that_takes(
    statement: QWidget,
    session: Session,
    text_file: Path,
    gate: threading.Event,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = corpus.load_corpus(text_file, tokenizer="bpe:300")
    monkeypatch.setattr(corpus, "load_corpus", lambda source, **_: gate.wait() and whole)
    session.plan.set(
        "gru", FAMILIES["gru"].configuration(width=8), TrainingOptions(steps=1_000_000, batch=2, length=8)
    )
    qtbot.waitUntil(lambda: duration(statement) == "no text open: see Corpus")
    session.text.open(text_file, tokenizer="bpe:300")
    qtbot.waitUntil(lambda: duration(statement) == "preparing the text…")
    gate.set()
    qtbot.waitUntil(lambda: subject(statement) == "will train GRU · farm · bpe 300", timeout=LONG)
    qtbot.waitUntil(lambda: duration(statement) == "measuring the time…", timeout=LONG)
    qtbot.waitUntil(lambda: duration(statement).startswith("about "), timeout=LONG)
    assert ", at " in duration(statement)
    button = statement.findChild(QPushButton, "new_run_button")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert duration(statement) == "preparing the model…"
    assert subject(statement) == "training GRU · farm · bpe 300"
    assert not button.isEnabled()
    qtbot.waitUntil(lambda: duration(statement).endswith(" left"), timeout=LONG)
    session.training.stop()
    qtbot.waitUntil(lambda: duration(statement).startswith("about "), timeout=LONG)


@pytest.mark.slow
def test_presets_say_their_time_and_choose_the_steps(
    statement: QWidget, window: MainWindow, session: Session, text_file: Path, qtbot: QtBot
) -> None:
    session.plan.set("gru", FAMILIES["gru"].configuration(width=8), TrainingOptions(batch=2, length=8))
    session.plan.choose_preset("quick")
    cards = window.findChild(PresetCards, "preset_cards")
    steps_field = window.findChild(SpinBox, "steps_field")
    assert not cards.isVisible(), "without a text nothing can be said"
    qtbot.waitUntil(lambda: not steps_field.is_known)
    assert steps_field.text() == "…"
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(text_file, documents="line")
    qtbot.waitUntil(lambda: cards.isVisible() and cards.cards[0].lines[0] == "measuring…", timeout=LONG)
    qtbot.waitUntil(lambda: cards.cards[0].lines[0] != "measuring…", timeout=LONG)
    plan = session.plan
    assert [card.name for card in cards.cards] == ["quick", "good", "thorough"]
    steps = steps_by_name(plan.seconds_a_step)  # on a busy machine fewer of all
    assert cards.cards[1].lines[:2] == (
        briefly(plan.seconds_a_step * steps["good"]),
        f"{steps['good']:,} steps",
    )
    assert cards.chosen == "quick"
    assert steps_field.text() == f"{steps['quick']:,}"
    place = cards.part_rectangle(2).center().toPoint()
    qtbot.mouseClick(cards, Qt.MouseButton.LeftButton, pos=place)
    assert plan.current.training_options.steps == steps["thorough"]
    qtbot.waitUntil(lambda: duration(statement).startswith(in_words(plan.seconds_a_step * steps["thorough"])))
    plan.change(training_options=replace(plan.current.training_options, steps=123))
    qtbot.waitUntil(lambda: cards.chosen == "")


@pytest.mark.slow
def test_the_button_begins_a_new_run_also_where_the_shown_one_can_go_on(
    statement: QWidget, session: Session, make_run: Callable[..., Path], text_file: Path, qtbot: QtBot
) -> None:
    session.library.open(make_run("gru", 4, width=8))
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(text_file, documents="line")
    qtbot.waitUntil(lambda: session.training.further_steps == 4, timeout=LONG)
    session.plan.set(
        "rnn", FAMILIES["rnn"].configuration(width=8), TrainingOptions(steps=2, batch=2, length=8)
    )
    qtbot.mouseClick(statement.findChild(QPushButton, "new_run_button"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(session.library.models) == 2, timeout=LONG)
    assert session.library.model.family == "rnn"
    qtbot.waitUntil(lambda: not session.training.state.is_active, timeout=LONG)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(2, "about 5 s"), (22, "about 20 s"), (58, "about 1 min"), (250, "about 4 min"), (5000, "about 1.5 h")],
)
def test_durations_are_as_exact_as_one_plans_with(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


@pytest.mark.slow
def test_a_form_shows_what_the_family_and_its_choices_use(
    statement: QWidget, window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    model, learning = (
        window.findChild(ConfigurationForm, f"{which}_form") for which in ("model", "learning")
    )

    def shown(form: ConfigurationForm) -> set[str]:
        return {name for name in form.configuration.names() if form.field(name).control.isVisibleTo(form)}

    options = TrainingOptions()
    session.plan.set("gru", FAMILIES["gru"].configuration(), options)
    qtbot.waitUntil(lambda: "learning_rate" in shown(learning))
    assert {"batch", "seed", "schedule"} <= shown(learning)
    session.plan.set("ngram", FAMILIES["ngram"].configuration(), options)
    qtbot.waitUntil(lambda: shown(learning) == {"steps", "validate_every", "snapshots"})
    for form in (model, learning):
        for button in form.findChildren(QPushButton):
            if button.text() == "more settings":
                button.click()
    qtbot.waitUntil(lambda: shown(model) == {"order", "smoothing"})
    session.plan.set("ngram", FAMILIES["ngram"].configuration(smoothing="add-k"), options)
    qtbot.waitUntil(lambda: shown(model) == {"order", "smoothing", "added"})
    session.plan.set(
        "gru", FAMILIES["gru"].configuration(), TrainingOptions(optimizer="sgd", schedule="constant")
    )
    qtbot.waitUntil(lambda: "learning_rate" in shown(learning))
    idle = {"warmup", "final_rate", "weight_decay", "momentum", "second_moment_decay"}
    assert shown(learning) == TrainingOptions.names() - idle


def test_what_is_no_number_is_said_in_the_words_of_the_form(
    statement: QWidget, window: MainWindow, qtbot: QtBot
) -> None:
    field = window.findChild(ConfigurationForm, "learning_form").field("learning_rate")
    field.control.setText("abc")
    assert field.complaint.text() == "Learning rate must be a number, and not 'abc'."


@pytest.mark.slow
def test_how_large_a_counted_model_is_it_does_not_say_beforehand(
    statement: QWidget, session: Session, text_file: Path, window: MainWindow, qtbot: QtBot
) -> None:
    asides = lambda: {card.aside for card in window.perspective.findChildren(Card)}  # noqa: E731
    with qtbot.waitSignal(session.text.changed):
        session.text.open(text_file)
    for family, said in (("ngram", "parameters after counting"), ("gru", " parameters · ")):
        session.plan.set(family, FAMILIES[family].configuration(), TrainingOptions())
        qtbot.waitUntil(lambda said=said: any(said in aside for aside in asides()))
        assert any(" parameters · " in aside for aside in asides()) == (family == "gru")


@pytest.mark.slow
def test_while_the_form_is_refused_it_says_no_duration(
    statement: QWidget, window: MainWindow, session: Session, text_file: Path, qtbot: QtBot
) -> None:
    session.plan.set(
        "gru", FAMILIES["gru"].configuration(width=8), TrainingOptions(steps=9, batch=2, length=8)
    )
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(text_file, documents="line")
    qtbot.waitUntil(lambda: duration(statement).startswith("about "), timeout=LONG)
    before, form = duration(statement), window.findChild(ConfigurationForm, "learning_form")
    rate = form.field("learning_rate").control
    usual = rate.text()
    rate.setText("abc")
    assert form.complaint
    assert duration(statement) == form.complaint
    rate.setText(usual)
    assert duration(statement) == before


@pytest.mark.slow
def test_a_word_that_is_watched_leaves_snapshots_where_it_moves(
    window: MainWindow, session: Session, text_file: Path, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(text_file, documents="line")
    window.show_perspective("train")
    options = TrainingOptions(steps=30, batch=4, length=8, snapshots=2, learning_rate=0.05, validate_every=0)
    session.plan.set("gru", FAMILIES["gru"].configuration(width=8), options)
    form = window.findChild(ConfigurationForm, "learning_form")
    qtbot.waitUntil(lambda: form.configuration == options)
    word = session.text.corpus.tokenizer.token(int(session.text.corpus.training[1]))
    qtbot.keyClicks(form.field("watched_word").control, word)
    assert "needs the text" in form.complaint
    first = session.text.corpus.tokenizer.token(int(session.text.corpus.training[0]))
    qtbot.keyClicks(form.field("watched_text").control, first if first.isalpha() else "the")
    assert form.complaint == ""
    assert session.plan.current.training_options.watched_word == word
    qtbot.waitUntil(lambda: session.work.is_ready, timeout=LONG)
    qtbot.mouseClick(window.findChild(QPushButton, "new_run_button"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(
        lambda: session.training.state.progress is not None and session.training.state.progress.finished,
        timeout=LONG,
    )
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    assert len(session.library.model.run.snapshots()) > 2
