"""The list of lessons: every word of it can be read, however narrow it is."""

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.controls.lesson_list import LessonList, ListedLesson

LESSONS = [
    ListedLesson("1 · Counting", "A language model can be made by counting which word comes next.", 0, 7),
    ListedLesson("3 · A machine with memory", "A recurrent network has one state, and writes into it.", 2, 8),
]


@pytest.mark.parametrize("width", [180, 224, 278, 400])
def test_titles_and_sentences_have_all_the_height_they_need(qtbot: QtBot, width: int) -> None:
    shown = LessonList()
    area = scrolling(shown)
    qtbot.addWidget(area)
    shown.set_lessons(LESSONS)
    area.resize(width, 400)
    area.show()
    labels = [label for label in shown.findChildren(QLabel) if label.wordWrap()]
    assert len(labels) == 2 * len(LESSONS)
    qtbot.waitUntil(
        lambda: all(label.height() >= label.heightForWidth(label.width()) > 0 for label in labels)
    )
