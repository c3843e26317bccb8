"""Digits that agree: where there is no room for all of a number, none of its digits is cut."""

from pytestqt.qtbot import QtBot

from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.text.agreeing_digits import AgreeingDigits, WrittenNumber

SLOPE = WrittenNumber("slope", "0.325064430301", 6)


def test_only_whole_digits_are_drawn_and_dots_for_the_others(qtbot: QtBot) -> None:
    digits = AgreeingDigits()
    qtbot.addWidget(digits)
    digits.set_numbers([SLOPE, SLOPE], "4 digits agree", True)
    shown = set()
    for width in range(digits.minimumSizeHint().width(), 400, 3):
        digits.resize(width, 80)
        text = digits.shown(SLOPE)
        shown.add(text)
        assert text.startswith("0.3250"), "what is certain is always read"
        assert SLOPE.text.startswith(text.removesuffix("…"))
        assert 64 + metrics(12.5, token=True).horizontalAdvance(text) <= width
        assert text == SLOPE.text or text == "0.3250" or text.endswith("…")
    assert SLOPE.text in shown
    assert "0.325064430…" in shown
