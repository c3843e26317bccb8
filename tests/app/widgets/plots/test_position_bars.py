"""Bars along a text and the stack of them: each part has its place, and they add up."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.plots.position_bars import PositionBars


@pytest.fixture
def bars(shown):
    bars = PositionBars()
    bars.set_parts(np.array([1.0, 3.0, -2.0, 4.0]), ["a", "b", "c", "d"])
    return shown(bars, 200, 70)


def test_bars_stand_on_zero_and_are_as_high_as_their_parts(bars):
    heights = [bars.part_rectangle(index).height() for index in range(4)]
    assert heights == pytest.approx([heights[0] * size for size in (1, 3, 2, 4)])
    assert (
        bars.part_rectangle(1).bottom()
        == pytest.approx(bars.part_rectangle(3).bottom())
        == pytest.approx(bars.part_rectangle(2).top())
    )


def test_parts_lie_end_to_end_and_negative_ones_lead_back_to_the_sum(bars):
    first, second, back, last = (bars.stretch(index) for index in range(4))
    assert first.right() == pytest.approx(second.left())
    assert second.right() == pytest.approx(last.left())
    assert second.width() == pytest.approx(3 * first.width())
    assert last.right() == pytest.approx(back.right()) == pytest.approx(bars.width() - 2)
    assert back.width() == pytest.approx(2 * first.width())
    assert bars.total == 6
    assert back.left() - first.left() == pytest.approx(6 * first.width())


def test_pointing_reads_a_part_in_either_picture_and_a_click_chooses_it(bars, qtbot):
    for place in (bars.part_rectangle(3).center(), bars.stretch(3).center()):
        QTest.mouseMove(bars, bars.rect().topLeft())
        with qtbot.waitSignal(bars.part_hovered) as signal:
            QTest.mouseMove(bars, place.toPoint())
        assert signal.args == [3]
        assert bars.window().findChild(HoverCard).title == "“d” 4.000"
    with qtbot.waitSignal(bars.part_clicked) as signal:
        QTest.mouseClick(bars, Qt.MouseButton.LeftButton, pos=bars.part_rectangle(1).center().toPoint())
    assert signal.args == [1]
    assert bars.accessibleDescription() == "“b” 3.000"
    QTest.keyClick(bars, Qt.Key.Key_Left)
    assert bars.accessibleDescription() == "“a” 1.000"


def test_what_is_cut_off_is_grey(bars):
    bars.set_parts(np.array([1.0, 3.0]), kept=np.array([False, True]))
    image = bars.grab().toImage()
    ratio = image.devicePixelRatio()

    def color(index):
        place = bars.stretch(index).center() * ratio
        return image.pixelColor(round(place.x()), round(place.y()))

    assert color(0) == bars.theme.strong_line
    assert color(1).hslSaturation() > 100


def test_without_parts_there_is_nothing_to_point_at(bars):
    bars.set_parts(np.zeros(0))
    assert bars.index_at(bars.rect().center().toPointF()) == -1
    assert bars.total == 0
    bars.grab()
    bars.set_parts(np.zeros(3))
    bars.grab()
