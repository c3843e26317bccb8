"""Legends: every curve is named as far as there is room, and what is left out is said."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest

from lmviz.app.widgets.plots.legend import LINE, Legend, LegendEntry

NAMES = [
    "training",
    "validation",
    "stories-lstm",
    "stories-gru",
    "2026-11-21-043002-a-run-of-a-very-long-name",
]


@pytest.fixture
def legend(shown):
    legend = shown(Legend(wraps=True, hides=True), 330, 300)
    legend.set_entries([LegendEntry(name, QColor("red")) for name in NAMES])
    return legend


def test_a_legend_takes_the_lines_it_needs(legend):
    assert legend.height() in (2 * LINE, 3 * LINE)
    assert all(area.right() <= legend.width() + 1 for _, area in legend.places())
    assert len(legend.places()) == len(NAMES)


def test_a_click_on_any_line_finds_its_curve(legend, qtbot):
    entry, area = legend.places()[-1]
    with qtbot.waitSignal(legend.entry_clicked) as clicked:
        QTest.mouseClick(legend, Qt.MouseButton.LeftButton, pos=QPoint(*map(int, area.center().toTuple())))
    assert clicked.args == [entry.name] == [NAMES[-1]]


def test_a_legend_that_hides_nothing_takes_neither_clicks_nor_keys(shown, qtbot):
    legend = shown(Legend(), 330, 30)
    legend.set_entries([LegendEntry("training", QColor("red"))])
    assert legend.focusPolicy() == Qt.FocusPolicy.NoFocus
    assert legend.cursor().shape() == Qt.CursorShape.ArrowCursor
    with qtbot.assertNotEmitted(legend.entry_clicked):
        QTest.mouseClick(legend, Qt.MouseButton.LeftButton, pos=QPoint(5, 5))


def test_of_more_curves_than_three_lines_hold_some_are_left_out(legend):
    legend.set_entries([LegendEntry(f"{name} {time}", QColor("red")) for time in range(3) for name in NAMES])
    assert legend.height() == 3 * LINE
    assert len(NAMES) <= len(legend.places()) < 3 * len(NAMES)
    legend.grab()
