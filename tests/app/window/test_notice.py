"""A sentence with a button: what is offered is done once, and dismissing does nothing."""

from PySide6.QtWidgets import QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from lmviz.app.window.notice import Notice


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


def test_a_sentence_alone_has_no_button(qtbot: QtBot) -> None:
    notice = Notice()
    qtbot.addWidget(notice)
    notice.offer("The text has changed.", "Read again", print)
    notice.say("The text is empty.")
    assert notice.sentence == "The text is empty."
    assert notice.findChild(QPushButton).isHidden()
