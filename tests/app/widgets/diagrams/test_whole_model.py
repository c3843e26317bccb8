"""The picture of a whole model: all in sight, blocks that unfold, and exact cells under the pointer."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.diagrams.model_parts import ModelBlock, ModelLine, StreamMark
from lmviz.app.widgets.diagrams.whole_model import WholeModelView
from lmviz.app.widgets.kit.picture import Miniature, Spot


def strip(key, values):
    return Miniature(key, np.asarray(values, dtype=np.float32)[None])


def mark(key, word):
    return StreamMark(key, strip(f"{key} strip", [1.0, -1.0]), word, 0.5)


def block(number, squares):
    weights = ModelLine(
        f"w{number}", "weights", tuple(Miniature(f"w{number} {h}", s, "share") for h, s in enumerate(squares))
    )
    queries = ModelLine(f"q{number}", "queries", (strip(f"q{number} 0", [0.5, -2.0, 1.0, 0.0]),))
    adds = ModelLine(f"a{number}", "adds", (strip(f"a{number} 0", np.arange(300)),))
    parts = (queries, weights, adds, mark(f"r{number}", "dog"))
    return ModelBlock(
        f"b{number}", f"layer {number}", parts, ((weights, adds),), (("1", "the", "60"),), "looks at"
    )


def model(count=3):
    squares = np.tril(np.ones((2, 4, 4), dtype=np.float32)) / 2
    parts = [mark("start", "bat")]
    for number in range(count):
        parts += [block(number, squares), mark(f"s{number}", "cow")]
    return parts


@pytest.fixture
def view(shown):
    view = WholeModelView()
    view.set_model(model(), ("cow", 0.5), "compared with 9 tokens")
    return shown(view, 560, 640)


def unfolded(view):
    """The numbers of the blocks whose rows can be seen."""
    return [number for number in range(3) if not view.row_rectangle(f"q{number}").isEmpty()]


def centre(view, spot):
    return view.rectangle(spot).center().toPoint()


def test_the_whole_model_is_in_sight(view):
    for size in ((320, 330), (560, 640), (1200, 1300)):
        view.resize(*size)
        assert view.minimumSizeHint().height() <= size[1]
        for key in ("start", "s0", "s1", "s2"):
            assert view.rect().contains(view.row_rectangle(key).toAlignedRect()), (size, key)
        assert view.rect().contains(view.rectangle(Spot("verdict")).toAlignedRect())


def test_rows_do_not_overlap(view):
    keys = ["start", "q0", "w0", "a0", "r0", "s0", "s1", "s2"]
    tops = [view.row_rectangle(key) for key in keys]
    assert all(above.bottom() <= below.top() + 0.01 for above, below in pairwise(tops))


def test_one_block_is_open_and_a_click_on_a_folded_one_opens_that(view):
    assert unfolded(view) == [0]
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=centre(view, Spot("fold b1")))
    assert unfolded(view) == [1]
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=centre(view, Spot("fold b1")))
    assert unfolded(view) == []


def test_a_folded_block_is_live(view, qtbot):
    with qtbot.waitSignal(view.part_clicked) as clicked:
        QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=centre(view, Spot("w2 1", 3, 0)))
    assert clicked.args == [Spot("w2 1", 3, 0)]


def test_the_current_row_opens_its_block(view):
    view.set_current("a2")
    assert unfolded(view) == [2]
    view.set_open("")
    view.set_current("a2")
    assert unfolded(view) == [], "folded by hand it stays folded until one goes on"
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert unfolded(view) == [2]


def test_a_cell_answers_with_its_own_place(view, point, qtbot):
    view.set_readout(lambda spot: (f"{spot.key} {spot.row} {spot.column}", []))
    point(view, centre(view, Spot("q0 0", 0, 1)))
    assert view.hovered == Spot("q0 0", 0, 1)
    assert view.findChild(HoverCard).title == "q0 0 0 1"
    with qtbot.waitSignal(view.part_hovered) as left:
        QTest.mouseMove(view, QPoint(1, 1))
    assert left.args == [None]


def test_of_the_cells_that_share_a_pixel_the_one_that_is_drawn_answers(view):
    view.resize(320, 640)
    area = view.rectangle(Spot("a1 0"))
    assert area.width() < 150, "300 cells do not have a pixel each"
    spot = view.index_at(area.center())
    assert spot.key == "a1 0"
    beside = view.index_at(area.center() + QPoint(1, 0))
    assert 1 < beside.column - spot.column < 12
    values = np.arange(300)
    first = spot.column + 1 - (beside.column - spot.column)
    assert spot.column == values[first : spot.column + 1].argmax() + first


def test_a_strip_of_more_cells_than_pixels_is_drawn_in_order(shown):
    values = np.linspace(-1.0, 1.0, 900, dtype=np.float32)[None]
    part = StreamMark("start", Miniature("start strip", values), "bat", 0.5)
    view = shown(WholeModelView(), 400, 100)
    view.set_model([part], ("bat", 0.5), "")
    area, image = view.rectangle(Spot("start strip")), view.grab().toImage()
    line = [
        image.pixelColor(x, round(area.center().y()))
        for x in range(round(area.left()) + 2, round(area.right()) - 2)
    ]
    reds = [color.red() - color.blue() for color in line]
    assert all(right >= left - 1 for left, right in pairwise(reds))
    assert reds[0] < -60
    assert reds[-1] > 60


def test_how_numbers_lie_in_memory_makes_no_difference(shown):
    def drawn(square):
        view = shown(WholeModelView(), 400, 200)
        view.set_model([ModelLine("w", "weights", (Miniature("w 0", square, "share"),))], ("", 0.0), "")
        return view.grab().toImage()

    square = np.tril(np.arange(35, dtype=np.float32).reshape(7, 5)) / 35
    assert drawn(square) == drawn(np.asfortranarray(square))


def test_what_is_under_the_pointer_is_said_anew_when_the_numbers_change(view, point):
    words = ["before"]
    view.set_readout(lambda spot: (words[-1], []))
    point(view, centre(view, Spot("q0 0", 0, 1)))
    card = view.findChild(HoverCard)
    assert card.title == "before"
    words.append("after")
    view.set_model(model(), ("cow", 0.5), "")
    assert card.title == "after"
    view.set_model([], ("", 0.0), "")
    assert view.hovered is None
    assert card.isHidden()


def test_other_numbers_are_other_pictures(view):
    before = view.grab().toImage()
    other = model()
    other[0] = StreamMark("start", strip("start strip", [-1.0, 1.0]), "bat", 0.5)
    view.set_model(other, ("cow", 0.5), "compared with 9 tokens")
    assert view.grab().toImage() != before


def test_nothing_is_drawn_of_no_model(shown):
    view = shown(WholeModelView())
    view.grab()
    assert view.index_at(view.rect().center()) is None


@pytest.mark.parametrize(("width", "is_said"), [(760, True), (270, False)])
def test_that_a_title_folds_is_said_where_there_is_room(shown, fitted, width, is_said):
    view = WholeModelView()
    squares = np.tril(np.ones((2, 4, 4), dtype=np.float32)) / 2
    long = replace(block(0, squares), title="encoder layer 1", where=", at “(end)”")
    view.set_model([mark("start", "bat"), long], ("cow", 0.5), "compared with 9 tokens")
    shown(view, width, 640)
    view.grab()
    assert ("click to fold" in fitted) == is_said
