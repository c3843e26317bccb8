"""Rows share a height with one ease for all."""

import pytest
from PySide6.QtCore import QRectF

from lmviz.app.widgets.kit.rows import Extent, no_smaller, shared_heights

ROWS = [Extent(10, 20, 40), Extent(0, 10, 10)]


@pytest.mark.parametrize(
    ("room", "heights"),
    [(5, [10, 0]), (10, [10, 0]), (20, [15, 5]), (30, [20, 10]), (40, [30, 10]), (90, [40, 10])],
)
def test_rows_fill_the_room_between_their_least_and_their_most(room, heights):
    assert shared_heights(ROWS, room) == pytest.approx(heights)


def test_an_area_that_is_too_small_to_be_seen_is_wider_around_the_same_middle():
    assert no_smaller(QRectF(10, 10, 2, 30), 6, 20) == QRectF(8, 10, 6, 30)
    assert no_smaller(QRectF(10, 10, 8, 30), 6) == QRectF(10, 10, 8, 30)
