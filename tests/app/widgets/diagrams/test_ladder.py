"""The ladder: every rung in sight at every size, one colour a rung, and shares as wide as they are."""

import dataclasses
from dataclasses import replace
from itertools import pairwise

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from lmviz.app.look.theme import theme_switch
from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.diagrams.ladder import LadderView
from lmviz.app.widgets.diagrams.ladder_parts import (
    LadderBar,
    LadderPicture,
    LadderRung,
    MixtureColumn,
    MixtureWord,
)
from lmviz.app.widgets.diagrams.mixture import rung_color
from lmviz.app.widgets.kit.picture import Spot

BARS = (LadderBar("count 2 0", "night", 6, 1.0), LadderBar("count 2 1", "all", 3, 1.0))
RUNGS = (
    LadderRung(3, 2, ("noise", "at"), "never seen", (), 0, 0, 1.0, 0.0, 1.0),
    LadderRung(2, 1, ("at",), "", BARS, 9, 2, 1.0, 0.75, 0.25),
    LadderRung(1, 0, (), "", (LadderBar("count 1 0", "night", 40, 1.0),), 900, 120, 0.25, 0.2, 0.05),
)
WORDS = tuple(MixtureWord(f"word {n}", f"word{n}", 0.5 / (n + 1), (0.0, 0.3, 0.1, 0.1)) for n in range(8))
COLUMNS = tuple(MixtureColumn(f"position {n}", f"w{n}", 2, (0.0, 0.7, 0.2, 0.1)) for n in range(40))
PICTURE = LadderPicture(RUNGS, ("every one of 130 words alike", 0.05), WORDS, COLUMNS, "What followed")
SIZES = ((290, 330), (600, 620), (1100, 500), (1300, 1000))


@pytest.fixture
def view(shown):
    view = LadderView()
    view.set_ladder(PICTURE, 39)
    return shown(view, 600, 620)


def difference(view, place, color):
    drawn = view.grab().toImage().pixelColor(place.toPoint())
    return max(abs(a - b) for a, b in zip(drawn.getRgb(), color.getRgb(), strict=True))


@pytest.mark.parametrize("size", SIZES)
def test_all_rungs_and_some_words_are_in_sight(view, size):
    view.resize(*size)
    view.set_current(2, "night: (6 − 1) / 9 + 0.25 × 8.0 % = 58 %")
    places = [view.rectangle(Spot(f"rung {order}")) for order in (3, 2, 1)]
    places += [view.rectangle(Spot(f"word {n}")) for n in range(3)]
    assert all(view.rect().contains(place.toAlignedRect()) for place in places)
    for place, other in pairwise(places):
        assert not place.intersects(other)


def test_places_of_missing_words_are_drawn_where_they_have_no_room(view):
    rungs = tuple(replace(rung, slots=20 * rung.slots, context=()) for rung in RUNGS)
    view.resize(*SIZES[0])
    view.set_ladder(replace(PICTURE, rungs=rungs), 39)
    assert not view.rectangle(Spot("rung 3")).isEmpty()


def test_the_current_place_is_among_the_columns(view):
    assert not view.rectangle(Spot("position 39")).isEmpty()
    assert view.rectangle(Spot("position 0")).isEmpty(), "40 columns have no room"
    view.set_ladder(PICTURE, 0)
    assert not view.rectangle(Spot("position 0")).isEmpty()


def test_a_rung_has_one_colour_in_pipe_and_words(view):
    color = rung_color(view.theme, 2, 3)
    share = view.rectangle(Spot("share 2"))
    block = share.center()
    block.setX(share.left() - view.length(5))
    assert difference(view, block, color) < 6
    word = view.rectangle(Spot("word 0")).center()
    assert difference(view, word, color) < 6
    assert len({rung_color(view.theme, order, 3).name() for order in range(4)}) == 4


def test_what_falls_is_as_wide_as_its_share(view):
    widths = [view.rectangle(Spot(f"fall {order}")).width() - view.length(3) for order in (3, 2, 1)]
    assert widths[1] == pytest.approx(0.25 * widths[0])
    assert widths[2] == pytest.approx(0.05 * widths[0])


def test_a_bar_is_clicked_where_it_is_drawn(view, qtbot):
    with qtbot.waitSignal(view.part_clicked) as clicked:
        place = view.rectangle(Spot("count 2 1")).center().toPoint()
        QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=place)
    assert clicked.args == [Spot("count 2 1")]


def test_a_larger_discount_is_a_larger_cap(view):
    before = view.grab().toImage()
    bars = (dataclasses.replace(BARS[0], discount=3.0), BARS[1])
    rungs = (RUNGS[0], dataclasses.replace(RUNGS[1], bars=bars), RUNGS[2])
    view.set_ladder(dataclasses.replace(PICTURE, rungs=rungs), 39)
    assert view.grab().toImage() != before


def test_nothing_is_drawn_of_no_ladder(shown):
    view = shown(LadderView())
    view.grab()
    assert view.index_at(view.rect().center()) is None


def test_words_are_whole_in_a_narrow_ladder_for_a_lecture_hall(shown, fitted):
    theme_switch().set_projector(True)
    words = tuple(replace(word, word=name) for word, name in zip(WORDS, ("feather", "whistle"), strict=False))
    rungs = (replace(RUNGS[0], slots=4, context=("there", "lay", "the", "brown")), *RUNGS[1:])
    view = LadderView()
    view.set_ladder(replace(PICTURE, words=words, rungs=rungs), 39)
    shown(view, 520, 480)
    view.grab()
    for word in words:
        room, size, how = fitted[word.word]
        measure = metrics(size, token=True, bold=how["bold"])
        assert measure.horizontalAdvance(word.word) <= room
    assert any(text.endswith("brown") for text in fitted), "the word nearest to the next is not left out"
    text = next(text for text in fitted if text.endswith("brown"))
    room, size, _ = fitted[text]
    assert metrics(size, token=True).horizontalAdvance(text) <= room / 0.7
