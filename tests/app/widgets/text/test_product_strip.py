"""The strip of the chain rule ends at the newest word, and one can look back."""

import numpy as np
import pytest
from PySide6.QtCore import Qt

from lmviz.app.widgets.text.product_strip import ProductStrip, factor_in_words


@pytest.fixture
def strip(qtbot):
    view = ProductStrip()
    qtbot.addWidget(view)
    view.resize(400, 70)
    show(view, 40)
    view.show()
    return view


def show(view, count):
    values = np.linspace(0.01, 0.99, count)
    view.set_product([f"word{index}" for index in range(count)], values, -np.log2(values))


def test_it_ends_at_the_newest_word(strip):
    assert strip.in_sight.stop == 40
    assert strip.in_sight.start > 0
    places = [strip.part_rectangle(index) for index in strip.in_sight]
    assert all(strip.rect().contains(place.toAlignedRect()) for place in places)
    assert strip.part_rectangle(0).isEmpty()
    show(strip, 41)
    assert strip.in_sight.stop == 41


def test_one_looks_back_word_by_word_and_comes_to_the_newest_again(strip, qtbot):
    for _ in range(5):
        qtbot.keyClick(strip, Qt.Key.Key_Left)
    assert strip.in_sight.stop == 35
    for _ in range(9):
        qtbot.keyClick(strip, Qt.Key.Key_Right)
    assert strip.in_sight.stop == 40
    strip.look_back(100)
    strip.look_back(100)
    assert 0 in strip.in_sight


def test_a_short_text_is_seen_whole(strip, qtbot):
    show(strip, 3)
    assert list(strip.in_sight) == [0, 1, 2]
    with qtbot.waitSignal(strip.part_clicked) as clicked:
        place = strip.part_rectangle(1).center().toPoint()
        qtbot.mouseClick(strip, Qt.MouseButton.LeftButton, pos=place)
    assert clicked.args == [1]


def test_an_impossible_word_has_a_bar_of_all_the_room(strip):
    values = np.array([np.nan, 0.5, 0.25])
    strip.set_product(["a", "b", "c"], values, -np.log2(values))
    likely = strip.grab().toImage()
    values[2] = 0.0
    with np.errstate(divide="ignore"):
        strip.set_product(["a", "b", "c"], values, -np.log2(values))
    impossible = strip.grab().toImage()
    top = strip.part_rectangle(2).center().x(), 22
    assert impossible.pixelColor(*map(int, top)) == likely.pixelColor(*map(int, top)) != strip.theme.surface


def test_nothing_is_drawn_without_harm(strip):
    strip.set_product([], np.zeros(0), np.zeros(0))
    strip.grab()
    strip.set_product(["a"], np.array([np.nan]), np.array([np.nan]))
    strip.grab()


@pytest.mark.parametrize(
    ("probability", "said"),
    [(1.0, "100 %"), (0.9712, "97 %"), (0.0123, "1 %"), (0.00002, "0.002 %"), (0.0, "0 %"), (np.nan, "–")],
)
def test_factors_are_said_in_whole_per_cent(probability, said):
    assert factor_in_words(probability) == said
