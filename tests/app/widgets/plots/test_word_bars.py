"""Bars over words: how high they are, what is not measured, and what the pointer brings."""

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from lmviz.app.widgets.plots.word_bars import WordBarsPlot


def plot_of(qtbot: QtBot) -> WordBarsPlot:
    plot = WordBarsPlot()
    qtbot.addWidget(plot)
    plot.resize(500, 240)
    plot.set_bars(
        ("her", "big", "key"), [2.0, -1.0, np.nan], np.array([0.5, 0.1, np.nan]), below=("a", "b", "c")
    )
    plot.show()
    return plot


def test_a_bar_is_as_high_as_its_number_and_negative_ones_hang(qtbot: QtBot) -> None:
    plot = plot_of(qtbot)
    assert plot.limits == (-1.1, 2.5)
    up, down = plot.bar(0), plot.bar(1)
    assert up.height() == pytest.approx(2 * down.height())
    assert up.bottom() == pytest.approx(down.top())


def test_the_pointer_brings_the_number_and_what_stands_below(qtbot: QtBot) -> None:
    plot = plot_of(qtbot)
    assert plot.readout(0) == ("her +2.00", ("below: a",))
    assert plot.readout(2)[0] == "key not measured"
    plot.set_current(1)
    assert plot.description() == "big −1.00"
    assert not plot.grab().isNull()
