"""Rows share a height with one ease for all."""

import pytest

from lmviz.app.widgets.kit.rows import Extent, shared_heights

ROWS = [Extent(10, 20, 40), Extent(0, 10, 10)]


@pytest.mark.parametrize(
    ("room", "heights"),
    [(5, [10, 0]), (10, [10, 0]), (20, [15, 5]), (30, [20, 10]), (40, [30, 10]), (90, [40, 10])],
)
def test_rows_fill_the_room_between_their_least_and_their_most(room, heights):
    assert shared_heights(ROWS, room) == pytest.approx(heights)
