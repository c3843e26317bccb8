"""Bars of before and after: what they say, and how much larger the others are drawn."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt

from lmviz.app.widgets.plots.before_after_bars import BeforeAfterBars


@pytest.fixture
def bars(qtbot):
    view = BeforeAfterBars()
    qtbot.addWidget(view)
    view.resize(320, 200)
    view.set_words(["stone", "thimble", "ball"], [0.923, 0.015, 0.0], [0.031, 0.136, 0.0001], lost=True)
    view.show()
    return view


def test_both_numbers_are_said(bars):
    assert bars.texts == ("92.3 → 3.1 %", "1.5 → 13.6 %", "0.0 → 0.010 %")
    assert bars.accessibleDescription().startswith("stone 92.3 → 3.1 %, thimble")


def test_the_others_have_a_scale_of_their_own_where_theirs_would_be_small(bars):
    assert bars.enlargement == pytest.approx(0.923 / 0.136)
    bars.set_words(["a", "b"], [0.5, 0.4], [0.4, 0.5], lost=True)
    assert bars.enlargement == 1.0
    bars.set_words(["a", "b"], [0.9, 0.1], [0.8, 0.1])
    assert bars.enlargement == 1.0, "without one that lost all share one scale"


def test_a_click_says_which_word(bars, qtbot):
    clicked = []
    bars.part_clicked.connect(clicked.append)
    for y in (10, 75, 51):
        qtbot.mouseClick(bars, Qt.MouseButton.LeftButton, pos=QPoint(20, y))
    assert clicked == [0, 1], "the line between the first and the others is no word"
    bars.hover(0)
    qtbot.keyClick(bars, Qt.Key.Key_Down)
    qtbot.keyClick(bars, Qt.Key.Key_Down)
    qtbot.keyClick(bars, Qt.Key.Key_Return)
    assert clicked[-1] == 2


def test_they_grow_in_a_large_window_and_all_words_stay_in_sight(bars):
    few = bars.rows_in(bars.size())
    bars.resize(640, 700)
    assert bars.growth > 1
    many = bars.rows_in(bars.size())
    assert many > few
    bars.set_words([f"word{index}" for index in range(many)], [0.1] * many, [0.2] * many, lost=True)
    assert bars.growth > 1
    hovered = []
    bars.part_hovered.connect(hovered.append)
    for y in range(0, 700, 4):
        bars.hover(bars.index_at(QPointF(20, y)))
    assert {*range(many)} <= {*hovered}
    assert bars.minimumSizeHint().height() < 120, "it can shrink again"
