"""Controls give way in their order where there is no room, stand behind a sign, and come back."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from lmviz.app.widgets.base.building import picker
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.fitting_row import FittingRow
from lmviz.app.widgets.base.muted_line import MutedLine


@pytest.fixture
def buttons() -> list[QPushButton]:
    return [QPushButton(word * 3) for word in ("first ", "second ", "third ")]


@pytest.fixture
def row(buttons: list[QPushButton]) -> FittingRow:
    return FittingRow(buttons, giving_way=(buttons[2], buttons[0]))


@pytest.fixture
def card(row: FittingRow, qtbot: QtBot) -> Card:
    made = Card("A title", row)
    qtbot.addWidget(made)
    made.resize(900, 200)
    made.show()
    qtbot.waitUntil(lambda: row.full_width <= row.width())
    return made


@pytest.fixture
def sign(row: FittingRow) -> QPushButton:
    return row.findChild(QPushButton, "controls_put_away")


def narrow(card: Card, row: FittingRow, buttons: list[QPushButton], qtbot: QtBot) -> None:
    """So that only the second stays, beside the sign."""
    card.resize(buttons[1].sizeHint().width() + 130, 200)
    qtbot.waitUntil(lambda: not buttons[0].isVisible())


def test_controls_give_way_and_come_back(
    card: Card, row: FittingRow, buttons: list[QPushButton], sign: QPushButton, qtbot: QtBot
) -> None:
    assert all(button.isVisible() for button in buttons)
    assert not sign.isVisible()
    card.resize(card.width() - card.room_beside_title + row.next_width, 200)
    qtbot.waitUntil(lambda: not buttons[2].isVisible())
    assert buttons[0].isVisible()
    assert (sign.isVisible(), sign.text()) == (True, "+1")
    assert buttons[2].text() in sign.toolTip()
    narrow(card, row, buttons, qtbot)
    assert buttons[1].isVisible(), "what does not give way stays"
    assert sign.text() == "+2"
    card.resize(900, 200)
    qtbot.waitUntil(lambda: all(button.isVisible() for button in buttons))
    assert not sign.isVisible()


def test_the_sign_has_its_room_however_narrow_the_card_is(
    card: Card, row: FittingRow, buttons: list[QPushButton], sign: QPushButton, qtbot: QtBot
) -> None:
    card.set_title("A title that is much longer than all the room beside it")
    card.resize(card.minimumSizeHint().width(), 200)
    qtbot.waitUntil(sign.isVisible)
    for shown in (sign, buttons[1]):
        qtbot.waitUntil(lambda shown=shown: shown.width() >= shown.sizeHint().width())
    assert row.rect().contains(sign.geometry())
    assert card.rect().contains(row.geometry())


def test_a_control_has_the_room_that_it_was_given_and_none_beside_it_is_cut(
    row: FittingRow, buttons: list[QPushButton], qtbot: QtBot
) -> None:
    qtbot.addWidget(row)
    buttons[1].setText("a")
    buttons[1].setMinimumWidth(buttons[1].sizeHint().width() + 60)
    row.show()
    for room in range(row.full_width + 20, row.minimumSizeHint().width() - 1, -5):
        row.fit(room)
        row.setFixedWidth(room)
        qtbot.waitUntil(lambda room=room: row.width() == room)
        row.layout().activate()
        shown = [control for control in row.findChildren(QPushButton) if control.isVisible()]
        assert not [control.text() for control in shown if control.width() < control.sizeHint().width()], room


def test_what_somebody_has_to_find_stays_in_the_row(
    card: Card, row: FittingRow, buttons: list[QPushButton], sign: QPushButton, qtbot: QtBot
) -> None:
    narrow(card, row, buttons, qtbot)
    assert not buttons[2].isVisible()
    row.keep(buttons[2])
    assert [button.isVisible() for button in buttons] == [False, True, True]
    assert sign.text() == "+1"
    card.resize(card.width() - 20, 200)
    qtbot.waitUntil(lambda: row.isVisible())
    assert buttons[2].isVisible()


def test_what_is_put_away_is_used_below_the_sign(
    card: Card, row: FittingRow, buttons: list[QPushButton], sign: QPushButton, qtbot: QtBot
) -> None:
    narrow(card, row, buttons, qtbot)
    pressed = []
    buttons[2].clicked.connect(lambda: pressed.append(buttons[2]))
    qtbot.mouseClick(sign, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: buttons[0].isVisible() and buttons[2].isVisible())
    assert buttons[1].parentWidget() is row
    qtbot.mouseClick(buttons[2], Qt.MouseButton.LeftButton)
    assert pressed == [buttons[2]]
    QApplication.activePopupWidget().close()
    assert not buttons[0].isVisible()
    card.resize(900, 200)
    qtbot.waitUntil(lambda: all(button.isVisible() for button in buttons))
    places = [button.mapTo(card, QPoint()).x() for button in buttons]
    assert places == sorted(places), "each stands where it stood"


def test_keys_lead_to_the_sign_and_to_what_it_shows(
    card: Card, row: FittingRow, buttons: list[QPushButton], sign: QPushButton, qtbot: QtBot
) -> None:
    card.activateWindow()
    narrow(card, row, buttons, qtbot)
    buttons[1].setFocus()
    qtbot.keyClick(buttons[1], Qt.Key.Key_Tab)
    assert sign.hasFocus()
    qtbot.keyClick(sign, Qt.Key.Key_Space)
    popup = QApplication.activePopupWidget()
    assert popup.focusWidget() in (buttons[0], buttons[2])
    popup.focusNextChild()
    assert popup.focusWidget() in (buttons[0], buttons[2])
    qtbot.keyClick(popup.focusWidget(), Qt.Key.Key_Escape)
    assert QApplication.activePopupWidget() is None
    assert not buttons[0].isVisible()


def test_below_the_sign_a_picker_has_its_name_and_a_note_is_not_counted(qtbot: QtBot) -> None:
    note, order, stays = MutedLine("a note"), picker("", "order of the rows", ["as is"]), QPushButton("stays")
    row = FittingRow((note, order, stays), (note, order))
    card = Card("A title", row)
    qtbot.addWidget(card)
    card.resize(stays.sizeHint().width() + 110, 200)
    card.show()
    sign = row.findChild(QPushButton, "controls_put_away")
    qtbot.waitUntil(sign.isVisible)
    assert sign.text() == "+1"
    sign.click()
    popup = QApplication.activePopupWidget()
    assert [label.text() for label in popup.findChildren(QLabel)] == ["order of the rows"]
    popup.close()
