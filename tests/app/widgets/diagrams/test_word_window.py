"""The window of words: its words in columns, the wall before it, and units that answer one by one."""

import dataclasses

import numpy as np
import pytest

from lmviz.app.widgets.diagrams.word_window import WordWindowView
from lmviz.app.widgets.diagrams.word_window_values import UnseenWord, VotedWord, WindowPicture, WindowWord
from lmviz.app.widgets.kit.picture import Miniature, Spot

SIZES = ((290, 380), (600, 620), (1200, 900))


def picture(units=16, unseen=9):
    chance = np.random.default_rng(0)
    words = tuple(
        WindowWord(
            f"seen {at}",
            f"w{at}",
            "back",
            Miniature(f"embedding {at}", chance.normal(size=(1, 8))),
            chance.normal(size=units),
        )
        for at in range(3)
    )
    likely = tuple(
        VotedWord(
            f"said {n}", f"word{n}", 0.4 / (n + 1), Miniature(f"votes {n}", chance.normal(size=(1, units)))
        )
        for n in range(6)
    )
    return WindowPicture(
        tuple(UnseenWord(f"unseen {n}", f"before{n}") for n in range(unseen)),
        0,
        0.0 if unseen else float("nan"),
        words,
        Miniature("joined", chance.normal(size=(1, 24))),
        Miniature("hidden", np.tanh(chance.normal(size=(1, units)))),
        "hidden layer",
        likely,
    )


@pytest.fixture
def view(shown):
    view = WordWindowView()
    view.set_window(picture(), 5)
    return shown(view, 600, 620)


@pytest.mark.parametrize("size", SIZES)
def test_the_window_is_in_sight_and_the_wall_keeps_out_of_it(view, size):
    view.resize(*size)
    wall = view.rectangle(Spot("wall"))
    keys = ["seen 0", "seen 2", "embedding 1", "hidden", "said 0", "said 2"]
    for key in keys:
        place = view.rectangle(Spot(key))
        assert view.rect().contains(place.toAlignedRect()), key
        assert not wall.intersects(place), key
    assert wall.contains(view.rectangle(Spot("unseen 8"))), "the newest of those it cannot see"


def test_where_the_unseen_do_not_all_fit_the_oldest_are_only_counted(view):
    view.resize(290, 380)
    assert view.rectangle(Spot("unseen 0")).isEmpty()
    before = view.grab().toImage()
    view.set_window(dataclasses.replace(picture(), earlier=7), 5)
    assert view.grab().toImage() != before


@pytest.mark.parametrize("units", [16, 2000])
def test_every_unit_answers(view, units):
    view.set_window(picture(units), 5)
    area = view.rectangle(Spot("hidden"))
    spots = {
        view.index_at(area.topLeft() + (area.bottomRight() - area.topLeft()) * share) for share in (0.1, 0.5)
    }
    assert {spot.key for spot in spots} == {"hidden"}
    first, second = sorted(spot.column for spot in spots)
    assert 0.05 * units < first < 0.15 * units
    assert 0.45 * units < second < 0.55 * units


def test_another_unit_is_another_picture(view):
    before = view.grab().toImage()
    view.set_unit(6)
    assert view.grab().toImage() != before


def test_what_was_measured_is_written_down(view):
    before = view.grab().toImage()
    view.set_window(dataclasses.replace(picture(), change=0.25), 5)
    assert view.grab().toImage() != before


def test_at_the_beginning_nothing_is_behind_the_wall(view):
    view.set_window(picture(unseen=0), 5)
    assert view.rectangle(Spot("unseen 0")).isEmpty()
    view.grab()


def test_nothing_is_drawn_of_no_window(shown):
    view = shown(WordWindowView())
    view.grab()
    assert view.index_at(view.rect().center()) is None
