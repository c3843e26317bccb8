"""Curves with bands: what the pointer reads, what a click chooses, and what is marked."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtTest import QTest

from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.plots.banded_plot import BandedPlot
from lmviz.looks.curve import PlotCurve

X = np.array([5.0, 10.0, 20.0])


def curves() -> list[PlotCurve]:
    high, low = np.array([100.0, 90.0, 80.0]), np.array([60.0, 30.0])
    return [
        PlotCurve("with", X, high, 0, dots=True, band=(high - 8, np.minimum(high + 8, 100))),
        PlotCurve("without", X[:2], low, 2, dots=True, band=(low - 5, low + 5)),
    ]


@pytest.fixture
def plot(shown):
    plot = BandedPlot()
    plot.set_units("words")
    plot.set_curves(curves())
    shown(plot, 500, 300)
    plot.grab()  # the axes find their widths as they are drawn first
    return plot


@pytest.fixture
def chosen(plot):
    told = []
    plot.point_chosen.connect(lambda x, name: told.append((x, name)))
    return told


def test_the_pointer_reads_every_curve_at_the_nearest_x_with_its_band(plot, point):
    point(plot.viewport(), plot.place_of(9.0, 60.0))
    card = plot.window().findChild(HoverCard)
    assert card.title == "10 words"
    assert card.lines == ("with 90.0 (82 to 98)", "without 30.0 (25 to 35)")
    point(plot.viewport(), plot.place_of(20.0, 60.0))
    assert card.lines == ("with 80.0 (72 to 88)",)  # the other ends before


@pytest.mark.parametrize(
    ("place", "expected"),
    [((10, 80), (10, "with")), ((10, 35), (10, "without")), ((19, 20), (20, "with"))],
)
def test_a_click_chooses_the_nearest_point_of_the_nearest_curve(plot, chosen, place, expected):
    QTest.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=plot.place_of(*place))
    assert chosen == [expected]
    assert plot.chosen == expected[0]


def test_the_arrows_go_from_x_to_x_and_stay_within_them(plot, chosen):
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Left, Qt.Key.Key_Left):
        QTest.keyClick(plot, key)
    assert [x for x, _ in chosen] == [20, 20, 10, 5, 5]
    assert {name for _, name in chosen} == {""}


@pytest.mark.parametrize("choice", ["light", "dark"])
def test_what_is_chosen_is_ringed_and_a_band_is_washed_with_its_colour(plot, choice):
    theme_switch().set_choice(choice)
    plot.set_curves(curves())
    plot.grab()
    ring = plot.place_of(10.0, 30.0)
    band = plot.place_of(10.0, 84.0)

    def color_at(place):
        return plot.viewport().grab().toImage().pixelColor(place)

    assert color_at(ring) == current_theme().series_color(2)
    plot.choose(10.0)
    assert color_at(ring) != current_theme().series_color(2)  # hollow
    assert color_at(band) != color_at(plot.place_of(10.0, 50.0))
    plot.choose(None)
    assert color_at(ring) == current_theme().series_color(2)


def test_marks_stand_where_they_belong_and_are_replaced(plot):
    plot.set_marks([(10, "trained to 10"), (20, "trained to 20")])
    assert plot.marked == (10, 20)
    plot.grab()
    top = plot.place_of(0, 100).y()
    assert top > plot.place_of(0, plot.box.viewRange()[1][1]).y() + 10  # room for the words
    plot.set_marks([(5, "trained to 5")])
    assert plot.marked == (5,)


def test_nothing_can_be_shown(plot, point, chosen):
    plot.choose(20)
    plot.set_curves([])
    plot.grab()
    assert plot.chosen is None
    QTest.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(200, 100))
    QTest.keyClick(plot, Qt.Key.Key_Right)
    assert chosen == []


@pytest.mark.parametrize("height", [90, 300])
def test_no_number_at_an_axis_is_beyond_what_can_be(plot, height):
    plot.set_marks([(20.0, "the longest learned from")])
    plot.resize(500, height)
    plot.grab()
    for side, (low, high) in (("left", (0, 100)), ("bottom", (X[0], X[-1]))):
        bottom, top = plot.box.viewRange()[side == "left"]
        assert (bottom, top) != (low, high), "there is room around the curves"
        [(_, values), *_] = plot.axes[side].tickValues(bottom, top, height)
        assert values
        assert all(low <= value <= high for value in values)


def test_the_last_number_of_the_axis_is_written_whole(shown, monkeypatch):
    plot, written, paint = BandedPlot(), {}, QPainter.drawText
    note = lambda *given: written.update({given[-1]: given[1]}) or paint(*given)  # noqa: E731
    monkeypatch.setattr(QPainter, "drawText", note)
    x = np.array([10.0, 20.0])
    plot.set_units("thousands of words")
    plot.set_curves([PlotCurve("model", x, x, "#000000", dots=True, band=(x, x))])
    shown(plot, 300, 200).grab()
    [last] = [area for text, area in written.items() if text.endswith("thousands of words")]
    assert plot.axes["bottom"].mapRectToScene(QRectF(last)).right() <= plot.width()
