"""The stage timeline: keys, pointer and play walk the stages, and say each step once."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from lmviz.app.widgets.diagrams.stage_timeline import StageTimeline

TITLES = ["embedding", "scores", "softmax", "sum", "logits"]


@pytest.fixture
def timeline(shown):
    timeline = StageTimeline()
    timeline.set_stages(TITLES, ["embedding", "attention", "attention", "attention", "output"])
    return shown(timeline, 500, 50)


@pytest.fixture
def chosen(timeline):
    chosen = []
    timeline.stage_chosen.connect(chosen.append)
    return chosen


def test_keys_step_and_stop_at_the_ends(timeline, chosen):
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_End, Qt.Key.Key_Right, Qt.Key.Key_Home):
        QTest.keyClick(timeline, key)
    assert chosen == [1, 4, 0]


def test_a_click_and_a_drag_choose_the_nearest_stage(timeline, chosen):
    start, end = (timeline.stop_place(index).toPoint() for index in (1, 3))
    QTest.mousePress(timeline, Qt.MouseButton.LeftButton, pos=start + QPoint(3, 0))
    QTest.mouseMove(timeline, end)
    QTest.mouseRelease(timeline, Qt.MouseButton.LeftButton, pos=end)
    QTest.mouseMove(timeline, start)
    assert chosen == [1, 3]


def test_stages_of_one_place_stand_closer(timeline):
    places = [timeline.stop_place(index).x() for index in range(5)]
    assert places[2] - places[1] < places[1] - places[0]
    assert places == sorted(places)


def test_playing_walks_to_the_end_and_stops(timeline, chosen, qtbot):
    timeline.play(pace=5)
    assert timeline.playing
    qtbot.waitUntil(lambda: not timeline.playing)
    assert chosen == [1, 2, 3, 4]
    QTest.keyClick(timeline, Qt.Key.Key_Space)
    assert timeline.playing
    assert timeline.stage == 0
    QTest.keyClick(timeline, Qt.Key.Key_Space)
    assert not timeline.playing


def test_playing_ends_when_hidden_or_when_other_stages_come(timeline):
    timeline.play()
    timeline.set_stages(TITLES[:3])
    assert not timeline.playing
    timeline.play()
    timeline.hide()
    assert not timeline.playing


def test_the_same_stages_again_change_nothing(timeline):
    timeline.set_stage(2)
    timeline.play()
    timeline.set_stages(TITLES, ["embedding", "attention", "attention", "attention", "output"])
    assert timeline.playing
    assert timeline.stage == 2
    timeline.pause()


def test_no_stages(shown, qtbot):
    timeline = shown(StageTimeline(), 300, 50)
    timeline.play()
    assert not timeline.playing
    QTest.keyClick(timeline, Qt.Key.Key_Right)
    QTest.mouseMove(timeline, QPoint(100, 10))
    QTest.mouseClick(timeline, Qt.MouseButton.LeftButton, pos=QPoint(100, 10))
    timeline.grab()


def test_fewer_stages_bring_one_back_to_the_last(timeline):
    timeline.set_stage(4)
    timeline.set_stages(TITLES[:2])
    assert timeline.stage == 1


def test_backward_it_plays_from_the_last_stage_to_the_first(timeline, chosen, qtbot):
    timeline.set_backward(True)
    timeline.play(pace=5)
    qtbot.waitUntil(lambda: not timeline.playing)
    assert chosen == [4, 3, 2, 1, 0]
    timeline.set_stage(2)
    timeline.play(pace=10_000)
    timeline.set_backward(False)
    assert not timeline.playing
    assert timeline.stage == 2
