"""The checks of the random walk: Python and Qt agree on who owns a widget, and no item has a wrapper."""

import pytest
from owners import can_be_told, items_known, wrong_owners
from PySide6.QtWidgets import (
    QButtonGroup,
    QLabel,
    QLineEdit,
    QRadioButton,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot


def test_what_pyside_takes_for_another_owner_is_found(qtbot: QtBot) -> None:
    if not can_be_told():
        pytest.skip("this PySide6 keeps owners elsewhere")
    page, stacked = QWidget(), QWidget()
    qtbot.addWidget(page)
    column, stack, group = QVBoxLayout(page), QStackedLayout(), QButtonGroup(page)
    edit, choice = QLineEdit(), QRadioButton()
    column.addWidget(edit)
    column.addWidget(choice)
    column.addLayout(stack)
    stack.addWidget(stacked)
    group.addButton(choice)
    assert stack.currentWidget() is stacked
    assert wrong_owners() == []
    label = QLabel(page)
    label.setBuddy(edit)
    assert wrong_owners() == ["QLineEdit belongs to QLabel in Python"]
    column.addWidget(edit)
    assert wrong_owners() == []
    choice.nextInFocusChain()
    assert len(wrong_owners()) == 1


def test_an_item_of_which_pyside_has_a_wrapper_is_found(qtbot: QtBot) -> None:
    if not can_be_told():
        pytest.skip("this PySide6 keeps owners elsewhere")
    page, label = QWidget(), QLabel("one")
    qtbot.addWidget(page)
    column = QVBoxLayout(page)
    column.addWidget(label)
    assert items_known() == []
    assert column.itemAt(0) is not None
    assert items_known() == ["QVBoxLayout of QWidget"]
    column.removeWidget(label)


def test_a_filled_layout_in_that_of_a_widget_makes_wrappers(qtbot: QtBot) -> None:
    """Should it make none one day, a layout may again be filled before it is put where it belongs."""
    if not can_be_told():
        pytest.skip("this PySide6 keeps owners elsewhere")
    page, label, inner = QWidget(), QLabel("one"), QVBoxLayout()
    qtbot.addWidget(page)
    column = QVBoxLayout(page)
    inner.addWidget(label)
    column.addLayout(inner)
    assert items_known() == ["QVBoxLayout of QWidget"]
    inner.removeWidget(label)
