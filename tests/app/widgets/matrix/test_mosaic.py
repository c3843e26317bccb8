"""The mosaic: every head answers where it is drawn, and its thumbnail is its own."""

import numpy as np
import pytest
from layout_faults import noted_texts
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.matrix.mosaic import HeadMosaic


@pytest.fixture
def mosaic(shown):
    weights = np.zeros((3, 4, 5, 5))
    weights[2, 1] = 1
    mosaic = HeadMosaic()
    mosaic.set_heads(weights, [["", "", "", "previous"]] * 3)
    return shown(mosaic, 320, 260)


def middle(mosaic, layer, head):
    return mosaic.tile_rectangle(layer, head).center().toPoint()


def test_each_thumbnail_is_its_own(mosaic):
    picture = mosaic.grab().toImage()
    ratio = picture.devicePixelRatio()
    for layer in range(3):
        for head in range(4):
            color = picture.pixelColor(middle(mosaic, layer, head) * ratio)
            theme = mosaic.theme
            assert color == (theme.share_all if (layer, head) == (2, 1) else theme.share_none)


def test_hover_click_and_double_click(mosaic, qtbot):
    with qtbot.waitSignals([mosaic.head_hovered, mosaic.head_clicked, mosaic.head_double_clicked]):
        QTest.mouseMove(mosaic, middle(mosaic, 1, 3))
        QTest.mouseClick(mosaic, Qt.MouseButton.LeftButton, pos=middle(mosaic, 1, 3))
        QTest.mouseDClick(mosaic, Qt.MouseButton.LeftButton, pos=middle(mosaic, 1, 3))
    assert mosaic.accessibleDescription() == "layer 2, head 4 previous"


def test_between_the_tiles_is_nothing(mosaic):
    hovered = []
    mosaic.head_hovered.connect(lambda layer, head: hovered.append((layer, head)))
    QTest.mouseMove(mosaic, middle(mosaic, 0, 0))
    QTest.mouseMove(mosaic, QPoint(5, 20))
    assert hovered == [(0, 0), (-1, -1)]
    tile = mosaic.tile_rectangle(0, 0)
    QTest.mouseMove(mosaic, QPoint(round(tile.right()) + 3, round(tile.center().y())))
    assert hovered == [(0, 0), (-1, -1)]


def test_control_click_gathers_without_choosing(mosaic):
    clicked, toggled = [], []
    mosaic.head_clicked.connect(lambda *head: clicked.append(head))
    mosaic.head_toggled.connect(lambda *head: toggled.append(head))
    control = Qt.KeyboardModifier.ControlModifier
    QTest.mouseClick(mosaic, Qt.MouseButton.LeftButton, control, middle(mosaic, 2, 0))
    assert (clicked, toggled) == ([], [(2, 0)])


def test_keys_walk_layers_and_heads(mosaic):
    clicked = []
    mosaic.head_clicked.connect(lambda *head: clicked.append(head))
    for key in (Qt.Key.Key_Up, Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_Left):
        QTest.keyClick(mosaic, key)
    assert clicked == [(0, 0), (0, 1), (1, 1), (1, 0), (1, 0)]


def test_another_number_of_heads_forgets_marks(mosaic):
    mosaic.set_current(2, 3)
    mosaic.set_chosen([(2, 3)])
    mosaic.set_heads(np.zeros((1, 2, 5, 5)))
    mosaic.grab()
    assert mosaic.accessibleDescription() == "1 layers, 2 heads"


def test_a_head_of_another_model_is_not_marked(mosaic):
    mosaic.set_current(1, 2)
    mosaic.set_current(1, 4)  # its own picture is still being computed
    assert mosaic.accessibleDescription() == "3 layers, 4 heads"
    mosaic.set_current(2, 3)
    assert mosaic.accessibleDescription() == "layer 3, head 4 previous"


def test_no_heads(shown):
    mosaic = shown(HeadMosaic(), 200, 100)
    mosaic.grab()
    QTest.mouseMove(mosaic, QPoint(50, 50))
    QTest.keyClick(mosaic, Qt.Key.Key_Right)


@pytest.mark.parametrize(
    ("room", "whole"),
    [(300, True), (190, True), (120, True), (60, False)],
)
def test_all_layers_are_in_sight_where_they_can_be(shown, room, whole):
    mosaic = HeadMosaic()
    mosaic.set_heads(np.zeros((3, 4, 5, 5)), [["previous", "", "", ""]] * 3)
    area = shown(scrolling(mosaic), 320, room)
    assert (area.verticalScrollBar().maximum() == 0) == whole
    assert (mosaic.tile_rectangle(2, 3).bottom() <= area.viewport().height()) == whole
    assert mosaic.tile_rectangle(0, 0).width() >= 20


def test_in_much_room_heads_are_as_large_as_all_of_them_can_be(shown):
    mosaic = HeadMosaic()
    mosaic.set_heads(np.zeros((2, 3, 5, 5)))
    area = shown(scrolling(mosaic), 1200, 600)
    side = mosaic.tile_rectangle(0, 0).height()
    assert side > 250
    assert mosaic.tile_rectangle(1, 2).bottom() <= area.viewport().height()


def test_many_layers_use_the_whole_width_in_blocks_with_numbered_columns(shown) -> None:
    mosaic = HeadMosaic()
    mosaic.set_heads(np.random.default_rng(0).random((30, 9, 8, 8)).astype(np.float32))
    area = shown(scrolling(mosaic), 1200, 620)
    places = [mosaic.tile_rectangle(layer, head) for layer in range(30) for head in range(9)]
    right, bottom = max(place.right() for place in places), max(place.bottom() for place in places)
    assert right > 0.8 * 1200
    assert bottom <= area.viewport().height()
    for layer in range(30):
        for head in range(9):
            assert mosaic.index_at(mosaic.tile_rectangle(layer, head).center()) == (layer, head)
    texts = []
    with noted_texts(texts):
        mosaic.grab()
    written = [text for text, *_ in texts]
    blocks = len({round(place.left()) for place in places}) // 9
    assert blocks >= 2
    assert written.count("9") == 1 + blocks, "the layer, and the head of each block"
