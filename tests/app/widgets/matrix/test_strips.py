"""Strips: pointer and keys meet the right cell; one stage gives way to the next."""

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest

from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.matrix.strips import Strip, StripList


@pytest.fixture
def strips(shown):
    view = StripList()
    long, short = np.linspace(-1, 1, 12), np.linspace(0, 1, 4)
    view.set_strips([Strip("operand", long, "signed"), Strip("result", short, "share", role="result")])
    view.set_readout(lambda strip, cell: (f"{strip}, {cell}", []))
    return shown(view, 300, 60)


def test_the_pointer_names_and_chooses_a_cell(strips, point):
    hovered, clicked = [], []
    strips.cell_hovered.connect(lambda *cell: hovered.append(cell))
    strips.cell_clicked.connect(lambda *cell: clicked.append(cell))
    point(strips, strips.cell_rectangle(1, 2).center(), click=True)
    assert (hovered[-1], clicked) == ((1, 2), [(1, 2)])
    assert strips.window().findChild(HoverCard).title == "1, 2"


def test_keys_walk_between_strips_of_any_length_and_enter_chooses(strips):
    hovered, clicked = [], []
    strips.cell_hovered.connect(lambda *cell: hovered.append(cell))
    strips.cell_clicked.connect(lambda *cell: clicked.append(cell))
    keys = [Qt.Key.Key_Right] * 7 + [Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_Up]
    for key in [*keys, Qt.Key.Key_Return]:
        QTest.keyClick(strips, key)
    assert hovered == [*((0, cell) for cell in range(7)), (1, 3), (1, 2), (0, 2)]
    assert clicked == [(0, 2)]


def test_keys_begin_at_the_marked_cell(strips):
    hovered = []
    strips.cell_hovered.connect(lambda *cell: hovered.append(cell))
    strips.set_marks([(1, 1)])
    QTest.keyClick(strips, Qt.Key.Key_Right)
    QTest.keyClick(strips, Qt.Key.Key_Right)
    assert hovered == [(1, 1), (1, 2)]


def test_what_loses_the_keyboard_points_at_nothing(strips, qtbot):
    strips.activateWindow()
    strips.setFocus()
    qtbot.waitUntil(strips.hasFocus)
    QTest.keyClick(strips, Qt.Key.Key_Right)
    with qtbot.waitSignal(strips.cell_hovered) as left:
        strips.clearFocus()
    assert left.args == [-1, -1]


def test_no_strips(shown):
    view = shown(StripList(), 200, 40)
    QTest.keyClick(view, Qt.Key.Key_Right)
    QTest.keyClick(view, Qt.Key.Key_Return)
    view.grab()


def test_another_stage_gives_way_cell_by_cell(strips, qtbot):
    place = strips.cell_rectangle(0, 0).center().toPoint()

    def color():
        picture = strips.grab().toImage()
        return picture.pixelColor(place * picture.devicePixelRatio())

    before = color()
    strips.set_strips([Strip("operand", np.ones(12), "signed")], crossfade=True)
    qtbot.waitUntil(lambda: before != color(), timeout=5_000)
    between = color()
    qtbot.waitUntil(lambda: not strips.is_crossfading, timeout=5_000)
    after = color()
    assert len({color.rgb() for color in (before, between, after)}) == 3
    assert before.blue() > between.blue() > after.blue()


def test_other_numbers_of_one_stage_are_there_at_once(strips):
    strips.set_strips([Strip("operand", np.ones(12), "signed")])
    assert not strips.is_crossfading


def test_the_card_says_the_number_that_is_there_now(strips, point):
    strips.set_readout(lambda strip, cell: (f"{strips.strips[strip].values[cell]:.1f}", []))
    point(strips, strips.cell_rectangle(1, 3).center())
    card = strips.window().findChild(HoverCard)
    assert card.title == "1.0"
    strips.set_strips([strips.strips[0], Strip("result", np.full(4, 0.5), "share", role="result")])
    assert card.title == "0.5"
    strips.set_strips([strips.strips[0]])
    assert not card.isVisible()


def test_a_strip_fades_by_its_share_and_a_bar_shows_it(shown):
    view = StripList(row=20)
    ones = np.ones(4)
    view.set_strips([Strip("strong", ones, "signed", share=1.0), Strip("weak", ones, "signed", share=0.1)])
    shown(view, 400, 40)
    picture, paper = view.grab().toImage(), view.theme.surface

    def distance(x, y):
        color = picture.pixelColor((QPointF(x, y) * picture.devicePixelRatio()).toPoint())
        return sum(abs(one - other) for one, other in zip(color.getRgb(), paper.getRgb(), strict=True))

    strong, weak = (distance(view.cell_rectangle(strip, 2).center().x(), 10 + 20 * strip) for strip in (0, 1))
    assert 0 < weak < strong / 3
    bar = view.cell_rectangle(0, 0).left() - 24  # near the end of the room for bars
    assert distance(bar, 6) > distance(bar, 26)
