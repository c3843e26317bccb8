"""The transport speaks of the model that is shown, and offers to train it further."""

import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from covering import others_slow
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.look.theme import theme_switch
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.app.workers.training_worker import TrainingWorker
from lmviz.families import FAMILIES
from lmviz.training.options import TrainingOptions

LONG = 30_000


def open_run(session: Session, folder: Path | str, qtbot: QtBot) -> None:
    with qtbot.waitSignal(session.library.model_changed, timeout=LONG):
        session.library.open(folder)


def said(window: MainWindow, name: str) -> str:
    return window.transport.findChild(QLabel, name).text()


@pytest.fixture
def finished(window: MainWindow, session: Session, make_run: Callable[..., Path], qtbot: QtBot) -> MainWindow:
    """The window with a finished run of six steps."""
    open_run(session, make_run("gru", 6, width=8), qtbot)
    return window


@pytest.mark.slow
def test_a_finished_run_is_trained_further_by_the_button(
    finished: MainWindow, session: Session, qtbot: QtBot
) -> None:
    button = finished.findChild(QPushButton, "train_button")
    assert button.text() == "Train 6 more"
    assert said(finished, "training_step") == "finished · 6 of 6 steps"
    options = session.library.model.description.options
    raised = FAMILIES["gru"].configuration(width=8)
    session.plan.set("gru", raised, TrainingOptions.from_values({**options.to_values(), "steps": 9}))
    assert button.text() == "Train 3 more"
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert said(finished, "training_step") == "preparing the text…"
    qtbot.waitUntil(lambda: session.training.state.phase == "finished", timeout=LONG)
    assert session.library.model.snapshots[-1] == 9
    assert len(session.library.models) == 1


@pytest.mark.slow
@pytest.mark.parametrize("look", others_slow(["light", "dark"], "light"))
def test_only_one_of_two_buttons_that_train_different_things_is_blue(
    finished: MainWindow, look: str, text_file: Path, session: Session, qtbot: QtBot
) -> None:
    theme_switch().set_choice(look)
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(text_file, documents="line")
    further = finished.findChild(QPushButton, "train_button")
    assert further.property("role") == "primary", "elsewhere it is the only one"
    finished.show_perspective("train")
    new = finished.perspective.findChild(QPushButton, "new_run_button")
    assert (new.property("role"), further.property("role")) == ("primary", "")
    assert "further: gru" in further.toolTip()
    middle = further.grab().toImage().pixelColor(further.width() // 2, 4)
    blue = new.grab().toImage().pixelColor(new.width() // 2, 4)
    assert middle != blue
    session.library.close(session.library.model)
    assert further.text() == "Train", "it does what the other one does"
    assert further.property("role") == "primary"


@pytest.mark.slow
def test_after_the_projector_the_figures_have_the_room_they_had(finished: MainWindow) -> None:
    labels = [finished.transport.findChild(QLabel, name) for name in ("training_step", "training_loss")]
    before = [label.size() for label in labels]
    finished.set_projector(True)
    assert [label.size() for label in labels] != before
    finished.set_projector(False)
    assert [label.size() for label in labels] == before


def test_the_figures_are_those_of_the_model_that_is_shown(
    finished: MainWindow, session: Session, lstm_run: Path, qtbot: QtBot
) -> None:
    first = session.library.model
    session.training.step()
    qtbot.waitUntil(lambda: session.training.state.phase == "finished", timeout=LONG)
    assert said(finished, "training_step") == "finished · 7 of 7 steps"
    trained = said(finished, "training_loss")
    open_run(session, lstm_run, qtbot)
    last = [line["loss"] for line in session.library.model.run.metrics() if "loss" in line][-1]
    assert said(finished, "training_step") == "finished · 6 of 6 steps"
    assert said(finished, "training_loss") == f"batch loss {last:.2f}"
    session.library.choose(first)
    assert said(finished, "training_loss") == trained


@pytest.mark.slow
def test_a_training_whose_model_is_not_shown_is_named(
    finished: MainWindow,
    session: Session,
    lstm_run: Path,
    text_file: Path,
    options: TrainingOptions,
    qtbot: QtBot,
) -> None:
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(text_file, documents="line")
    session.training.start("rnn", FAMILIES["rnn"].configuration(width=8), options)
    qtbot.waitUntil(lambda: session.training.trains_shown_model, timeout=LONG)
    assert said(finished, "training_step").startswith("step ")
    open_run(session, lstm_run, qtbot)
    assert said(finished, "training_step").startswith(f"{FAMILIES['rnn'].short_title}: step ")
    session.training.stop()
    qtbot.waitUntil(lambda: not session.training.state.is_active, timeout=LONG)


@pytest.mark.slow
def test_before_its_first_number_a_training_does_not_seem_to_be_none(
    window: MainWindow,
    session: Session,
    text_file: Path,
    options: TrainingOptions,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(text_file, documents="line")
    with monkeypatch.context() as patch:
        patch.setattr(TrainingWorker, "take_news", lambda self: [])
        session.training.start("rnn", FAMILIES["rnn"].configuration(width=8), options)
        qtbot.waitUntil(lambda: session.training.state.phase == "running", timeout=LONG)
        assert said(window, "training_step") == session.training.state.doing
    session.training.stop()
    qtbot.waitUntil(lambda: not session.training.state.is_active, timeout=LONG)


@pytest.mark.slow
def test_while_a_training_is_prepared_the_space_bar_says_nothing_and_a_step_is_made_alone(
    window: MainWindow, session: Session, text_file: Path, options: TrainingOptions, qtbot: QtBot
) -> None:
    session.text.open(text_file, documents="line")  # which takes a moment
    session.training.start("rnn", FAMILIES["rnn"].configuration(width=8), options)
    assert session.training.state.phase == "preparing"
    window.setFocus()
    qtbot.keyClick(window, Qt.Key.Key_Space)
    window.transport.step_button.click()
    assert window.transport.notice.sentence == ""
    qtbot.waitUntil(lambda: session.training.state.phase == "paused", timeout=LONG)
    assert session.training.state.progress.step == 1
    session.training.stop()
    qtbot.waitUntil(lambda: not session.training.state.is_active, timeout=LONG)


@pytest.mark.slow
def test_one_step_says_what_is_missing(finished: MainWindow, session: Session, qtbot: QtBot) -> None:
    (session.library.model.folder / "resume" / "state.safetensors").unlink()
    qtbot.mouseClick(finished.findChild(QPushButton, "step_button"), Qt.MouseButton.LeftButton)
    assert "keeps no state to train on from" in finished.transport.notice.sentence
    assert len(session.library.models) == 1


@pytest.mark.slow
def test_a_model_that_cannot_be_trained_further_is_not_offered_to_be(
    finished: MainWindow, session: Session, qtbot: QtBot
) -> None:
    button = finished.findChild(QPushButton, "train_button")
    open_run(session, "stories-gru", qtbot)
    assert button.text() == "Train a new one"
    assert "as sample models do" in button.toolTip()
    assert session.plan.in_words in button.toolTip()
    session.library.choose(session.library.models[0])
    assert button.text() == "Train 6 more"
    assert "as sample models do" not in button.toolTip()
    for model in session.library.models:
        session.library.close(model)
    assert button.text() == "Train"


@pytest.mark.slow
def test_a_new_training_beside_a_shown_model_is_seen_before_it_begins(
    finished: MainWindow, session: Session, qtbot: QtBot
) -> None:
    open_run(session, "stories-gru", qtbot)
    finished.show_perspective("corpus")
    finished.activateWindow()
    folder = session.training.state.folder
    qtbot.mouseClick(finished.findChild(QPushButton, "train_button"), Qt.MouseButton.LeftButton)
    assert finished.perspective_name == "train"
    qtbot.waitUntil(lambda: finished.focusWidget() is finished.find_control("new_run_button"))
    assert session.training.state.folder == folder
    assert not session.training.state.is_active
    subject = finished.findChild(QLabel, "training_subject")
    qtbot.waitUntil(lambda: session.plan.in_words in subject.text())


@pytest.mark.slow
def test_an_infinite_loss_is_written_as_one_and_explained(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    """Counts without smoothing give probability 0 to a word that never followed the one before it."""
    words = random.Random(0).choices([f"word{number}" for number in range(60)], k=2000)
    text = tmp_path / "random.txt"
    text.write_text(" ".join(words), encoding="utf-8")
    session.text.open(text)
    qtbot.waitUntil(lambda: session.text.corpus is not None)
    counts = FAMILIES["ngram"].configuration(order=2, smoothing="maximum-likelihood")
    session.plan.set("ngram", counts, TrainingOptions(steps=6))
    label, seen = window.transport.findChild(QLabel, "training_loss"), {}
    session.training.changed.connect(lambda: seen.update({label.text(): label.toolTip()}))
    session.training.start()
    qtbot.waitUntil(lambda: session.training.state.phase == "finished", timeout=LONG)
    assert "probability 0" in seen["loss ∞"]
    assert "loss inf" not in seen


@pytest.mark.slow
@pytest.mark.parametrize("projector", [False, True])
def test_no_figure_covers_another_in_a_narrow_window(
    finished: MainWindow, qtbot: QtBot, projector: bool
) -> None:
    finished.set_projector(projector)
    finished.setMinimumSize(1, 1)  # as on a screen that is smaller than the window should be
    qtbot.waitUntil(lambda: said(finished, "training_loss") != "")
    transport = finished.transport
    for width in (1600, 1280, 1000, 860, 800, 760):
        finished.resize(width, 640)
        qtbot.waitUntil(lambda width=width: transport.width() == width)
        layout = transport.layout()
        inside = transport.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
        row = sorted((widget for widget in inside if layout.indexOf(widget) >= 0), key=layout.indexOf)
        shown = [widget for widget in row if widget.isVisible()]
        QApplication.processEvents()
        for left, right in pairwise(shown):
            assert left.geometry().right() < right.geometry().left(), (width, left.objectName())
        for widget in shown:
            assert widget.width() >= widget.minimumSizeHint().width(), (width, widget.objectName())
        assert shown[-1].geometry().right() < transport.width()


@pytest.mark.slow
def test_what_is_said_of_a_model_goes_when_another_is_shown(
    window: MainWindow, session: Session, lstm_run: Path, qtbot: QtBot
) -> None:
    open_run(session, "stories-5-gram", qtbot)
    qtbot.mouseClick(window.transport.step_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "stories-5-gram" in window.transport.notice.sentence)
    open_run(session, lstm_run, qtbot)
    qtbot.waitUntil(lambda: not window.transport.notice.isVisible())


@pytest.mark.slow
def test_nothing_is_offered_in_blue_before_a_text_is_open(
    window: MainWindow, text_file: Path, session: Session, qtbot: QtBot
) -> None:
    button = window.findChild(QPushButton, "train_button")
    assert button.property("role") != "primary"
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(text_file, documents="line")
    qtbot.waitUntil(lambda: button.property("role") == "primary")
