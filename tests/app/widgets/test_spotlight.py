from itertools import product

import pytest
from PySide6.QtCore import QRect
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.widgets.spotlight import Spotlight, beside

WINDOW, CARD = QRect(0, 0, 1000, 700), QRect(0, 0, 300, 120)


@pytest.mark.parametrize(("left", "top"), list(product((0, 450, 900), (0, 300, 650))))
def test_the_card_stays_in_the_window_and_beside_its_frame(left: int, top: int) -> None:
    frame = QRect(left, top, 100, 50)
    card = beside(frame, CARD, WINDOW)
    assert WINDOW.contains(card)
    assert not card.intersects(frame)


def test_beside_something_as_large_as_the_window_it_covers_as_little_as_it_can() -> None:
    assert WINDOW.contains(beside(WINDOW, CARD, WINDOW))


def test_the_frame_follows_its_control_and_goes_when_it_is_hidden(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(800, 500)
    button = QPushButton("here", window)
    light = Spotlight(window)
    window.show()
    light.point_at(button, "1 of 1", "Press it.")
    assert light.sentence == "Press it."
    button.move(300, 200)
    qtbot.waitUntil(lambda: light.geometry().contains(button.geometry()))
    button.hide()
    qtbot.waitUntil(lambda: not light.isVisible())
    light.stop()
    assert light.sentence == ""
