"""The card of one of several models: its name is never cut by the step beside it."""

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QComboBox, QLabel

from lmviz.app.widgets.plots.distribution_card import DistributionCard

STEPS = (0, 200, 6000)
NARROW = 240  # pixels


@pytest.fixture
def card(shown):
    card = shown(DistributionCard(), 400, 240)
    card.set_moment("stories-transformer", QColor("red"), STEPS, 6000, removable=True)
    return card


def title_of(card: DistributionCard) -> QLabel:
    return next(label for label in card.findChildren(QLabel) if label.text() == card.title)


def steps_of(card: DistributionCard) -> list[str]:
    picker = card.findChild(QComboBox)
    return [picker.itemText(place) for place in range(picker.count())]


def test_where_it_is_narrow_steps_are_numbers_alone(card, qtbot):
    """How narrow depends on the typeface of this machine."""
    written = []
    for width in range(400, NARROW - 1, -10):
        card.resize(width, 240)
        qtbot.waitUntil(lambda: title_of(card).width() >= title_of(card).sizeHint().width())
        written.append(steps_of(card)[-1])
    assert set(written) == {"step 6,000", "6,000"}
    assert written == sorted(written, reverse=True), "once they are short they stay short"


def test_they_are_named_again_where_there_is_room(card, qtbot):
    card.resize(NARROW, 240)
    card.resize(400, 240)
    assert steps_of(card) == ["step 0", "step 200", "step 6,000"]
    card.resize(NARROW, 240)
    card.set_moment("lstm", QColor("red"), STEPS, 200, removable=True)
    qtbot.waitUntil(lambda: steps_of(card)[1] == "step 200")
    assert card.findChild(QComboBox).currentIndex() == 1
