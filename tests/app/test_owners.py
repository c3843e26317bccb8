"""The check of the random walk that Python and Qt agree on who owns a widget."""

import pytest
from owners import can_be_told, wrong_owners
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
