"""A picture of pixels: painted by pressing, dragging and keys; coloured by numbers."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.matrix.pixel_grid import PixelGrid


@pytest.fixture
def grid(shown):
    grid = PixelGrid(3)
    grid.set_editable()
    grid.told = []
    grid.painted.connect(lambda: grid.told.append(grid.pixels))
    return shown(grid, 60, 60)


def middle(grid, index):
    return grid.part_rectangle(index).center().toPoint()


def color(grid, index):
    return grid.grab().toImage().pixelColor(middle(grid, index) * grid.devicePixelRatio())


def painted(grid):
    return [index for index, pixel in enumerate(grid.pixels) if pixel]


def test_a_click_turns_a_pixel_over(grid):
    before = color(grid, 5)
    for wanted in ([5], []):
        QTest.mouseClick(grid, Qt.MouseButton.LeftButton, pos=middle(grid, 5))
        assert painted(grid) == wanted
    assert len(grid.told) == 2
    grid.set_pixels([False] * 5 + [True] + [False] * 3)
    assert color(grid, 5) != before
    assert len(grid.told) == 2


def test_dragging_paints_all_that_it_comes_to(grid):
    grid.set_pixels([False, True, False] + [False] * 6)
    QTest.mousePress(grid, Qt.MouseButton.LeftButton, pos=middle(grid, 0))
    for index in (1, 2, 5):
        QTest.mouseMove(grid, middle(grid, index))
    QTest.mouseRelease(grid, Qt.MouseButton.LeftButton, pos=middle(grid, 5))
    assert painted(grid) == [0, 1, 2, 5]
    QTest.mouseMove(grid, middle(grid, 8))
    assert painted(grid) == [0, 1, 2, 5]


def test_keys_paint_as_well(grid):
    grid.setFocus()
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Space, Qt.Key.Key_Left, Qt.Key.Key_Space):
        QTest.keyClick(grid, key)
    assert painted(grid) == [3, 4]
    assert "row 2, column 1, painted" in grid.accessibleDescription()
    QTest.keyClick(grid, Qt.Key.Key_Backspace)
    assert painted(grid) == []


def test_what_is_not_editable_stays(shown):
    grid = shown(PixelGrid(3), 60, 60)
    QTest.mouseClick(grid, Qt.MouseButton.LeftButton, pos=middle(grid, 5))
    assert painted(grid) == []


def test_numbers_give_pixels_their_colours(grid):
    values = np.zeros(9)
    values[[0, 8]] = 2.0, -2.0
    grid.set_values(values, 2.0)
    assert color(grid, 0) == current_theme().signed_positive
    assert color(grid, 8) == current_theme().signed_negative
    assert color(grid, 4) == current_theme().chip
    assert grid.index_at(grid.part_rectangle(8).bottomRight() * 3) == -1
