"""Cards of lengths of a training keep their words within their edges."""

import numpy as np
from pixels import pixels_of
from pytestqt.qtbot import QtBot

from lmviz.app.widgets.controls.preset_cards import PresetCard, PresetCards


def pixels(cards: PresetCards) -> np.ndarray:
    return pixels_of(cards.grab().toImage())


def test_words_stay_within_a_narrow_card(qtbot: QtBot) -> None:
    cards = PresetCards()
    qtbot.addWidget(cards)
    names = ("quick", "good", "thorough")
    lines = ("measuring…", "30,000 steps", "56 ×")
    cards.set_cards([PresetCard(name, ("", "", "")) for name in names])
    cards.resize(cards.minimumSizeHint())
    empty = pixels(cards)
    cards.set_cards([PresetCard(name, lines) for name in names])
    written = np.flatnonzero((pixels(cards) != empty).any(axis=(0, 2)))
    assert len(written)
    places = [cards.part_rectangle(index) for index in range(len(names))]
    for column in written:
        assert any(place.left() + 2 <= column <= place.right() - 2 for place in places), column
