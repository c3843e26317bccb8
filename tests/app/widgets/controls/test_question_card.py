"""The card of a question: what is typed into it can be read, and nothing in it is cut."""

import pytest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from lmviz.app.widgets.controls.question_card import QuestionCard

NARROWEST = 234  # the room of a card in a lesson that stands in a narrow window


@pytest.mark.parametrize("words", ["19.683", "0.325054", "11/40"])
def test_what_is_typed_is_in_sight_at_once(qtbot: QtBot, words: str) -> None:
    card = _asked(qtbot, may_answer=True)
    field = card.findChild(QLineEdit)
    assert field.width() >= field.fontMetrics().horizontalAdvance(words) + 24


def test_an_empty_field_says_what_comes_first(qtbot: QtBot) -> None:
    card = _asked(qtbot, may_answer=False)
    field = card.findChild(QLineEdit)
    told = field.placeholderText()
    assert told
    assert field.width() >= field.fontMetrics().horizontalAdvance(told) + 20


def _asked(qtbot: QtBot, *, may_answer: bool) -> QuestionCard:
    """A card with a hint, as narrow as it gets."""
    card = QuestionCard()
    qtbot.addWidget(card)
    card.set_question("What is J after this step?", (), "Read the number left of the arrow.")
    card.allow(may_answer)
    card.resize(NARROWEST, 200)
    card.show()
    return card
