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
