"""The palette finds commands by a few letters and triggers them."""

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QListView, QWidget

from lmviz.app.widgets.controls.command_palette import OTHER_WORDS, CommandPalette
from lmviz.app.widgets.controls.fuzzy import fuzzy_match, fuzzy_search


@pytest.fixture
def triggered():
    return []


@pytest.fixture
def palette(shown, triggered):
    window = shown(QWidget(), 700, 500)
    for name in ("&Open text…", "Train", "Pause training", "Dark theme"):
        action = QAction(name, window)
        action.triggered.connect(lambda _=False, name=name: triggered.append(name))
        action.setEnabled(name != "Pause training")
        window.addAction(action)
    palette = CommandPalette(window.actions, window)
    palette.open()
    return palette


def rows(palette):
    found = palette.findChild(QListView).model()
    return [found.index(row).data() for row in range(found.rowCount())]


def test_typing_filters_and_enter_triggers(palette, triggered):
    edit = palette.findChild(QLineEdit)
    QTest.keyClicks(edit, "ot")
    assert rows(palette)[0] == "Open text…"
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert triggered == ["&Open text…"]
    assert not palette.isVisible()


def test_a_disabled_command_is_skipped(palette, triggered):
    edit = palette.findChild(QLineEdit)
    QTest.keyClick(edit, Qt.Key.Key_Down)
    QTest.keyClick(edit, Qt.Key.Key_Down)
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert triggered == ["Dark theme"]


def test_nothing_found_is_no_harm(palette, triggered):
    edit = palette.findChild(QLineEdit)
    QTest.keyClicks(edit, "zzz")
    QTest.keyClick(edit, Qt.Key.Key_Down)
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert rows(palette) == []
    assert triggered == []


def test_where_nothing_fits_it_is_said(palette):
    edit = palette.findChild(QLineEdit)
    said = palette.findChild(QWidget, "palette_none")
    assert not said.isVisible()
    QTest.keyClicks(edit, "zzz")
    assert said.isVisible()
    assert "zzz" in said.text()
    edit.clear()
    assert not said.isVisible()
    assert len(rows(palette)) == 4


def test_a_command_is_found_by_other_words_than_its_own(palette):
    for action in palette.parentWidget().actions():
        action.setProperty(OTHER_WORDS, "night mode" if action.text() == "Dark theme" else "")
    edit = palette.findChild(QLineEdit)
    QTest.keyClicks(edit, "night")
    assert rows(palette) == ["Dark theme"]
    edit.clear()
    QTest.keyClicks(edit, "ngtmd")  # no letters here and there of what is not seen
    assert rows(palette) == []


def test_commands_are_asked_for_anew(palette):
    palette.close()
    palette.parentWidget().addAction(QAction("New one", palette.parentWidget()))
    palette.open()
    assert "New one" in rows(palette)


def test_starts_of_words_count_most():
    found = [text for text, _ in fuzzy_search("sn", ["resign", "show numbers", "sound"], lambda text: text)]
    assert found == ["show numbers", "sound"] or found[0] == "show numbers"


def test_letters_in_a_row_beat_scattered_ones():
    assert fuzzy_match("ta", "Take a picture")[1] == (0, 1)


def test_every_letter_must_be_there():
    assert fuzzy_match("train", "rain") is None
    assert fuzzy_match("", "anything") == (0.0, ())


def test_letters_whose_lower_case_is_longer_keep_their_places():
    assert fuzzy_match("x", "İx")[1] == (1,)


def test_an_event_that_comes_while_the_palette_is_built_does_no_harm(qtbot):
    class Interrupted(CommandPalette):
        def setObjectName(self, name):
            self.eventFilter(self, QEvent(QEvent.Type.User))
            super().setObjectName(name)

    palette = Interrupted(list)
    qtbot.addWidget(palette)
    palette.open()
    assert rows(palette) == []
