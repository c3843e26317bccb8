"""The log–log plot: the pointer reads the exact count of a rank, and a mark stands where it belongs."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.plots.log_log_plot import LogLogPlot

COUNTS = np.ceil(20_000 / np.arange(1, 1001))
NAMES = [f"word {rank}" for rank in range(1, 1001)]


@pytest.fixture
def plot(shown):
    plot = LogLogPlot("rank", "count")
    plot.set_values(COUNTS, NAMES)
    shown(plot, 500, 300)
    plot.grab()  # the axes find their widths as they are drawn first
    return plot


def color_at(plot, place):
    return plot.viewport().grab().toImage().pixelColor(place)


def test_a_point_lies_at_the_logarithms_of_its_rank_and_count(plot):
    first, hundredth = (plot.place_of(*plot.point(index)) for index in (0, 99))
    last = plot.place_of(*plot.point(999))
    assert hundredth.x() - first.x() == pytest.approx(2 * (last.x() - hundredth.x()), abs=2)
    assert hundredth.y() - first.y() == pytest.approx(2 * (last.y() - hundredth.y()), abs=2)


@pytest.mark.parametrize("index", [0, 2, 9])
def test_the_pointer_reads_a_rank_and_says_so(plot, index, point):
    point(plot.viewport(), plot.place_of(*plot.point(index)))
    assert plot.hovered == index
    card = plot.window().findChild(HoverCard)
    assert card.title == f"word {index + 1}"
    assert card.lines == (f"rank {index + 1}", f"count {int(COUNTS[index]):,}")


def test_the_axis_is_no_part_of_the_curve_and_leaving_ends_the_hover(plot, point):
    point(plot.viewport(), plot.place_of(*plot.point(9)))
    assert plot.hovered == 9
    point(plot.viewport(), QPoint(2, 100))
    assert plot.hovered == -1
    assert plot.window().findChild(HoverCard).isHidden()


def test_a_click_chooses_a_rank_with_the_left_button_only(plot):
    clicked = []
    plot.part_clicked.connect(clicked.append)
    place = plot.place_of(*plot.point(9))
    QTest.mouseClick(plot.viewport(), Qt.MouseButton.RightButton, pos=place)
    QTest.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert clicked == [9]


@pytest.mark.parametrize("choice", ["light", "dark"])
def test_the_chosen_point_is_marked_in_the_accent_until_others_are_shown(plot, choice):
    theme_switch().set_choice(choice)
    place = plot.place_of(*plot.point(9)) + QPoint(2, -1)
    assert color_at(plot, place) != current_theme().accent
    plot.set_current(9)
    assert color_at(plot, place) == current_theme().accent
    plot.set_values(COUNTS, NAMES)
    assert color_at(plot, place) != current_theme().accent


def test_nothing_and_one_word_can_be_shown(shown, point):
    plot = shown(LogLogPlot("rank", "count"))
    for values in ([], [7]):
        plot.set_values(np.array(values))
        plot.grab()
        point(plot.viewport(), QPoint(200, 100 + len(values)))
        assert plot.hovered == len(values) - 1


def test_the_card_says_the_count_that_is_drawn_now_under_a_still_pointer(plot, point):
    point(plot.viewport(), plot.place_of(*plot.point(9)))
    card = plot.window().findChild(HoverCard)
    plot.set_values(COUNTS * 2, [f"name {rank}" for rank in range(1, 1001)])
    assert (card.title, card.lines[1]) == ("name 10", f"count {int(2 * COUNTS[9]):,}")
    plot.set_values(np.zeros(0))
    assert not card.isVisible()
