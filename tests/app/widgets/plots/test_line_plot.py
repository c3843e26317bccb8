"""Line plots: nothing of a long curve is lost, and the pointer reads exact values."""

import itertools
import math
from itertools import pairwise

import numpy as np
import pyqtgraph
import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QRectF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QGraphicsSimpleTextItem

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.figures import whole_percentage
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.kit.axes import LOSS, PERCENT, SHARE, Axes
from lmviz.app.widgets.plots.axis_range import rounded_range
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.app.widgets.plots.plot_names import spread
from lmviz.looks.curve import PlotCurve

TRAINING = PlotCurve("training", [0, 10, 20, 30], [4.0, 3.0, 2.5, 2.25])
VALIDATION = PlotCurve("validation", [0, 20], [4.1, 2.7], role="validation")


@pytest.fixture
def plot(shown):
    plot = LinePlot()
    plot.set_curves([TRAINING, VALIDATION])
    return shown(plot, 500, 300)


def place_of(plot, x, y):
    return plot.findChild(Axes).place_of(x, y)


def items(plot, kind):
    return [item for item in plot.findChild(Axes).items_drawn if isinstance(item, kind)]


def test_of_many_curves_those_that_colour_hardly_tells_apart_have_gaps_of_their_own(plot):
    roles = [0, 6, 12]  # a colour of the series, and its two tints
    plot.set_curves([PlotCurve(f"lane {role}", [0, 1, 2], [3.0, 2.0, 1.0 + role], role) for role in roles])
    styles = [curve.opts["pen"].style() for curve in items(plot, pyqtgraph.PlotDataItem)]
    assert Qt.PenStyle.SolidLine in styles
    assert len(set(styles)) == 3


def drawn_curve(plot):
    [curve] = items(plot, pyqtgraph.PlotDataItem)
    return curve


def test_hover_reads_the_nearest_point_of_every_curve(plot, qtbot):
    with qtbot.waitSignal(plot.point_hovered, check_params_cb=lambda x: x == 20):
        QTest.mouseMove(plot.findChild(Axes).viewport(), place_of(plot, 19, 3.0))
    card = plot.window().findChild(HoverCard)
    assert card.title == "step 20"
    assert card.lines == ("training 2.500", "validation 2.700")


def test_a_click_moves_the_cursor_to_a_point(plot, qtbot):
    with qtbot.waitSignal(plot.cursor_moved) as signal:
        view = plot.findChild(Axes).viewport()
        QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=place_of(plot, 11, 3.0))
    assert signal.args == [10]


def test_arrow_keys_move_the_cursor(plot, qtbot):
    plot.set_cursor(10)
    with qtbot.waitSignal(plot.cursor_moved) as signal:
        QTest.keyClick(plot, Qt.Key.Key_Right)
    assert signal.args == [20]


def test_a_hidden_curve_is_not_read(plot):
    plot.names.name_clicked.emit("validation")
    assert plot.values_at(20) == {"training": 2.5}
    plot.names.name_clicked.emit("validation")
    assert plot.values_at(20) == {"training": 2.5, "validation": 2.7}


def test_one_peak_among_a_hundred_thousand_points_is_drawn(plot):
    y = np.zeros(100_000)
    y[54_321] = 9
    plot.set_curves([PlotCurve("training", np.arange(100_000), y)])
    plot.grab()
    shown = drawn_curve(plot).curve.getData()[1]
    assert len(shown) < 20_000
    assert shown.max() == 9


def test_logarithmic_leaves_out_what_has_no_logarithm(plot):
    plot.set_references([("bigram", 2.46)])
    plot.set_logarithmic(True)
    plot.set_curves([PlotCurve("training", [0, 10, 20], [4.0, 0.0, 1.0])])
    plot.grab()
    bottom, top = plot.findChild(Axes).box.viewRange()[1]
    assert bottom < 0 < math.log10(4) < top


@pytest.mark.parametrize("size", [(700, 400), (320, 130), (240, 160)])
@pytest.mark.parametrize("logarithmic", [False, True])
def test_names_stand_beside_the_plot_and_cover_neither_curves_nor_each_other(shown, size, logarithmic):
    plot = shown(LinePlot(), *size)
    plot.set_curves([PlotCurve("training", [0, 100], [4.2, 1.9])])
    plot.set_logarithmic(logarithmic)
    plot.set_references([("unigram", 2.60), ("bigram", 2.46), ("5-gram Kneser-Ney", 2.02)])
    QApplication.processEvents()  # the plot makes room for its names
    places = plot.names.places
    curves_end = place_of(plot, 100, 0).x()
    assert set(places) == {"training", "unigram", "bigram", "5-gram Kneser-Ney"}
    for one, other in itertools.combinations(places.values(), 2):
        assert not one.adjusted(0, 1, 0, -1).intersects(other)
    for area in places.values():
        assert QRectF(plot.names.rect()).contains(area)
        assert plot.names.x() + area.left() > curves_end
    heights = [places[name].center().y() for name in ("unigram", "bigram", "5-gram Kneser-Ney")]
    assert heights == sorted(heights), "as their lines are"


def test_where_there_is_no_room_for_all_names_the_curves_keep_theirs(shown):
    plot = shown(LinePlot(), 400, 92)
    plot.set_curves([PlotCurve("training", [0, 100], [4.2, 1.9])])
    plot.set_references([(f"line {number}", 2 + number / 10) for number in range(9)])
    plot.grab()
    assert "training" in plot.names.places
    assert 1 < len(plot.names.places) < 10


def test_a_click_on_a_name_hides_its_curve_and_shows_it_again(plot):
    for visible in (False, True):
        place = plot.names.places["validation"].center().toPoint()
        QTest.mouseClick(plot.names, Qt.MouseButton.LeftButton, pos=place)
        assert ("validation" in plot.values_at(20)) == visible


def test_keys_on_the_names_hide_a_curve_and_show_it_again(plot):
    order = [name for name in plot.names.places if name in plot.values_at(20)]
    plot.names.setFocus()
    for _ in order:
        QTest.keyClick(plot.names, Qt.Key.Key_Down)
    for visible in (False, True):
        QTest.keyClick(plot.names, Qt.Key.Key_Return)
        assert (order[-1] in plot.values_at(20)) == visible


@pytest.mark.parametrize("steps", [3, 100, 1_000_000])
def test_the_step_is_marked_by_a_thin_line_whatever_the_length(shown, steps):
    plot = shown(LinePlot(), 500, 300)
    plot.set_curves([PlotCurve("training", [0, steps], [4.2, 1.9])])
    plot.set_end(steps)
    plot.set_cursor(0)
    before = plot.grab().toImage()
    plot.set_cursor(2 * steps // 3)
    after = plot.grab().toImage()
    row = place_of(plot, 0, 3.9).y()
    left = place_of(plot, steps / 3, 3.9).x()
    changed = [x for x in range(left, plot.names.x()) if before.pixel(x, row) != after.pixel(x, row)]
    assert 1 <= len(changed) <= 4


def test_the_range_rests_while_a_curve_grows(plot):
    box = plot.findChild(Axes).box
    plot.set_end(1000)
    before = box.viewRange()
    training = PlotCurve("training", [0, 10, 20, 30, 40], [4.0, 3.0, 2.5, 2.25, 2.27])
    plot.set_curves([training, VALIDATION, PlotCurve("longer", [0, 5000], [4.0, 2.3])])
    assert box.viewRange() == before


@pytest.mark.parametrize(
    ("values", "logarithmic", "expected"),
    [
        ([2.25, 4.1], False, (2.2, 4.2)),
        ([1.0, 1000.0], True, (-0.5, 3.5)),
        ([0.0], True, None),
        ([], False, None),
    ],
)
def test_ranges_are_rounded_outwards(values, logarithmic, expected):
    assert rounded_range(values, logarithmic) == (None if expected is None else pytest.approx(expected))


def ticks(plot, side):
    """The numbers at an axis, as they are written."""
    plot.grab()
    view = plot.findChild(Axes) or plot
    axis, (low, high) = view.axes[side], view.box.viewRange()[side == "left"]
    levels = axis.tickValues(low, high, view.height())[:1]
    written = [text for spacing, values in levels for text in axis.tickStrings(values, 1.0, spacing)]
    return [float(text.split()[0].replace("−", "-").replace(",", "")) for text in written], written


@pytest.mark.parametrize("size", [(500, 300), (260, 120), (700, 600)])
@pytest.mark.parametrize(
    ("possible", "values"),
    [
        (SHARE, [0.0, 0.0, 1.0]),
        (SHARE, [0.02, 0.5, 0.93]),
        (SHARE, [0.0, 0.0, 0.0]),
        (SHARE, [1.0, 1.0, 1.0]),
        (LOSS, [-0.0, 1e-9, 4e-4]),
        (LOSS, [7.3, 0.2, 0.01]),
        (PERCENT, [12.0, 97.0, 100.0]),
        ((1.0, math.inf), [1.0, 1.2, 900.0]),
    ],
)
def test_no_number_at_an_axis_is_impossible_and_zero_has_no_sign(shown, size, possible, values):
    plot = shown(LinePlot(possible=possible), *size)
    plot.set_curves([PlotCurve("training", [0, 1, 2], values)])
    (low, high), box = possible, plot.findChild(Axes).box
    figures, written = ticks(plot, "left")
    assert len(figures) >= 2
    assert all(low <= figure <= high for figure in figures)
    assert not any(text.strip("−0.") == "" and "−" in text for text in written)
    bottom, top = box.viewRange()[1]
    assert bottom < min(values) <= max(values) < top, "a line at the very end is not cut"
    assert all(figure >= 0 for figure in ticks(plot, "bottom")[0]), "there is no step before the first"


def test_what_is_possible_follows_the_unit(plot):
    curve = PlotCurve("training", [0, 10], [0.0, 90.0])
    for possible, most in ((LOSS, math.inf), (PERCENT, 100.0)):
        plot.set_possible(possible)
        plot.set_curves([curve])
        assert all(0 <= figure <= most for figure in ticks(plot, "left")[0])


def test_a_range_rests_at_what_is_possible_while_a_curve_grows(shown):
    plot = shown(LinePlot(possible=SHARE), 500, 300)
    ranges = set()
    for last in (0.91, 0.93, 0.96):
        plot.set_curves([PlotCurve("word", [0, 10, 20], [0.0, 0.4, last])])
        ranges.add(tuple(plot.findChild(Axes).box.viewRange()[1]))
    assert len(ranges) == 1


def test_names_that_want_one_place_share_it_and_others_stay_where_they_are():
    assert spread([10, 100, 101, 102, 200], 16, 8, 300) == pytest.approx([10, 85, 101, 117, 200])
    assert spread([2, 3], 16, 8, 300) == pytest.approx([8, 24])
    assert spread([299, 299.5], 16, 8, 300) == pytest.approx([284, 300])


def test_a_low_plot_leaves_out_the_words_at_its_cursor(shown):
    for height, said in ((400, True), (100, False)):
        plot = shown(LinePlot(), 300, height)
        plot.set_curves([PlotCurve("training", [0, 100], [4.2, 1.9])])
        plot.set_cursor(50)
        plot.grab()
        scene = plot.findChild(Axes).scene().items()
        [words] = [item for item in scene if isinstance(item, QGraphicsSimpleTextItem)]
        assert words.text() == "step 50"
        assert words.isVisible() == said


def test_the_words_at_a_cursor_at_the_end_cover_no_name(shown):
    plot = shown(LinePlot(), 500, 150)
    plot.set_curves([PlotCurve("training", [0, 6000], [4.2, 1.9])])
    plot.set_references([("unigram", 5.6), ("bigram", 2.84), ("5-gram", 1.46), ("floor", 0.53)])
    plot.set_cursor(6000)
    QApplication.processEvents()
    plot.grab()
    view = plot.findChild(Axes)
    [words] = [item for item in view.scene().items() if isinstance(item, QGraphicsSimpleTextItem)]
    assert words.isVisible()
    end = view.mapFromScene(words.sceneBoundingRect().topRight()).x()
    assert end <= plot.names.x(), "where the leaders to the names begin"


def test_no_curves_at_all(shown, qtbot):
    plot = shown(LinePlot(), 300, 200)
    assert not plot.findChild(Axes).isVisible()
    plot.set_curves([PlotCurve("training", [0, 1], [2.0, 1.0])])
    qtbot.waitUntil(plot.findChild(Axes).isVisible)
    plot.set_curves(())
    QTest.mouseMove(plot, QPoint(150, 100))
    QTest.keyClick(plot, Qt.Key.Key_Right)
    assert plot.values_at(0) == {}


def test_keys_walk_the_points_in_sight_and_stop_at_the_last(plot):
    moved = []
    plot.cursor_moved.connect(moved.append)
    plot.names.name_clicked.emit("training")
    plot.set_cursor(0)
    for _ in range(2):
        QTest.keyClick(plot, Qt.Key.Key_Right)
    assert moved == [20, 20]


def test_a_curve_has_a_value_only_where_it_has_a_point(plot):
    assert plot.values_at(10) == {"training": 3.0}
    assert plot.values_at(10.5) == {}


def test_a_curve_that_comes_later_is_as_logarithmic_as_the_others(plot):
    plot.set_logarithmic(True)
    plot.set_curves([TRAINING, VALIDATION, PlotCurve("later", [0, 30], [1000.0, 10.0])])
    plot.grab()
    assert 2.5 < plot.findChild(Axes).box.viewRange()[1][1] < 4


def test_without_an_end_the_axis_follows_the_data(plot):
    plot.set_end(2000)
    plot.grab()
    assert plot.findChild(Axes).box.viewRange()[0][1] == 2000
    plot.set_end(None)
    plot.grab()
    assert plot.findChild(Axes).box.viewRange()[0][1] < 100


def test_a_curve_can_change_its_colour(plot):
    plot.set_curves([PlotCurve("training", [0, 10], [4.0, 3.0], role="validation")])
    assert drawn_curve(plot).opts["pen"].color() == current_theme().validation


def test_curves_that_are_no_longer_named_go(plot):
    plot.set_curves([VALIDATION, PlotCurve("longer", [0, 40], [4.0, 2.3])])
    assert set(plot.points()) == {"validation", "longer"}
    assert len(items(plot, pyqtgraph.PlotDataItem)) == 2


def test_what_stands_already_is_not_painted_again(plot, qtbot):
    plot.set_cursor(20)
    plot.grab()
    QApplication.processEvents()
    painted = []

    class Watch(QObject):
        def eventFilter(self, receiver, event):
            painted.extend([receiver] if event.type() == QEvent.Type.Paint else [])
            return False

    watch, viewport = Watch(), plot.findChild(Axes).viewport()
    viewport.installEventFilter(watch)
    plot.set_curves([PlotCurve("training", [0, 10, 20, 30], [4.0, 3.0, 2.5, 2.25]), VALIDATION])
    plot.set_cursor(20)
    QApplication.processEvents()
    assert not painted
    plot.set_curves([PlotCurve("training", [0, 10, 20, 30], [4.0, 3.0, 2.5, 2.0]), VALIDATION])
    qtbot.waitUntil(lambda: bool(painted))


def test_the_card_follows_the_curves_under_a_still_pointer(plot):
    QTest.mouseMove(plot.findChild(Axes).viewport(), place_of(plot, 19, 3.0))
    card = plot.window().findChild(HoverCard)
    plot.set_curves([PlotCurve("training", [0, 10, 20, 30], [4.0, 3.0, 2.0, 1.5]), VALIDATION])
    assert (card.title, card.lines) == ("step 20", ("training 2.000", "validation 2.700"))
    plot.set_curves([PlotCurve("training", [0, 10, 18, 20, 30], [4.0, 3.0, 2.25, 2.0, 1.5]), VALIDATION])
    assert card.title in ("step 18", "step 20")
    plot.set_curves(())
    assert not card.isVisible()


def test_over_logarithms_a_power_is_a_straight_line_and_a_click_chooses_the_nearest_point(shown, qtbot):
    plot = shown(LinePlot("examples", LOSS, logarithmic=(True, True)), 500, 300)
    sizes = 2.0 ** np.arange(7)
    plot.set_curves([PlotCurve("noise", sizes, 2 / np.sqrt(sizes), dots=True)])
    places = [plot.place_of(size, 2 / np.sqrt(size)) for size in sizes.tolist()]
    slopes = [(b.y() - a.y()) / (b.x() - a.x()) for a, b in pairwise(places)]
    assert np.ptp(slopes) < 0.1
    assert slopes[0] > 0
    plot.set_cursor(4.0)
    with qtbot.waitSignal(plot.cursor_moved) as moved:
        QTest.keyClick(plot, Qt.Key.Key_Right)
    assert moved.args[0] == pytest.approx(8.0)


def test_a_training_that_diverged_leaves_the_others_their_height(shown):
    plot = shown(LinePlot(possible=LOSS, of_trainings=True), 500, 300)
    steps = np.arange(5.0)
    plot.set_curves([PlotCurve("good", steps, 4 - steps / 2), PlotCurve("diverged", steps, 10.0**steps)])
    assert abs(plot.place_of(0, 4).y() - plot.place_of(4, 2).y()) > 80
    names = [name for name in plot.names.places if name == "diverged"]
    assert names, "what is cut off above is named"


def test_what_is_no_training_is_within_the_plot_however_high_it_reaches(shown):
    """A loss by the strength of a direction may rise a hundredfold, and that is what it shows."""
    plot = shown(LinePlot(possible=LOSS), 500, 300)
    strengths = np.arange(5.0)
    plot.set_curves(
        [PlotCurve("random", strengths, 2 + 0 * strengths), PlotCurve("own", strengths, 10.0**strengths)]
    )
    assert plot.place_of(4, 10.0**4).y() > 0


@pytest.mark.parametrize("points", [0, 1, 2])
def test_few_points_can_be_drawn_over_logarithms(shown, points):
    plot = shown(LinePlot("ε", logarithmic=(True, True)), 300, 160)
    plot.set_curves([PlotCurve("float64", np.full(points, 1e-5), np.full(points, 1e-9))])
    plot.set_marks([(1e-4, "here")])
    assert not plot.grab().isNull()


@pytest.mark.parametrize("places", [(0.0, 0.6), (0.0, 1.9)])
def test_words_of_marks_stand_above_all_curves_and_beside_each_other(shown, qtbot, places):
    plot = shown(LinePlot("strength"), 420, 260)
    plot.set_curves([PlotCurve("this direction", np.linspace(-2, 2, 9), np.linspace(-10, 10, 9))])
    plot.set_marks([(0.1, "as it was")])
    plot.grab()
    plot.set_marks([(places[0], "as it is"), (places[1], "its own length")])
    plot.grab()

    def areas():
        labels = [line.label for line in plot._marks]
        return [label.mapRectToScene(label.boundingRect()) for label in labels]

    highest = plot._view.place_of(2, 10).y()
    qtbot.waitUntil(lambda: not areas()[0].intersects(areas()[1]))
    assert all(0 <= area.top() <= area.center().y() < highest for area in areas())
    assert all(line.label.isVisible() for line in plot._marks)


def color_at(plot, x, y):
    QApplication.processEvents()
    return plot.grab().toImage().pixelColor(plot.place_of(x, y))


def test_a_band_is_shaded_around_its_curve_and_the_axis_holds_it(shown):
    plot = LinePlot()
    low, high = np.array([1.0, 1.0, 1.0]), np.array([3.0, 9.0, 3.0])
    curve = PlotCurve("without", [0, 10, 20], [2.0, 2.0, 2.0], band=(low, high))
    plot.set_curves([curve])
    shown(plot, 400, 300)
    assert color_at(plot, 10, 7) != color_at(plot, 1, 7)
    plot.set_curves([PlotCurve("without", [0, 10, 20], [2.0, 2.0, 2.0])])
    assert color_at(plot, 10, 2.04) == color_at(plot, 1, 2.04)
    plot.set_curves([curve])
    assert color_at(plot, 10, 7) != color_at(plot, 1, 7)
    plot.set_curves([])
    assert not items(plot, pyqtgraph.FillBetweenItem)


def test_steps_between_two_are_shaded(shown):
    plot = LinePlot()
    plot.set_curves([TRAINING])
    shown(plot, 400, 300)
    before = color_at(plot, 15, 3.7)
    plot.set_band((12, 18))
    assert color_at(plot, 15, 3.7) == current_theme().note_wash
    plot.set_band(None)
    assert color_at(plot, 15, 3.7) == before


def test_the_words_at_a_cursor_at_the_beginning_cover_no_number_of_the_axis(shown):
    plot = shown(LinePlot(), 500, 300)
    plot.set_curves([PlotCurve("training", [0, 23], [9.6, 8.8])])
    plot.set_end(2000)
    plot.set_cursor(23)
    QApplication.processEvents()
    plot.grab()
    view = plot.findChild(Axes)
    [words] = [item for item in view.scene().items() if isinstance(item, QGraphicsSimpleTextItem)]
    begin = view.mapFromScene(words.sceneBoundingRect().topLeft()).x()
    assert begin >= plot.place_of(0, 9).x() - 1, "where the numbers of the axis end"


@pytest.mark.parametrize("most", [0.013, 0.017, 0.03, 0.21, 1.0, 1e-4])
def test_no_two_numbers_of_an_axis_are_written_alike(shown, most):
    plot = LinePlot(possible=SHARE, words=(None, whole_percentage))
    plot.set_curves([PlotCurve("share", [0, 1, 2], [0.0, most / 2, most])])
    shown(plot, 500, 300)
    axis = plot.findChild(Axes).axes["left"]
    low, high = axis.range
    for size in (120, 300, 900):
        for spacing, values in axis.tickValues(low, high, size):
            written = axis.tickStrings(values, axis.scale, spacing)
            assert len(set(written)) == len(written) > 0
