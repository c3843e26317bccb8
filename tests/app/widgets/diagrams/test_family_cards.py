"""Model cards: pointer and keys choose a family, once each."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from lmviz.app.widgets.diagrams.family_cards import FamilyCard, FamilyCards

NAMES = ["ngram", "window", "rnn", "lstm", "gru", "transformer", "unheard of"]


@pytest.fixture
def cards(shown):
    return shown(
        FamilyCards([FamilyCard(name, name.title(), f"This is {name}.") for name in NAMES]), 300, 240
    )


def test_a_click_chooses(cards, qtbot):
    gru = cards.part_rectangle(NAMES.index("gru")).center().toPoint()
    with qtbot.waitSignal(cards.family_chosen) as signal:
        QTest.mouseClick(cards, Qt.MouseButton.LeftButton, pos=gru)
    assert signal.args == ["gru"]
    assert cards.chosen == "gru"
    assert "This is gru." in cards.accessibleDescription()


def test_keys_walk_the_grid_and_stop_at_its_edges(cards):
    chosen = []
    cards.family_chosen.connect(chosen.append)
    for key in (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_T):
        QTest.keyClick(cards, key)
    assert chosen == ["lstm", "gru", "transformer"]


def test_keys_pass_over_what_cannot_be_chosen(cards):
    cards.choose(NAMES[0])
    cards.set_refused({NAMES[1]: "It cannot tag."})
    QTest.keyClick(cards, Qt.Key.Key_Right)
    assert cards.chosen == NAMES[2]


def test_choosing_from_outside_is_silent(cards):
    chosen = []
    cards.family_chosen.connect(chosen.append)
    cards.choose("rnn")
    cards.choose("no such family")
    assert cards.chosen == "rnn"
    assert chosen == []


def test_every_family_is_drawn(cards):
    assert not cards.grab().isNull()


@pytest.mark.parametrize("width", [216, 250, 300])
def test_a_title_keeps_off_the_border(cards, width):
    cards.resize(width, 240)
    cards.choose("transformer")
    image, card = cards.grab().toImage(), cards.part_rectangle(NAMES.index("transformer")).toRect()
    rows = range(card.bottom() - 22, card.bottom() - 8)
    for x in (card.left() + 3, card.right() - 3):
        assert len({image.pixel(x, y) for y in rows}) == 1, "the title stands here"
