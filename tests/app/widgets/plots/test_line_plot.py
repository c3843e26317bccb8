"""Line plots: nothing of a long curve is lost, and the pointer reads exact values."""

import itertools
import math

import numpy as np
import pyqtgraph
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.app.widgets.plots.plot_axes import ReferenceLine
from lmviz.app.widgets.plots.quiet_plot import QuietPlot


@pytest.fixture
def plot(shown):
    plot = LinePlot()
    plot.set_curve("training", [0, 10, 20, 30], [4.0, 3.0, 2.5, 2.25])
    plot.set_curve("validation", [0, 20], [4.1, 2.7], role="validation")
    return shown(plot, 500, 300)


def place_of(plot, x, y):
    return plot.findChild(QuietPlot).place_of(x, y)


def items(plot, kind):
    return [item for item in plot.findChild(QuietPlot).getPlotItem().items if isinstance(item, kind)]


def drawn_curve(plot):
    [curve] = items(plot, pyqtgraph.PlotDataItem)
    return curve


def names_of_references(plot):
    """Where the name of each reference line stands in the scene."""
    labels = {
        line.reference: child
        for line in items(plot, ReferenceLine)
        for child in line.childItems()
        if isinstance(child, pyqtgraph.InfLineLabel)
    }
    return {reference: label.mapRectToScene(label.boundingRect()) for reference, label in labels.items()}


def test_hover_reads_the_nearest_point_of_every_curve(plot, qtbot):
    with qtbot.waitSignal(plot.point_hovered, check_params_cb=lambda x: x == 20):
        QTest.mouseMove(plot.findChild(QuietPlot).viewport(), place_of(plot, 19, 3.0))
    card = plot.window().findChild(HoverCard)
    assert card.title == "step 20"
    assert card.lines == ("training 2.500", "validation 2.700")


def test_a_click_moves_the_cursor_to_a_point(plot, qtbot):
    with qtbot.waitSignal(plot.cursor_moved) as signal:
        view = plot.findChild(QuietPlot).viewport()
        QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=place_of(plot, 11, 3.0))
    assert signal.args == [10]


def test_arrow_keys_move_the_cursor(plot, qtbot):
    plot.set_cursor(10)
    with qtbot.waitSignal(plot.cursor_moved) as signal:
        QTest.keyClick(plot, Qt.Key.Key_Right)
    assert signal.args == [20]


def test_a_hidden_curve_is_not_read(plot):
    plot.legend.entry_clicked.emit("validation")
    assert plot.values_at(20) == {"training": 2.5}
    plot.legend.entry_clicked.emit("validation")
    assert plot.values_at(20) == {"training": 2.5, "validation": 2.7}


def test_one_peak_among_a_hundred_thousand_points_is_drawn(plot):
    y = np.zeros(100_000)
    y[54_321] = 9
    plot.remove_curve("validation")
    plot.set_curve("training", np.arange(100_000), y)
    plot.grab()
    shown = drawn_curve(plot).curve.getData()[1]
    assert len(shown) < 20_000
    assert shown.max() == 9


def test_logarithmic_leaves_out_what_has_no_logarithm(plot):
    plot.set_references([("bigram", 2.46)])
    plot.set_logarithmic(True)
    plot.set_curve("training", [0, 10, 20], [4.0, 0.0, 1.0])
    plot.grab()
    bottom, top = plot.findChild(QuietPlot).box.viewRange()[1]
    assert bottom < 0 < math.log10(4) < top


@pytest.mark.parametrize("size", [(700, 400), (320, 130), (240, 160)])
@pytest.mark.parametrize("logarithmic", [False, True])
def test_no_two_names_of_reference_lines_cover_each_other(shown, size, logarithmic):
    plot = shown(LinePlot(), *size)
    plot.set_curve("training", [0, 100], [4.2, 1.9])
    plot.set_logarithmic(logarithmic)
    plot.set_references([("unigram", 2.60), ("bigram", 2.46), ("5-gram Kneser-Ney", 2.02)])
    plot.grab()
    areas = list(names_of_references(plot).values())
    for one, other in itertools.combinations(areas, 2):
        words = [area.adjusted(4, 4, -4, -4) for area in (one, other)]
        assert not words[0].intersects(words[1]), words


@pytest.mark.parametrize("size", [(700, 400), (320, 130), (240, 160)])
def test_the_topmost_name_is_not_cut_off(shown, size):
    plot = shown(LinePlot(), *size)
    plot.set_references([("unigram", 5.60), ("bigram", 2.84), ("5-gram Kneser-Ney", 1.46)])
    plot.grab()
    room = plot.findChild(QuietPlot).box.sceneBoundingRect().adjusted(-2, -2, 2, 2)
    names = names_of_references(plot)
    assert len(names) == 3
    for reference, area in names.items():
        assert room.contains(area), reference


def test_a_low_plot_leaves_out_the_words_at_its_cursor(shown):
    for height, said in ((400, True), (110, False)):
        plot = shown(LinePlot(), 300, height)
        plot.set_curve("training", [0, 100], [4.2, 1.9])
        plot.set_cursor(50)
        plot.grab()
        [cursor] = [item for item in items(plot, pyqtgraph.InfiniteLine) if item.angle == 90]
        assert cursor.label.isVisible() == said


def test_no_curves_at_all(shown, qtbot):
    plot = shown(LinePlot(), 300, 200)
    assert not plot.findChild(QuietPlot).isVisible()
    plot.set_curve("training", [0, 1], [2.0, 1.0])
    qtbot.waitUntil(plot.findChild(QuietPlot).isVisible)
    plot.remove_curve("training")
    QTest.mouseMove(plot, QPoint(150, 100))
    QTest.keyClick(plot, Qt.Key.Key_Right)
    assert plot.values_at(0) == {}


def test_keys_walk_the_points_in_sight_and_stop_at_the_last(plot):
    moved = []
    plot.cursor_moved.connect(moved.append)
    plot.legend.entry_clicked.emit("training")
    plot.set_cursor(0)
    for _ in range(2):
        QTest.keyClick(plot, Qt.Key.Key_Right)
    assert moved == [20, 20]


def test_a_curve_has_a_value_only_where_it_has_a_point(plot):
    assert plot.values_at(10) == {"training": 3.0}
    assert plot.values_at(10.5) == {}


def test_a_curve_that_comes_later_is_as_logarithmic_as_the_others(plot):
    plot.set_logarithmic(True)
    plot.set_curve("later", [0, 30], [1000.0, 10.0])
    plot.grab()
    assert 2.5 < plot.findChild(QuietPlot).box.viewRange()[1][1] < 4


def test_without_an_end_the_axis_follows_the_data(plot):
    plot.set_end(2000)
    plot.grab()
    assert plot.findChild(QuietPlot).box.viewRange()[0][1] == 2000
    plot.set_end(None)
    plot.grab()
    assert plot.findChild(QuietPlot).box.viewRange()[0][1] < 100


def test_a_curve_can_change_its_colour(plot):
    plot.remove_curve("validation")
    plot.set_curve("training", [0, 10], [4.0, 3.0], role="validation")
    assert drawn_curve(plot).opts["pen"].color() == current_theme().validation
