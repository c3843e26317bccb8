from itertools import product

import pytest
from PySide6.QtCore import QRect
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.widgets.controls.spotlight import Spotlight, beside

WINDOW, CARD = QRect(0, 0, 1000, 700), QRect(0, 0, 300, 120)


@pytest.mark.parametrize(("left", "top"), list(product((0, 450, 900), (0, 300, 650))))
def test_the_card_stays_in_the_window_and_beside_its_frame(left: int, top: int) -> None:
    frame = QRect(left, top, 100, 50)
    card = beside(frame, CARD, WINDOW)
    assert WINDOW.contains(card)
    assert not card.intersects(frame)


def test_beside_something_as_large_as_the_window_it_covers_as_little_as_it_can() -> None:
    assert WINDOW.contains(beside(WINDOW, CARD, WINDOW))


def test_of_the_places_beside_a_frame_it_takes_the_one_that_leaves_most_of_the_watched_free() -> None:
    frame = QRect(0, 0, 1000, 50)
    below_in_the_middle = beside(frame, CARD, WINDOW)
    watched = [below_in_the_middle, QRect(0, 62, 340, 500)]
    card = beside(frame, CARD, WINDOW, watched)
    assert not any(card.intersects(area) for area in (frame, *watched))


def test_in_a_watched_panel_full_of_what_is_spoken_of_it_goes_to_the_side_of_the_panel() -> None:
    panel = QRect(600, 100, 390, 250)
    frame = QRect(960, 140, 26, 24)
    card = beside(frame, CARD, WINDOW, [QRect(80, 100, 510, 250), panel, QRect(0, 0, 1000, 90)])
    assert not card.intersects(panel)


def test_only_what_can_be_seen_of_a_control_is_framed(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(800, 500)
    view = QWidget(window)
    view.setGeometry(100, 100, 200, 100)
    wide = QPushButton("wide", view)
    wide.setGeometry(0, 0, 600, 100)
    light = Spotlight(window)
    window.show()
    light.point_at(wide, "Press it.", "1 of 1")
    assert light.geometry().adjusted(5, 5, -5, -5) == view.geometry()


def test_the_frame_follows_its_control_and_goes_when_it_is_hidden(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(800, 500)
    button = QPushButton("here", window)
    light = Spotlight(window)
    window.show()
    light.point_at(button, "Press it.", "1 of 1")
    assert light.sentence == "Press it."
    button.move(300, 200)
    qtbot.waitUntil(lambda: light.geometry().contains(button.geometry()))
    button.setGeometry(0, 0, 800, 60)
    qtbot.waitUntil(lambda: light.geometry().left() == 0)
    assert window.rect().contains(light.geometry()), "all of the frame can be seen"
    button.hide()
    qtbot.waitUntil(lambda: not light.isVisible())
    light.stop()
    assert light.sentence == ""
