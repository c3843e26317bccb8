"""Bars: as long as their values, answering to pointer and keys."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt, QVariantAnimation
from PySide6.QtTest import QTest

from lmviz.app.widgets.plots.bars import BarsView


@pytest.fixture
def bars(shown):
    bars = BarsView()
    bars.set_bars(["king", "queen", "night"], [0.5, 0.25, 0.0])
    return shown(bars, 400, 69)


def lengths(bars):
    """The number of coloured pixels in the middle of each row."""
    picture = bars.grab().toImage()
    ratio = picture.devicePixelRatio()
    found = []
    for row in range(3):
        colors = [picture.pixelColor(int(x * ratio), int((row * 23 + 7) * ratio)) for x in range(400)]
        found.append(sum(color.blue() - color.red() > 60 for color in colors))
    return found


def test_bars_are_as_long_as_their_values(bars):
    first, second, third = lengths(bars)
    assert first > 150
    assert abs(second / first - 0.5) < 0.03
    assert third <= 2


def test_a_limit_sets_the_full_width(bars):
    usual = lengths(bars)[0]
    bars.set_bars(["king", "queen", "night"], [0.5, 0.25, 0.0], limit=1.0)
    assert abs(lengths(bars)[0] / usual - 0.5) < 0.03


def test_hover_click_and_leave(bars, point, qtbot):
    hovered = []
    bars.part_hovered.connect(hovered.append)
    with qtbot.waitSignal(bars.part_clicked) as signal:
        point(bars, QPoint(100, 30), click=True)
    assert signal.args == [1]
    QTest.mouseMove(bars, QPoint(100, 10))
    assert hovered[-2:] == [1, 0]


def test_keys_choose_a_bar(bars, qtbot):
    for _ in range(5):
        QTest.keyClick(bars, Qt.Key.Key_Down)
    QTest.keyClick(bars, Qt.Key.Key_Up)
    with qtbot.waitSignal(bars.part_clicked) as signal:
        QTest.keyClick(bars, Qt.Key.Key_Return)
    assert signal.args == [1]


def test_no_bars_and_no_values_are_drawn_without_harm(bars):
    bars.set_bars([], [])
    bars.grab()
    bars.set_bars(["a", "b"], np.zeros(2))
    bars.grab()
    assert "0.0 %" in bars.accessibleDescription()


def test_a_long_label_leaves_room_for_the_bar(bars):
    bars.set_bars(["w" * 200, "queen", "night"], [0.5, 0.25, 0.1])
    assert lengths(bars)[0] > 100


@pytest.mark.parametrize("width", [110, 160, 400])
def test_no_figure_is_cut_off_however_narrow(shown, width):
    bars = BarsView()
    bars.set_bars(["nightingale", "queen"], [23.0, 1.0], texts=["23/325", "1/325"])
    shown(bars, width, 46)
    picture = bars.grab().toImage()
    edge = {picture.pixelColor(width - 1, y).name() for y in range(2, 21)}
    assert len(edge) == 1  # a figure that is cut off runs into the edge
    assert lengths(bars)[0] >= 10
    labels = {picture.pixelColor(x, y).name() for x in range(24) for y in range(2, 21)}
    assert len(labels) > 1


def test_in_a_large_window_bars_and_words_are_larger_and_none_is_cut(shown):
    bars = shown(BarsView(), 260, 230)
    few = bars.rows_in(bars.size())
    bars.resize(520, 690)
    many = bars.rows_in(bars.size())
    bars.set_bars([f"word {place}" for place in range(many)], [1.0] * many)
    assert few < many < 3 * few, "some of the room is for larger type"
    row = bars.length(23)
    assert row > 1.3 * 23
    assert row * many <= bars.height()
    assert bars.index_at(QPoint(10, round((many - 0.5) * row))) == many - 1


def test_bars_that_are_given_grow_only_as_far_as_all_of_them_fit(shown):
    bars = shown(BarsView(), 520, 690)
    bars.set_bars([f"word {place}" for place in range(28)], [1.0] * 28)
    row = bars.length(23)
    assert 23 < row <= bars.height() / 28


def test_while_a_film_plays_bars_are_seen_between_two_values(bars):
    """Half way from 0.8 to 0.2 a bar is as long as 0.5, and the words that change places cross."""
    names = ["king", "queen", "night"]
    bars.set_bars(names, [0.8, 0.4, 0.0], limit=1.0)
    before = lengths(bars)
    bars.set_bars(names, [0.2, 0.6, 0.0], limit=1.0, crossfade=True)
    fading = bars.findChild(QVariantAnimation)
    assert fading.state() == QVariantAnimation.State.Running
    fading.pause()
    seen = {}
    for share in (0.0, 0.5, 1.0):
        fading.setCurrentTime(round(share * fading.duration()))
        seen[share] = lengths(bars)
    fading.stop()
    assert seen[0.0] == pytest.approx(before, abs=2)
    for row, middle in ((0, 0.5), (1, 0.5)):
        full = before[0] / 0.8
        assert seen[0.5][row] == pytest.approx(full * middle, abs=4)
    assert seen[0.5][0] < seen[0.0][0] - 20
    assert seen[1.0][1] > seen[0.5][1] + 10


@pytest.mark.parametrize(("height", "whole"), [(23 * 5, 5), (23 * 4 + 5, 3), (23 * 3, 2)])
def test_bars_without_room_are_counted_in_the_last_line(shown, point, height, whole):
    bars = BarsView()
    bars.set_bars([f"layer {number}" for number in range(5)], [1.0] * 5)
    bars = shown(bars, 400, height)
    assert bars.left_out == 5 - whole
    before = bars.grab().toImage()
    for index in range(5):
        row = before.copy(0, 23 * index, 400, 23)
        is_drawn = index < whole
        assert has_a_bar(row) == is_drawn
    if whole < 5:
        hovered = []
        bars.part_hovered.connect(hovered.append)
        point(bars, QPoint(100, 23 * whole + 10))
        assert [-1, *hovered][-1] == -1, "the line that counts them is no bar"
        sign = before.copy(0, 23 * whole, 400, 23)
        assert len({sign.pixel(x, y) for x in range(400) for y in range(sign.height())}) > 1


def has_a_bar(row):
    middle = [row.pixelColor(x, row.height() // 2) for x in range(row.width())] if row.height() else []
    return sum(color.blue() - color.red() > 60 for color in middle) > 50
