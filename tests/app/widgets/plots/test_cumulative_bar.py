"""The die: a uniform number lands on the word whose stretch holds it."""

import pytest
from PySide6.QtCore import Qt

from lmviz.app.widgets.plots.cumulative_bar import CumulativeBar


@pytest.fixture
def bar(qtbot):
    view = CumulativeBar()
    qtbot.addWidget(view)
    view.resize(400, 160)
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
    assert bar.sentence == ""


def test_the_same_roll_lands_before_the_change_and_after_it(bar):
    bar.set_before(["b", "a"], [0.55, 0.45])
    bar.set_draw(0.52, animated=False)
    assert (bar.landed_before, bar.landed_on) == (0, 1)
    bar.set_draw(0.8, animated=False)
    assert bar.sentence == "u = 0.800, the same roll: a before, c after"
    bar.set_before(None)
    assert bar.landed_before == -1
    assert bar.sentence == "u = 0.800 → c"


def test_it_lies_flat(bar):
    first, second = bar.part_rectangle(0), bar.part_rectangle(1)
    assert first.width() == pytest.approx(2 * second.width())
    assert (first.top(), first.right()) == (second.top(), pytest.approx(second.left()))


def test_a_click_chooses_a_word_but_never_the_rest(bar, qtbot):
    clicked = []
    bar.part_clicked.connect(clicked.append)
    place = bar.part_rectangle(0).center().toPoint()
    qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=place)
    place.setX(397)
    qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=place)
    assert clicked == [0]


def test_the_die_is_larger_where_there_is_more_room(bar):
    usual = bar.part_rectangle(0).height()
    bar.resize(800, 480)
    assert bar.part_rectangle(0).height() > 2 * usual
    assert bar.length(10) > 13, "and so is what is written on it"
    bar.resize(400, 160)
    assert bar.part_rectangle(0).height() == usual


def lines_of_ink(bar, index):
    """How many rows of pixels within a segment are not all of its own colour."""
    image, area = bar.grab().toImage(), bar.part_rectangle(index).adjusted(4, 4, -4, -4).toRect()
    across = range(area.left(), area.right())
    return sum(len({image.pixel(x, y) for x in across}) > 1 for y in range(area.top(), area.bottom()))


def test_a_word_too_long_for_its_segment_reads_upwards(bar):
    bar.set_shares(["wardrobe", "box"], [0.1, 0.8])
    assert lines_of_ink(bar, 0) > 2 * lines_of_ink(bar, 1) > 0


def test_a_segment_thinner_than_a_line_has_no_word(bar):
    bar.set_shares(["wardrobe", "box"], [0.035, 0.9])
    assert lines_of_ink(bar, 0) == 0


def test_without_candidates_nothing_lands(bar):
    bar.set_draw(None)
    bar.set_shares([], [])
    assert (bar.landed_on, bar.sentence, bar.description()) == (-1, "", "")
    bar.set_draw(0.5)
    assert "another" in bar.description(), "nothing is left but the rest"
