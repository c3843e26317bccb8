"""Line plots: nothing of a long curve is lost, and the pointer reads exact values."""

import math

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QGraphicsView, QLabel

from lmviz.app.widgets.hover_card import HoverCard
from lmviz.app.widgets.line_plot import LinePlot


@pytest.fixture
def plot(shown):
    plot = LinePlot()
    plot.set_curve("training", [0, 10, 20, 30], [4.0, 3.0, 2.5, 2.25])
    plot.set_curve("validation", [0, 20], [4.1, 2.7], role="validation")
    return shown(plot, 500, 300)


def place_of(plot, x, y):
    view = plot.findChild(QGraphicsView)
    return view.mapFromScene(plot._box.mapViewToScene(QPointF(x, y)))


def test_hover_reads_the_nearest_point_of_every_curve(plot, qtbot):
    with qtbot.waitSignal(plot.point_hovered, check_params_cb=lambda x: x == 20):
        QTest.mouseMove(plot.findChild(QGraphicsView).viewport(), place_of(plot, 19, 3.0))
    card = plot.window().findChild(HoverCard)
    assert card.title == "step 20"
    assert card.lines == ("training 2.500", "validation 2.700")


def test_a_click_moves_the_cursor_to_a_point(plot, qtbot):
    with qtbot.waitSignal(plot.cursor_moved) as signal:
        view = plot.findChild(QGraphicsView).viewport()
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
    shown = plot._curves["training"].item.curve.getData()[1]
    assert len(shown) < 20_000
    assert shown.max() == 9


def test_logarithmic_leaves_out_what_has_no_logarithm(plot):
    plot.set_references([("bigram", 2.46)])
    plot.set_logarithmic(True)
    plot.set_curve("training", [0, 10, 20], [4.0, 0.0, 1.0])
    plot.grab()
    bottom, top = plot._box.viewRange()[1]
    assert bottom < 0 < math.log10(4) < top


def test_reference_names_that_would_collide_stand_side_by_side(plot):
    plot.set_references([("a", 2.50), ("b", 2.51), ("c", 4.0)])
    places = [line._label.orthoPos for line in plot._references]
    assert places[0] != places[1]
    assert places[0] == places[2]


def test_no_curves_at_all(shown, qtbot):
    plot = shown(LinePlot(), 300, 200)
    plot.set_empty_text("Train a model to see its loss.")
    assert plot.findChild(QLabel).isVisible()
    assert not plot.findChild(QGraphicsView).isVisible()
    plot.set_curve("training", [0, 1], [2.0, 1.0])
    qtbot.waitUntil(plot.findChild(QGraphicsView).isVisible)
    assert not plot.findChild(QLabel).isVisible()
    plot.remove_curve("training")
    QTest.mouseMove(plot, QPoint(150, 100))
    QTest.keyClick(plot, Qt.Key.Key_Right)
    assert plot.values_at(0) == {}
