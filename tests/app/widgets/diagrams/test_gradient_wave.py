"""The wave of a gradient: what is drawn, step by step, and what the pointer and the keys do."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.diagrams.gradient_wave import GradientWave, WaveRow

TOKENS = ("the", "cows", "eat", "grass", "now")


def row(factor=0.5, last=3):
    sizes = np.array([factor ** (last - place) if place <= last else 0.0 for place in range(len(TOKENS))])
    gradients = np.sign(np.arange(6) - 2.5)[None] * sizes[:, None]
    return WaveRow("RNN", "state", QColor("#123456"), gradients, sizes)


@pytest.fixture
def wave(shown):
    found = GradientWave()
    found.set_rows([row()], TOKENS)
    return shown(found, 600, 140)


def reds(wave, position):
    """Whether units are drawn in a state: the strongest red of its column."""
    image, area = wave.grab().toImage(), wave.cell(0, position).toRect()
    found = [
        image.pixelColor(area.center().x() + away, height)
        for height in range(area.top() + 2, area.bottom() - 1)
        for away in (-2, 2)
    ]
    return max(color.red() - color.blue() for color in found)


def test_all_of_the_wave_is_there_until_one_goes_step_by_step(wave, qtbot):
    assert wave.reached is None
    assert wave.steps == 3
    with qtbot.waitSignal(wave.reached_changed):
        qtbot.keyClick(wave, Qt.Key.Key_Left)
    assert wave.reached == 0
    qtbot.keyClick(wave, Qt.Key.Key_Left)
    assert wave.reached == 1
    qtbot.keyClick(wave, Qt.Key.Key_Right)
    assert wave.reached == 0
    for _ in range(3):
        qtbot.keyClick(wave, Qt.Key.Key_Left)
    assert wave.reached is None
    qtbot.keyClick(wave, Qt.Key.Key_Right)
    assert wave.reached == 2


def test_a_state_shows_its_gradient_once_the_wave_has_reached_it(wave):
    assert reds(wave, 3) > 60
    assert reds(wave, 2) > 30
    wave.set_reached(0)
    assert reds(wave, 3) > 60
    assert reds(wave, 2) < 30


def ribbon(wave, between):
    """How many pixels the ribbon is wide half-way to the next state."""
    image = wave.grab().toImage()
    across = round((wave.cell(0, between).center().x() + wave.cell(0, between + 1).center().x()) / 2)
    plain = image.pixelColor(across, 20)
    colors = [image.pixelColor(across, height) for height in range(20, wave.height() - 22)]
    return sum(color.red() - color.blue() > plain.red() - plain.blue() + 20 for color in colors)


def test_the_ribbon_is_as_wide_as_the_gradient(wave):
    widths = [ribbon(wave, place) for place in range(3)]
    assert widths[0] < widths[1] < widths[2]
    assert widths[2] == pytest.approx(2 * widths[1], abs=3)


def test_what_is_beyond_the_truncation_is_shaded(wave):
    before = wave.grab().toImage()
    wave.set_truncation(2)
    after = wave.grab().toImage()
    area = wave.cell(0, 0).toRect()
    place = area.left() - 4, area.top() + 2
    assert after.pixelColor(*place) == current_theme().hover
    assert before.pixelColor(*place) != current_theme().hover
    kept = wave.cell(0, 3).toRect().right() + 4, area.top() + 2
    assert after.pixelColor(*kept) == before.pixelColor(*kept)


def test_positions_are_pointed_at_and_chosen(wave, qtbot):
    place = wave.cell(0, 1).center().toPoint()
    with qtbot.waitSignal(wave.part_hovered) as hovered:
        qtbot.mouseMove(wave, place)
    assert hovered.args == [1]
    with qtbot.waitSignal(wave.part_clicked) as clicked:
        qtbot.mouseClick(wave, Qt.MouseButton.LeftButton, pos=place)
    assert clicked.args == [1]


def test_without_models_there_is_nothing_to_point_at(wave):
    wave.set_rows([], [])
    assert wave.steps == 0
    assert wave.index_at(wave.rect().center()) == -1
    wave.grab()


def test_a_gradient_that_reaches_nothing_is_drawn_as_nothing(wave):
    nothing = WaveRow("RNN", "", QColor("red"), np.zeros((5, 6)), np.zeros(5))
    wave.set_rows([nothing], TOKENS)
    assert reds(wave, 2) < 30
    assert ribbon(wave, 2) == 0
