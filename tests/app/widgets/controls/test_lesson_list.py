"""The list of lessons: every word of it can be read, however narrow it is."""

import pytest
from PySide6.QtCore import Qt
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


def test_arrow_keys_go_from_row_to_row_and_a_ring_shows_where_one_is(qtbot: QtBot) -> None:
    rows = LessonList()
    qtbot.addWidget(rows)
    rows.set_lessons([ListedLesson(title, "about it", 0, 3) for title in ("One", "Two", "Three")])
    rows.show()
    rows.activateWindow()
    first = rows.first
    qtbot.waitUntil(rows.isActiveWindow)
    first.clearFocus()
    before = first.grab().toImage()
    first.setFocus()
    assert first.grab().toImage() != before
    named = []
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Up):
        qtbot.keyClick(rows.focusWidget(), key)
        named.append(rows.focusWidget().objectName())
    assert named == ["lesson_open_1", "lesson_open_2", "lesson_open_2", "lesson_open_1"]
    with qtbot.waitSignal(rows.chosen) as chosen:
        qtbot.keyClick(rows.focusWidget(), Qt.Key.Key_Return)
    assert chosen.args == [1]
