"""Keys: what they do, whom they are left to, and where all of them are named."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from covering import others_slow, parametrize_few, walk_through
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.board.place import Place
from lmviz.app.panels.panel_row import Perspective
from lmviz.app.panels.table import shown_perspectives
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import beside_by_tab, takes_tab
from lmviz.app.window import commands
from lmviz.app.window.dialogs import KeyboardMap
from lmviz.app.window.main_window import MainWindow

LONG = 20_000
RACE = next(row for row in shown_perspectives() if row.name == "race")


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


@pytest.mark.parametrize(
    "perspective", others_slow(shown_perspectives(), RACE), ids=lambda perspective: perspective.name
)
def test_every_perspective_opens_from_the_keyboard(
    window: MainWindow, read: Session, qtbot: QtBot, perspective: Perspective
) -> None:
    keys = QKeySequence(perspective.keys)[0]
    qtbot.keyClick(window, keys.key(), keys.keyboardModifiers())
    assert window.perspective.name == perspective.name
    assert window.perspective.panels


def test_every_command_has_a_name_and_no_two_share_their_keys(window: MainWindow) -> None:
    actions = [action for action in window.commands.all() if not action.shortcut().isEmpty()]
    keys = [action.shortcut().toString() for action in actions]
    assert len(keys) == len(set(keys))


WORDS = {"left": "←", "right": "→", "up": "↑", "down": "↓", "enter": "return", "escape": "esc"}
WORDS |= {"pageup": "page up", "pagedown": "page down", "-": "−", "period": "."}
"""What a person calls a key, where that is not its name in Qt."""


def keys_listened_to() -> set[str]:
    """Every key that some widget acts on: by its code, or by the character that it types."""
    sources = [path.read_text("utf-8") for path in Path(commands.__file__).parents[1].rglob("*.py")]
    codes = {name.lower() for source in sources for name in re.findall(r"Key\.Key_(\w+)", source)}
    typed = {
        key
        for source in sources
        for line in re.findall(r".*event\.text\(\).*", source)
        for key in re.findall(r'"(.)"', line)
    }
    assert {"n", "space", "home", "return"} <= codes
    assert {"+", "-", "0"} <= typed
    return {WORDS.get(key, key) for key in codes | typed}


def keys_named(rows: list[str]) -> set[str]:
    """The keys that stand in the first column of a table: "← →", "page up, page down", "ctrl+1 … ctrl+9"."""
    keys: set[str] = set()
    for part in (part for row in rows for part in row.split(", ")):
        first, dots, last = part.partition(" … ")
        if dots:
            keys |= {first[:-1] + chr(code) for code in range(ord(first[-1]), ord(last[-1]) + 1)}
        else:
            keys |= {part, *part.split()}
    return keys


def rows_of_the_window(window: MainWindow) -> list[str]:
    window.commands.show_keyboard_map()
    [shown] = window.findChildren(KeyboardMap)
    return [label.text().lower() for label in shown.findChildren(QLabel)]


def rows_of_the_guide(window: MainWindow) -> list[str]:
    guide = Path(lmviz.__file__).parents[1] / "docs" / "guide" / "keyboard.md"
    return re.findall(r"^\| (.+?) \|", guide.read_text("utf-8").lower(), re.MULTILINE)


@parametrize_few("rows", [rows_of_the_window, rows_of_the_guide], ids=["window", "guide"])
def test_every_key_that_anything_listens_to_is_named(
    window: MainWindow, rows: Callable[[MainWindow], list[str]]
) -> None:
    shortcuts = {
        action.shortcut().toString(QKeySequence.SequenceFormat.PortableText).lower()
        for action in window.commands.all()
        if not action.shortcut().isEmpty()
    }
    assert {"ctrl+9", "g", "f1"} <= shortcuts
    assert not (keys_listened_to() | shortcuts) - keys_named(rows(window))


@pytest.mark.slow
def test_the_keyboard_map_fits_into_a_small_window(window: MainWindow) -> None:
    window.resize(860, 560)
    window.commands.show_keyboard_map()
    [shown] = window.findChildren(KeyboardMap)
    assert shown.height() < window.height()


@walk_through("corpus", "sample")
def test_another_perspective_gives_no_field_the_keys(
    window: MainWindow, read: Session, perspectives: tuple[str, ...]
) -> None:
    window.activateWindow()
    left = 0
    for name in perspectives * 2:
        window.show_perspective(name)
        if name != "polls":  # where letters are answers
            assert window.focusWidget() is window, f"{name}: {window.focusWidget()}"
        able = [
            widget
            for widget in window.perspective.findChildren(QWidget)
            if widget.isVisible() and widget.isEnabled() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        ]
        if able:
            able[0].setFocus()
            left += 1
    assert left >= len(perspectives)


@pytest.mark.slow
@walk_through("train")
def test_another_tab_gives_no_field_the_keys(
    window: MainWindow, read: Session, perspectives: tuple[str, ...]
) -> None:
    window.activateWindow()
    tried = 0
    for name in perspectives:
        window.show_perspective(name)
        for panel in (panel for panel in window.perspective.panels if not panel.is_in_sight):
            for able in window.perspective.findChildren(QLineEdit):
                if able.isVisible():
                    able.setFocus()
            held = window.focusWidget()
            window.bring_in_front(panel.objectName())
            tried += held is not None and not held.isVisible()
            assert window.focusWidget() in (window, held), f"{panel}: {window.focusWidget()}"
    assert tried, "in some place two share, one has a field"


@pytest.mark.slow
def test_a_control_that_can_no_longer_be_used_gives_the_keyboard_to_none(
    window: MainWindow, qtbot: QtBot
) -> None:
    """Train is greyed while it trains: space would then have pressed what stands beside it."""
    window.show_perspective("train")
    button = next(found for found in window.findChildren(QPushButton, "new_run_button") if found.isVisible())
    button.setEnabled(True)
    button.setFocus()
    button.setEnabled(False)
    assert QApplication.focusWidget() is window
    button.setEnabled(True)
    qtbot.keyClick(window, Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is button


@pytest.mark.parametrize(
    "perspective",
    [
        row if row.name == "inside" else pytest.param(row, marks=pytest.mark.slow)
        for row in shown_perspectives()
    ],
    ids=lambda row: row.name,
)
def test_tab_reaches_the_tabs_of_a_place_right_before_what_they_show(
    window: MainWindow, perspective: Perspective, qtbot: QtBot
) -> None:
    window.show_perspective(perspective.name)
    qtbot.waitUntil(lambda: bool(window.perspective.panels), timeout=LONG)
    reached = in_order_of_tab(window)
    for place in window.perspective.findChildren(Place):
        bar, inside = place.tabBar(), [one for one in reached if place.isAncestorOf(one)]
        if bar.isVisible() and len(inside) > 1:
            assert inside[0] is bar, place.name
            assert reached[reached.index(bar) + 1] is inside[1], place.name


def test_tab_reaches_what_is_made_late_where_it_stands(window: MainWindow) -> None:
    window.show_perspective("scale")
    window.header.make_all()
    window.prefix_bar.make_all()
    window.notice.offer("A head was removed.", "Undo", lambda: None)
    order, one = [], beside_by_tab(window, forward=True)
    while one is not None and one is not window:
        order.append(one)
        one = beside_by_tab(one, forward=True)
    bar, notice = window.prefix_bar, window.notice
    for before, part, after in (
        (window.header.menu_bar, window.header.chip, window.header.model_button),
        (bar, bar.picture, bar.edit),
        (notice, notice, window.perspective.panels[-1]),
    ):
        controls = [one for one in order if part.isAncestorOf(one) or one is part]
        taken = [order.index(one) for one in controls if one.focusPolicy() & Qt.FocusPolicy.TabFocus]
        assert taken, part.objectName()
        assert order.index(before) < min(taken) <= max(taken) < order.index(after), part.objectName()


@pytest.mark.slow
def test_tab_reaches_the_train_button_before_the_settings(window: MainWindow, qtbot: QtBot) -> None:
    window.show_perspective("train")
    cards = find(window, QWidget, "family_picker")
    qtbot.waitUntil(cards.isVisible, timeout=LONG)
    names = [one.objectName() for one in in_order_of_tab(window)]
    assert names.index("add_lane_button") < names.index("family_picker")


def in_order_of_tab(window: MainWindow) -> list[QWidget]:
    """The controls that Tab reaches one after the other."""
    reached: list[QWidget] = []
    one = beside_by_tab(window, forward=True)
    while one is not None and one is not window:
        if takes_tab(one):
            reached.append(one)
        one = beside_by_tab(one, forward=True)
    return reached
