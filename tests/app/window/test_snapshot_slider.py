import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from lmviz.app.window.snapshot_slider import SnapshotSlider

STEPS = (0, 1, 4, 16, 64, 256, 1000)


@pytest.fixture
def slider(qtbot: QtBot) -> SnapshotSlider:
    slider = SnapshotSlider()
    qtbot.addWidget(slider)
    slider.resize(400, 28)
    slider.set_snapshots(STEPS, 2000)
    slider.show()
    return slider


def test_pressing_at_a_tick_goes_to_its_snapshot(slider: SnapshotSlider, qtbot: QtBot) -> None:
    for index, step in enumerate(STEPS):
        place = QPoint(round(slider.place_of(step)), 14)
        qtbot.mouseClick(slider, Qt.MouseButton.LeftButton, pos=place)
        assert slider.value() == index


def test_dragging_beyond_the_last_snapshot_stays_at_it(slider: SnapshotSlider, qtbot: QtBot) -> None:
    qtbot.mousePress(slider, Qt.MouseButton.LeftButton, pos=QPoint(5, 14))
    qtbot.mouseMove(slider, QPoint(398, 14))
    qtbot.mouseRelease(slider, Qt.MouseButton.LeftButton)
    assert slider.value() == len(STEPS) - 1


def test_the_keyboard_goes_snapshot_by_snapshot(slider: SnapshotSlider, qtbot: QtBot) -> None:
    slider.setValue(2)
    qtbot.keyClick(slider, Qt.Key.Key_Right)
    assert slider.value() == 3
    assert "step 16" in slider.accessibleDescription()
    qtbot.keyClick(slider, Qt.Key.Key_Home)
    assert slider.value() == 0


def test_what_the_session_says_is_shown_without_an_echo(slider: SnapshotSlider, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(slider.valueChanged):
        slider.show_step(70)
        slider.set_snapshots((*STEPS, 2000), 2000)
    assert slider.snapshots[slider.value()] == 64


def test_one_snapshot_leaves_nothing_to_slide(slider: SnapshotSlider) -> None:
    slider.set_snapshots((0,), 100)
    assert not slider.isEnabled()
    slider.grab()  # it draws all the same
    slider.set_snapshots((), 0)
    slider.grab()


def test_a_marked_step_is_drawn_above_the_ticks_and_said(slider: SnapshotSlider) -> None:
    before = slider.grab().toImage()
    slider.set_marks([(120, "the jump, step 120")])
    place = QPoint(round(slider.place_of(120)), 6)
    assert slider.grab().toImage().pixelColor(place) != before.pixelColor(place)
    assert "the jump, step 120" in slider.toolTip()
    assert slider.accessibleDescription().endswith("the jump, step 120")
    slider.set_marks([])
    assert slider.grab().toImage() == before
