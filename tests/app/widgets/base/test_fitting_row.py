"""Controls give way in their order where there is no room, and come back."""

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.fitting_row import FittingRow


@pytest.fixture
def buttons() -> list[QPushButton]:
    return [QPushButton(word * 3) for word in ("first ", "second ", "third ")]


def test_controls_give_way_and_come_back(buttons: list[QPushButton], qtbot: QtBot) -> None:
    row = FittingRow(buttons, giving_way=(buttons[2], buttons[0]))
    card = Card("A title", row)
    qtbot.addWidget(card)
    card.resize(900, 200)
    card.show()
    qtbot.waitUntil(lambda: all(button.isVisible() for button in buttons))
    needed = row.sizeHint().width()
    card.resize(needed, 200)
    qtbot.waitUntil(lambda: not buttons[2].isVisible())
    assert buttons[0].isVisible()
    card.resize(buttons[1].sizeHint().width() + 120, 200)
    qtbot.waitUntil(lambda: not buttons[0].isVisible())
    assert buttons[1].isVisible(), "what does not give way stays"
    card.resize(900, 200)
    qtbot.waitUntil(lambda: all(button.isVisible() for button in buttons))
