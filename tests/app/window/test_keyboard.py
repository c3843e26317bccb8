"""Keys: what they do, whom they are left to, and where all of them are named."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QLabel,
    QLineEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from lmviz.app.panels.table import shown_perspectives
from lmviz.app.session.session import Session
from lmviz.app.window import commands
from lmviz.app.window.dialogs import KeyboardMap
from lmviz.app.window.main_window import MainWindow

LONG = 20_000


def find(window: MainWindow, kind: type[QWidget], name: str) -> QWidget:
    found = window.findChild(kind, name)
    assert found is not None, name
    return found


def test_keys_step_and_escape_releases(window: MainWindow, read: Session, qtbot: QtBot) -> None:
    window.setFocus()
    qtbot.keyClick(window, Qt.Key.Key_Left)
    assert read.focus.position == 2
    qtbot.keyClick(window, Qt.Key.Key_Right)
    assert read.focus.position == 3
    qtbot.keyClick(window, Qt.Key.Key_Down)
    assert read.focus.stage == 1
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert not read.focus.is_position_pinned


def test_typing_keeps_its_keys(window: MainWindow, read: Session, qtbot: QtBot) -> None:
    edit = find(window, QLineEdit, "prefix_edit")
    edit.setFocus()
    qtbot.keyClicks(edit, " now")
    qtbot.keyClick(edit, Qt.Key.Key_Left)
    assert edit.text() == "the cows eat now"
    assert not read.focus.is_position_pinned
    qtbot.keyClick(edit, Qt.Key.Key_Up)
    qtbot.keyClick(edit, Qt.Key.Key_Down)
    assert read.focus.stage == 1, "a line has no use for these, so they walk the stages"


@pytest.mark.parametrize("number", range(1, len(shown_perspectives()) + 1))
def test_every_perspective_opens_from_the_keyboard(
    window: MainWindow, read: Session, qtbot: QtBot, number: int
) -> None:
    qtbot.keyClick(window, getattr(Qt.Key, f"Key_{number}"), Qt.KeyboardModifier.ControlModifier)
    assert window.perspective.name == shown_perspectives()[number - 1].name
    assert window.perspective.panels


def test_every_command_has_a_name_and_no_two_share_their_keys(window: MainWindow) -> None:
    actions = [action for action in window.commands.all() if not action.shortcut().isEmpty()]
    keys = [action.shortcut().toString() for action in actions]
    assert len(keys) == len(set(keys))


def test_the_keyboard_map_names_every_key_that_anything_listens_to(window: MainWindow) -> None:
    window.commands.show_keyboard_map()
    [shown] = window.findChildren(KeyboardMap)
    told = " ".join(label.text() for label in shown.findChildren(QLabel)).lower()
    sources = (path for path in Path(commands.__file__).parents[1].rglob("*.py") if path.name != "demo.py")
    listened = {name for path in sources for name in re.findall(r"Key\.Key_(\w+)", path.read_text("utf-8"))}
    words = {"Left": "←", "Right": "→", "Up": "↑", "Down": "↓", "Enter": "return", "Escape": "esc"}
    words |= {"PageUp": "page up", "PageDown": "page down"}
    assert {"N", "Space", "Home", "Return"} <= listened
    keys = re.split(r"[\s,+]+", told)
    missing = {
        key for key in listened if words.get(key, key.lower()) not in [*keys, *map(" ".join, pairwise(keys))]
    }
    assert not missing
    for action in window.commands.all():
        if not action.shortcut().isEmpty():
            assert action.shortcut().toString(QKeySequence.SequenceFormat.NativeText).lower() in told


def test_the_keyboard_map_fits_into_a_small_window(window: MainWindow) -> None:
    window.resize(860, 560)
    window.commands.show_keyboard_map()
    [shown] = window.findChildren(KeyboardMap)
    assert shown.height() < window.height()
