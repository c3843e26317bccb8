"""Columns of words are drawn larger where all of them have room, and as ever where they have not."""

import pytest

from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.text.marked_words import WordScroll
from lmviz.app.widgets.text.word_effects import WordEffect, WordEffects


def rows(count):
    return [WordEffect(f"word {number}", 0.5, -0.5) for number in range(count)]


@pytest.fixture
def words():
    return WordEffects()


@pytest.fixture
def area(words, shown):
    words.set_words(rows(6), 1.0)
    return shown(scrolling(words, area=WordScroll([words])), 900, 400)


def test_words_grow_with_the_room_and_shrink_again(area, words, qtbot):
    qtbot.waitUntil(lambda: words.growth > 1.3)
    assert words.part_rectangle(5).bottom() <= area.height()
    area.resize(900, 150)
    qtbot.waitUntil(lambda: words.growth == 1)
    area.resize(300, 400)
    qtbot.waitUntil(lambda: words.growth == 1)


def test_more_words_are_drawn_smaller(area, words, qtbot):
    qtbot.waitUntil(lambda: words.growth > 1.3)
    words.set_words(rows(40), 1.0)
    qtbot.waitUntil(lambda: words.growth == 1)
