"""The die: a uniform number lands on the word whose stretch holds it."""

import pytest
from PySide6.QtCore import QPoint, Qt

from lmviz.app.widgets.plots.cumulative_bar import CumulativeBar


@pytest.fixture
def bar(qtbot):
    view = CumulativeBar()
    qtbot.addWidget(view)
    view.resize(160, 400)
    view.set_shares(["a", "b", "c"], [0.5, 0.25, 0.15], rest=0.1)
    view.show()
    return view


@pytest.mark.parametrize(("draw", "landed"), [(0.0, 0), (0.4999, 0), (0.5, 1), (0.76, 2), (0.95, 3)])
def test_a_draw_lands_where_the_cumulative_distribution_says(bar, draw, landed):
    bar.set_draw(draw)
    assert bar.landed_on == landed


def test_the_marker_falls_to_the_draw(bar, qtbot):
    bar.set_draw(0.6)
    qtbot.waitUntil(lambda: bar.marker == pytest.approx(0.6), timeout=5000)


def test_without_a_draw_nothing_has_landed(bar):
    bar.set_draw(0.3, animated=False)
    bar.set_draw(None)
    assert bar.landed_on == -1


def test_a_click_chooses_a_word_but_never_the_rest(bar, qtbot):
    clicked = []
    bar.share_clicked.connect(clicked.append)
    for height in (100, 390):
        qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=QPoint(40, height))
    assert clicked == [0]
