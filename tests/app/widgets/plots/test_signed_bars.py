"""Bars of parts that add up to a whole, from a line at zero."""

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QPointF

from lmviz.app.widgets.plots.signed_bars import SignedBars


def test_the_name_of_the_sum_is_whole_where_it_has_room_in_its_heavier_type(
    shown: Callable[..., SignedBars],
) -> None:
    bars = SignedBars("parts")
    labels = ["feed-forward 1", "head 2·2", "“stone” − “spoon”"]
    bars.set_bars(labels, np.array([2.0, 0.7, 2.7]), running=True)
    shown(bars, 460, 90)
    bars.grab()
    heights = range(0, 90, 3)
    assert not any(bars.whole_at(QPointF(x, y)) for x in range(0, 200, 8) for y in heights)


def test_bars_that_have_no_room_are_one_and_the_sum_stays(shown: Callable[..., SignedBars]) -> None:
    """Twelve rows were drawn over one another."""
    bars = SignedBars("parts")
    parts = np.array([4.0, -1.0, *[0.25] * 8])
    bars.set_bars([f"part {n}" for n in range(10)] + ["sum"], [*parts, parts.sum()], running=True)
    high = 120
    shown(bars, 460, high)
    at = [bars.index_at(QPointF(10, y + 0.5)) for y in range(high)]
    rows = list(dict.fromkeys(at))
    assert rows[:2] == [0, 1]
    assert rows[-2:] == [-1, 10]
    assert min(at.count(row) for row in rows) >= 12, "a line of type is as high"
    shown(bars, 460, 400)
    assert bars.index_at(QPointF(10, 400 / 11 * 5)) in range(10)
