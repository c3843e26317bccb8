"""A ring around a control."""

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.controls.ring import AROUND, Ring


def shown_window(qtbot: QtBot) -> QWidget:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(800, 500)
    return window


def test_only_what_can_be_seen_of_a_control_is_outlined(qtbot: QtBot) -> None:
    window = shown_window(qtbot)
    view = QWidget(window)
    view.setGeometry(100, 100, 200, 100)
    wide = QPushButton("wide", view)
    wide.setGeometry(0, 0, 600, 100)
    ring = Ring(window)
    window.show()
    ring.surround(lambda: wide)
    assert ring.geometry().adjusted(AROUND, AROUND, -AROUND, -AROUND) == view.geometry()
    ring.stop()


def test_the_ring_follows_its_control_and_lets_the_pointer_through(qtbot: QtBot) -> None:
    window = shown_window(qtbot)
    button = QPushButton("here", window)
    ring = Ring(window)
    window.show()
    ring.surround(lambda: button)
    button.move(300, 200)
    qtbot.waitUntil(lambda: ring.geometry().contains(button.geometry()))
    assert window.childAt(QPoint(ring.geometry().center())) is button
    button.setGeometry(0, 0, 800, 60)
    qtbot.waitUntil(lambda: ring.geometry().left() == 0)
    assert window.rect().contains(ring.geometry()), "all of the ring can be seen"
    button.hide()
    qtbot.waitUntil(lambda: not ring.isVisible())
    button.show()
    qtbot.waitUntil(ring.isVisible)
    ring.stop()
    assert ring.control is None


def test_a_control_that_is_made_later_is_outlined_then(qtbot: QtBot) -> None:
    window = shown_window(qtbot)
    ring = Ring(window)
    window.show()
    ring.surround(lambda: window.findChild(QPushButton))
    assert not ring.isVisible()
    button = QPushButton("late", window)
    button.show()
    qtbot.waitUntil(lambda: ring.control is button)
    ring.stop()


def test_the_ring_lies_over_no_hover_card(qtbot: QtBot) -> None:
    window = shown_window(qtbot)
    button, ring = QPushButton("here", window), Ring(window)
    window.show()
    card = HoverCard.beside(button, QPoint(), "trunk", ["11.3 %"])
    ring.surround(lambda: button)
    order = [child for child in window.children() if child in (ring, card)]
    assert order == [ring, card]
    ring.stop()
