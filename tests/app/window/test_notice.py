"""A sentence with a button: what is offered is done once, and dismissing does nothing."""

from collections.abc import Callable
from pathlib import Path

import pytest
from foreign_models import add_tokenizer, saved
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QToolButton
from pytestqt.qtbot import QtBot
from safetensors.numpy import load_file, save_file

from lmviz.app.session.session import Session
from lmviz.app.session.training import NO_TEXT
from lmviz.app.window import notice as notices
from lmviz.app.window.main_window import MainWindow
from lmviz.app.window.notice import Notice
from lmviz.desktop.scene import Scene, save_scene
from lmviz.training.run import Run


def test_what_is_offered_is_done_once_and_the_sentence_goes(qtbot: QtBot) -> None:
    notice, done = Notice(), []
    qtbot.addWidget(notice)
    notice.offer("The text has changed.", "Read again", lambda: done.append(notice.sentence))
    assert notice.sentence == notice.accessibleName() == "The text has changed."
    for _ in range(2):
        notice.findChild(QPushButton).click()
    assert done == [""], "what it does may say something new"


def test_what_is_dismissed_is_not_done(qtbot: QtBot) -> None:
    notice, done = Notice(), []
    qtbot.addWidget(notice)
    notice.offer("The text has changed.", "Read again", lambda: done.append(1))
    notice.findChild(QToolButton).click()
    assert (notice.sentence, done) == ("", [])


def test_what_failed_is_said_until_it_is_answered_unless_something_else_is_said(qtbot: QtBot) -> None:
    asked, notice = Asked(), Notice()
    qtbot.addWidget(notice)
    notice.show()
    notice.show_failures(asked.failed, asked.answered)
    asked.failed.emit("It failed.")
    assert notice.sentence == "It failed."
    asked.answered.emit()
    assert notice.sentence == ""
    asked.failed.emit("It failed.")
    notice.say("Something else.")
    asked.answered.emit()
    assert notice.sentence == "Something else."


class Asked(QObject):
    failed = Signal(str)
    answered = Signal()


def test_what_only_other_events_made_old_stays_until_it_may_have_been_read(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notices, "seconds_to_read", lambda sentence: 0.3)
    asked, notice = Asked(), Notice()
    qtbot.addWidget(notice)
    notice.show_failures(asked.failed, old_after=[asked.answered])
    asked.failed.emit("It failed.")
    asked.answered.emit()
    assert notice.sentence == "It failed."
    qtbot.waitUntil(lambda: notice.sentence == "")


def test_an_offer_comes_back_from_below_a_sentence_unless_it_was_withdrawn(qtbot: QtBot) -> None:
    notice, done = Notice(), []
    qtbot.addWidget(notice)
    notice.offer("The text has changed.", "Read again", lambda: done.append(1))
    notice.say("It failed.")
    notice.findChild(QToolButton).click()
    assert notice.sentence == "The text has changed."
    notice.findChild(QPushButton).click()
    assert (done, notice.sentence) == ([1], "")
    notice.offer("The text has changed.", "Read again", lambda: done.append(1))
    notice.say("It failed.")
    notice.withdraw("The text has changed.")
    notice.findChild(QToolButton).click()
    assert notice.sentence == ""


@pytest.mark.slow
def test_what_is_said_of_a_bad_scene_goes_with_a_good_one(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    bad = tmp_path / "bad.lmviz"
    bad.write_text("not a scene", encoding="utf-8")
    good = save_scene(Scene(perspective="polls"), tmp_path / "good.lmviz")
    window.open_paths([bad])
    assert "bad.lmviz" in window.notice.sentence
    window.open_paths([good])
    qtbot.waitUntil(lambda: window.notice.sentence == "")


@pytest.mark.slow
def test_why_no_training_can_begin_goes_with_the_reason(
    window: MainWindow, session: Session, text_file: Path, qtbot: QtBot
) -> None:
    session.training.start()
    assert window.transport.notice.sentence == NO_TEXT
    with qtbot.waitSignal(session.text.changed):
        session.text.open(text_file, documents="line")
    assert window.transport.notice.sentence == ""


def test_a_sentence_alone_has_no_button(qtbot: QtBot) -> None:
    notice = Notice()
    qtbot.addWidget(notice)
    notice.offer("The text has changed.", "Read again", print)
    notice.say("The text is empty.")
    assert notice.sentence == "The text is empty."
    assert notice.findChild(QPushButton).isHidden()


def test_what_a_sentence_repeats_from_a_file_is_no_markup(qtbot: QtBot) -> None:
    notice = Notice()
    qtbot.addWidget(notice)
    notice.say("There is no <b>run</b>.")
    [label] = notice.findChildren(QLabel)
    assert label.textFormat() == Qt.TextFormat.PlainText


@pytest.mark.slow
def test_a_plain_sentence_goes_when_a_person_goes_elsewhere_and_an_offer_stays(
    window: MainWindow, qtbot: QtBot
) -> None:
    window.notice.say("This run keeps no state to train on from.")
    window.transport.notice.offer("There is no text to learn from.", "Open it", lambda: None)
    button = window.find_control("perspective_inside")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert window.perspective_name == "inside"
    assert window.notice.sentence == ""
    assert window.transport.notice.sentence


def test_a_model_with_nan_in_it_opens_and_the_window_names_the_tensors(
    window: MainWindow, session: Session, make_run: Callable[..., Path], lstm_run: Path, qtbot: QtBot
) -> None:
    folder = make_run("rnn", 2, width=6)
    run = Run.open(folder)
    state = run.load_snapshot(2)
    name = next(name for name, value in state.items() if value.dim() == 2)
    state[name][0, 0] = float("nan")
    run.save_snapshot(2, state)
    session.library.open(folder)
    qtbot.waitUntil(lambda: "NaN or infinity" in window.notice.sentence)
    assert name in window.notice.sentence
    assert "choose an earlier step" in window.notice.sentence
    assert session.library.model is not None
    assert session.library.model.folder == folder.resolve(), "it can be looked into all the same"
    session.library.open(lstm_run)
    qtbot.waitUntil(lambda: window.notice.sentence == "")


@pytest.mark.slow
def test_a_checkpoint_with_nan_in_it_is_not_asked_for_an_earlier_step(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    folder = add_tokenizer(saved("gpt2", tmp_path / "it"))
    state = load_file(folder / "model.safetensors")
    state["transformer.wpe.weight"][2, 1] = float("nan")
    save_file(state, folder / "model.safetensors", {"format": "pt"})
    session.library.open(folder)
    qtbot.waitUntil(lambda: "NaN or infinity in positions.weight" in window.notice.sentence)
    assert "its file is damaged, or was saved like this" in window.notice.sentence
    assert "earlier step" not in window.notice.sentence
