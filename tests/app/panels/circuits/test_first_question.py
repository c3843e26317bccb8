"""Circuits is not empty at first: a question that suits the model is asked, or a button offers it."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow

ONLY_PANELS = ("contrast", "patching")


def open_stories(session: Session, qtbot: QtBot) -> None:
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open("stories-transformer")


def test_where_nobody_has_typed_the_first_question_is_asked_by_itself(
    window: MainWindow, session: Session, qtbot: QtBot
):
    open_stories(session, qtbot)
    qtbot.waitUntil(lambda: bool(session.contrast.other))
    question = session.contrast.offers()[0].contrast
    assert (session.reading.prefix, session.contrast.other) == (question.text, question.changed)
    [panel] = [each for each in window.perspective.panels if each.objectName() == "patching_view"]
    qtbot.waitUntil(lambda: panel.patches is not None)
    session.contrast.set_other("")
    session.reading.set_prefix("")
    qtbot.waitUntil(lambda: panel.patches is None)
    assert not session.contrast.other, "it is asked once"


@pytest.mark.slow
@pytest.mark.parametrize("first_perspective", ["attention"], indirect=True)
def test_what_a_person_has_typed_stays_and_a_button_asks_the_question(
    window: MainWindow, session: Session, qtbot: QtBot
):
    open_stories(session, qtbot)
    session.reading.set_prefix("Maya put the")
    window.show_perspective("circuits")
    [panel] = [each for each in window.perspective.panels if each.objectName() == "patching_view"]
    qtbot.waitUntil(lambda: session.contrast.found is not None and panel.is_up_to_date)
    assert session.reading.prefix == "Maya put the"
    button = panel.findChild(QPushButton, "patching_question_button")
    qtbot.waitUntil(button.isVisible)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.patches is not None and panel.is_whole)
    assert session.reading.prefix == session.contrast.offers()[0].contrast.text


@pytest.mark.slow
def test_its_changed_text_goes_with_the_models_it_is_about(
    window: MainWindow, session: Session, qtbot: QtBot
):
    open_stories(session, qtbot)
    qtbot.waitUntil(lambda: bool(session.contrast.other))
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open("reviews-lstm")
    assert session.contrast.other == ""
    session.contrast.set_other("the film was bad")
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open("stories-gru")
    assert session.contrast.other == "the film was bad", "a person has typed it"
