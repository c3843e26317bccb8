"""Rows, columns, stacks and pickers: where their widgets stand, and what they are called."""

import gc
import re
from pathlib import Path

import pytest
from owners import can_be_told, items_known, owner_of, wrong_owners
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QMainWindow, QPushButton, QTabWidget, QWidget
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.widgets.base.building import (
    STRETCH,
    beside_by_tab,
    column,
    give_menu,
    handle_of,
    name_with,
    named,
    picker,
    reach_by_tab,
    row,
    screen_of,
    sheet,
    stack,
)
from lmviz.app.widgets.base.plain import Label

ASKED = re.compile(
    r"\.(nextInFocusChain|previousInFocusChain|focusProxy|topLevelWidget|buddy|defaultAction|group|actionGroup"
    r"|menu|popup|screen|windowHandle|splitter|thread|currentThread)\(\)|\.setBuddy\(|\bQCompleter\b"
)
"""Getters of PySide6's that give what they return a wrong owner; those of a QCompleter do, too."""


def shown(widget: QWidget, qtbot: QtBot, width: int = 300, height: int = 200) -> QWidget:
    qtbot.addWidget(widget)
    widget.resize(width, height)
    widget.show()
    qtbot.waitExposed(widget)
    return widget


def test_a_row_shares_its_room_between_its_items_and_leaves_gaps(qtbot: QtBot) -> None:
    first, second, last = QWidget(), QWidget(), QWidget()
    inner = column((last, 1))
    page = shown(sheet(row((first, 1), (second, 3), 20, (inner, 1), gap=0)), qtbot, 320)
    lefts = [(each.x(), each.width()) for each in (first, second, last)]
    assert lefts == [(0, 60), (60, 180), (260, 60)]
    assert last.parentWidget() is page
    assert first.height() == page.height()


def test_what_is_left_over_goes_to_a_stretch(qtbot: QtBot) -> None:
    top, bottom = QPushButton("top"), QPushButton("bottom")
    page = QWidget()
    laid = column(top, STRETCH, (bottom, 0, Qt.AlignmentFlag.AlignRight), on=page, margins=(1, 2, 3, 4))
    shown(page, qtbot)
    assert page.layout() is laid
    assert (top.x(), top.y()) == (1, 2)
    assert bottom.geometry().bottom() == 200 - 4 - 1
    assert bottom.geometry().right() == 300 - 3 - 1
    assert bottom.width() == bottom.sizeHint().width()


def test_a_stack_shows_its_first_page(qtbot: QtBot) -> None:
    pages = stack(Label("first"), Label("second"))
    qtbot.addWidget(pages)
    assert (pages.count(), pages.currentIndex()) == (2, 0)


def test_widgets_get_their_names_and_roles(qtbot: QtBot) -> None:
    button = named(QPushButton("go"), "go_button", "go on", role="primary")
    label = Label("text", name="a_label", role="muted", wraps=True)
    wide, narrow = (picker("a_picker", "choose", ["one", "two " * 20], least=least) for least in (0, 3))
    for each in (button, label, wide, narrow):
        qtbot.addWidget(each)
    assert (button.objectName(), button.accessibleName(), button.property("role")) == (
        "go_button",
        "go on",
        "primary",
    )
    assert (label.objectName(), label.property("role"), label.wordWrap()) == ("a_label", "muted", True)
    assert [wide.itemText(at) for at in range(wide.count())] == ["one", "two " * 20]
    assert narrow.sizeHint().width() < wide.sizeHint().width()


def test_what_stands_in_the_order_of_tab_keeps_its_parent(qtbot: QtBot) -> None:
    tabs = QTabWidget()  # its pages lie in a stack that Qt makes for itself
    tabs.addTab(sheet(column(*(QLineEdit(str(at)) for at in range(3)))), "page")
    qtbot.addWidget(tabs)
    reached, one = [], beside_by_tab(tabs, forward=True)
    while one is not None and one is not tabs:
        reached.append(one)
        one = beside_by_tab(one, forward=True)
    for each in reversed(reached):
        beside_by_tab(each, forward=False)
    name_with(Label("first"), reached[0])
    assert not can_be_told() or wrong_owners() == []
    assert [each.text() for each in reached if isinstance(each, QLineEdit)] == ["0", "1", "2"]
    del each, one, reached
    gc.collect()  # of PySide's parents, each would be a child of the one after it and of the one before
    assert [each.text() for each in tabs.findChildren(QLineEdit)] == ["0", "1", "2"]


def test_tab_reaches_what_is_made_later_where_its_place_is(qtbot: QtBot) -> None:
    """Qt moves nothing past widgets that take no keys, though they may come to have some that do."""
    window = QWidget()
    qtbot.addWidget(window)
    places = [QWidget(window) for _ in range(3)]
    for at in (1, 0, 2):
        controls = [QLineEdit(f"{at}{letter}", places[at]) for letter in "ab"]
        QWidget(places[at])
        assert len(controls) == 2
        reach_by_tab(places[at], places[at])
    found, one = [], beside_by_tab(window, forward=True)
    while one is not None and one is not window:
        found += [one.text()] if isinstance(one, QLineEdit) else []
        one = beside_by_tab(one, forward=True)
    assert found == ["0a", "0b", "1a", "1b", "2a", "2b"]


def test_no_other_module_asks_qt_for_what_would_then_belong_to_it() -> None:
    """PySide6 makes what these return or take a child of what was asked: Python would delete it too soon."""
    app = Path(lmviz.__file__).parent / "app"
    asking = {path.name for path in app.rglob("*.py") if ASKED.search(path.read_text(encoding="utf-8"))}
    assert asking == {"building.py"}


def test_what_is_asked_of_qt_in_its_place_gets_no_owner(qtbot: QtBot) -> None:
    """Should the getters give none either one day, they can be used again."""
    if not can_be_told():
        pytest.skip("this PySide6 keeps owners elsewhere")
    window, button = QMainWindow(), QPushButton()
    qtbot.addWidget(window)
    window.setCentralWidget(button)
    window.show()
    menu, handle, screen = give_menu(button), handle_of(window), screen_of(button)
    assert (owner_of(menu), owner_of(handle), owner_of(screen)) == (button, None, None)
    assert (handle, screen) == (window.windowHandle(), button.screen())
    assert (owner_of(handle), owner_of(screen)) == (window, button)


def test_no_list_is_made_of_items_that_qt_and_python_both_would_destroy() -> None:
    """PySide6 freed the wrappers of such items before the list was cleared: rows stand in a model."""
    app = Path(lmviz.__file__).parent / "app"
    made = r"^from .*\bQ(List|Tree|Table)Widget(Item)?\b|^ +Q(List|Tree|Table)Widget(Item)?,$|QStandardItem"
    makers = [
        path.name for path in app.rglob("*.py") if re.search(made, path.read_text("utf-8"), re.MULTILINE)
    ]
    assert not makers


def test_no_other_module_asks_a_layout_for_an_item() -> None:
    """Whose wrapper PySide6 keeps when Qt has deleted it: `building.py` says more."""
    app = Path(lmviz.__file__).parent / "app"
    asking = {
        path.name
        for path in app.rglob("*.py")
        if re.search(r"(?<!def )(itemAt|takeAt)\(", path.read_text("utf-8"))
    }
    assert not asking


def test_rows_in_rows_make_no_wrappers_of_their_items(qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    column(row(Label("one"), STRETCH, row(Label("two"))), 4, sheet(row(Label("three"))), STRETCH, on=page)
    assert not can_be_told() or items_known() == []
    assert [label.text() for label in page.findChildren(Label)] == ["one", "two", "three"]
