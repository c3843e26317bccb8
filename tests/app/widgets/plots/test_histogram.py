"""The histogram: every column says its range and its count, and none is too low to be seen."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint

from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.plots.histogram import Histogram

EDGES, COUNTS = np.array([1, 3, 5, 7, 9]), np.array([40, 10_000, 0, 1])


@pytest.fixture
def histogram(shown):
    histogram = Histogram("documents", "tokens")
    histogram.set_columns(EDGES, COUNTS)
    shown(histogram, 400, 200)
    histogram.grab()  # the axis finds its height as it is drawn first
    return histogram


def middle(histogram, column):
    return histogram.place_of(EDGES[column] + 0.9, COUNTS[column] / 2)


@pytest.mark.parametrize(
    ("column", "title", "line"),
    [(0, "40 documents", "of 1 to 2 tokens"), (3, "1 documents", "of 7 to 8 tokens")],
)
def test_the_pointer_reads_a_column(histogram, column, title, line, point):
    point(histogram.viewport(), middle(histogram, column))
    assert histogram.hovered == column
    card = histogram.window().findChild(HoverCard)
    assert (card.title, card.lines) == (title, (line,))


def test_a_column_of_one_length_names_it(histogram, point):
    histogram.set_columns(np.array([4, 5, 6]), np.array([2, 2]))
    point(histogram.viewport(), histogram.place_of(4.5, 1))
    assert histogram.window().findChild(HoverCard).lines == ("of 4 tokens",)


def test_leaving_the_columns_ends_the_hover(histogram, point):
    point(histogram.viewport(), middle(histogram, 1))
    assert histogram.hovered == 1
    point(histogram.viewport(), QPoint(200, 195))
    assert histogram.hovered == -1
    assert histogram.window().findChild(HoverCard).isHidden()


@pytest.mark.parametrize("choice", ["light", "dark"])
def test_a_column_lower_than_a_pixel_is_seen_and_an_empty_one_is_not(histogram, choice):
    theme_switch().set_choice(choice)
    picture = histogram.viewport().grab().toImage()
    surface = picture.pixelColor(QPoint(1, 1))

    def drawn(column):
        foot = histogram.place_of(EDGES[column] + 0.9, 0)
        return any(picture.pixelColor(foot + QPoint(0, lift)) != surface for lift in range(-3, 1))

    assert [drawn(column) for column in range(4)] == [True, True, False, True]


def test_the_column_under_the_pointer_has_the_full_accent(histogram, point):
    place = middle(histogram, 1)
    assert histogram.viewport().grab().toImage().pixelColor(place) != current_theme().accent
    point(histogram.viewport(), place)
    assert histogram.viewport().grab().toImage().pixelColor(place) == current_theme().accent


def test_nothing_can_be_shown(histogram, point):
    point(histogram.viewport(), middle(histogram, 1))
    histogram.set_columns(np.array([1]), np.zeros(0))
    histogram.grab()
    assert histogram.hovered == -1


def test_without_columns_there_are_no_numbers_below(histogram):
    histogram.set_columns(np.array([1]), np.zeros(0))
    picture = histogram.viewport().grab().toImage()
    surface = picture.pixelColor(1, 1)
    low = range(picture.height() - 30, picture.height())
    assert all(picture.pixelColor(x, y) == surface for x in range(picture.width()) for y in low)


def test_the_card_says_what_is_counted_now_under_a_still_pointer(histogram, point):
    point(histogram.viewport(), middle(histogram, 1))
    card = histogram.window().findChild(HoverCard)
    histogram.set_columns(EDGES, COUNTS + 1)
    assert (card.title, histogram.hovered) == ("10,001 documents", 1)
    histogram.set_columns(np.array([1, 9]), np.array([7]))
    assert (card.title, card.lines, histogram.hovered) == ("7 documents", ("of 1 to 8 tokens",), 0)
    histogram.set_columns(np.zeros(1), np.zeros(0))
    assert (card.isVisible(), histogram.hovered) == (False, -1)
