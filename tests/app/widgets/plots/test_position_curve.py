"""Curves: the pointer reads the value of the nearest position, and gaps are gaps."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.plots.position_curve import PositionCurve


@pytest.fixture
def curve(shown):
    curve = PositionCurve()
    curve.set_values(np.array([0.5, -1.0, np.nan, 2.0]), ["a", "b", "c", "d"])
    return shown(curve, 200, 60)


def test_hover_reads_and_click_chooses(curve, qtbot):
    with qtbot.waitSignal(curve.part_hovered) as signal:
        QTest.mouseMove(curve, curve.point(3).toPoint())
    assert signal.args == [3]
    assert curve.window().findChild(HoverCard).title == "“d” 2.000"
    with qtbot.waitSignal(curve.part_clicked) as signal:
        QTest.mouseClick(curve, Qt.MouseButton.LeftButton, pos=curve.point(1).toPoint())
    assert signal.args == [1]
    assert curve.accessibleDescription() == "“b” −1.000"


def test_higher_values_stand_higher_and_zero_is_in_sight(curve):
    assert curve.point(3).y() < curve.point(0).y() < curve.point(1).y()
    curve.set_values(np.array([5.0, 6.0]))
    assert curve.point(1).y() < curve.point(0).y() < curve.height() / 2


def test_keys_stop_at_the_ends(curve):
    clicked = []
    curve.part_clicked.connect(clicked.append)
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Left):
        QTest.keyClick(curve, key)
    assert clicked == [0, 1, 0, 0]


@pytest.mark.parametrize("values", [[], [1.0], [0.0, 0.0], [np.nan, np.nan], [np.inf, 1.0]])
def test_any_values_are_drawn(curve, values):
    curve.set_values(np.array(values))
    curve.set_threshold(0.3)
    curve.set_current(0)
    curve.grab()
    QTest.keyClick(curve, Qt.Key.Key_Right)


def test_the_card_says_the_value_that_is_drawn_now(curve, point):
    point(curve, curve.point(3))
    card = curve.window().findChild(HoverCard)
    curve.set_values(np.array([0.5, -1.0, np.nan, 0.25]), ["a", "b", "c", "e"])
    assert card.title == "“e” 0.250"
    curve.set_values(np.zeros(0))
    assert not card.isVisible()
