"""Cards hold a title, an aside and a body, each of which can be replaced; hover cards keep inside."""

import pytest
from PySide6.QtCore import QEvent, QPoint, QRect
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QToolTip, QWidget

from lmviz.app.look.theme import theme_switch
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.hover_card import SHADOW, HoverCard


def test_the_title_names_the_card(shown):
    card = shown(Card("Loss", "nats", QLabel("body")))
    assert card.accessibleName() == "Loss"
    card.set_title("Health")
    assert card.title == card.accessibleName() == "Health"


def test_a_title_without_room_ends_in_dots_and_the_pointer_brings_the_whole(shown):
    title = "The average layer changed by 0.4 % of its weights in the last step"
    card = shown(Card(title, QPushButton("linear")), 300, 100)
    label = card.findChildren(QLabel)[0]
    assert label.shown.endswith("…")
    assert title.startswith(label.shown[:-1])
    assert not QToolTip.isVisible()
    middle = label.rect().center()
    QApplication.sendEvent(label, QHelpEvent(QEvent.Type.ToolTip, middle, label.mapToGlobal(middle)))
    assert title in QToolTip.text()
    QToolTip.hideText()
    card.resize(900, 100)
    QApplication.processEvents()
    assert label.shown == title


def test_aside_may_be_words_or_a_control_and_changes_between_them(shown, qtbot):
    card = shown(Card("Loss", "nats"))
    button = QPushButton("linear")
    card.set_aside(button)
    qtbot.waitUntil(button.isVisible)
    card.set_aside(button)
    assert button.isVisible()
    with qtbot.waitSignal(button.destroyed):
        card.set_aside("bits")
    assert card.aside == "bits"


def test_another_body_takes_the_place_of_the_first(shown, qtbot):
    first, second = QLabel("first"), QLabel("second")
    card = shown(Card("Loss", "", first))
    with qtbot.waitSignal(first.destroyed):
        card.set_body(second)
    qtbot.waitUntil(second.isVisible)
    assert card.body is second


def test_the_projector_enlarges_margins(shown):
    card = shown(Card("Loss"))
    usual = card.layout_below.contentsMargins().left()
    theme_switch().set_projector(True)
    try:
        assert card.layout_below.contentsMargins().left() > usual
    finally:
        theme_switch().set_projector(False)


@pytest.mark.parametrize("place", [(0, 0), (395, 5), (5, 295), (398, 298)])
def test_a_hover_card_keeps_inside_and_off_the_pointer(shown, place):
    window = shown(QWidget(), 400, 300)
    card = HoverCard.beside(window, QPoint(*place), "h[17] = 0.284", ["layer 1", "at night"])
    assert window.rect().contains(card.geometry())
    panel = card.geometry().adjusted(SHADOW, SHADOW, -SHADOW, -SHADOW)
    assert not panel.contains(QPoint(*place))


def test_a_window_has_one_hover_card(shown):
    window = shown(QWidget(), 400, 300)
    first = HoverCard.beside(window, QPoint(10, 10), "a")
    assert HoverCard.beside(window, QPoint(50, 50), "b", ["c"]) is first
    assert (first.title, first.lines) == ("b", ("c",))
    HoverCard.leave(window)
    assert not first.isVisible()


def test_a_late_card_is_paled_says_so_and_lets_the_pointer_through(shown):
    body = QPushButton("press")
    pressed = []
    body.clicked.connect(lambda: pressed.append(True))
    card = shown(Card("Loss", "nats", body))
    card.resize(300, 200)
    fresh = card.grab().toImage()
    card.set_late("of the text before")
    assert card.late == card.accessibleDescription() == "of the text before"
    assert card.grab().toImage() != fresh
    veil = card.findChild(QWidget, "late")
    card.resize(400, 260)
    assert veil.size() == card.size()
    assert card.childAt(body.geometry().center()) is body
    card.complain("It failed.")
    card.set_late("")
    assert not veil.isVisible()
    assert card.accessibleDescription() == ""


@pytest.mark.parametrize(
    "area", [(20, 20, 100, 60), (8, 2, 284, 196), (2, 8, 296, 184), (0, 0, 300, 200), (3, 3, 9, 9)]
)
def test_a_part_that_is_painted_alone_is_a_part_of_the_whole(shown, area):
    card = shown(Card("Title"), 300, 200)
    card.resize(300, 200)
    whole = card.grab().toImage()
    assert whole.pixelColor(0, 100) != whole.pixelColor(150, 100)  # it has an edge
    assert card.grab(QRect(*area)).toImage() == whole.copy(QRect(*area))
