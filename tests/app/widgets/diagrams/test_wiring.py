"""The wiring: boxes answer to the pointer and to keys."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from lmviz.app.widgets.diagrams.wiring import WiringNode, WiringView


@pytest.fixture
def wiring(shown):
    view = WiringView()
    view.set_nodes([WiringNode("Embedding", "embedding"), WiringNode("Hidden", "hidden", (0,))])
    return shown(view, 400, 160)


def test_a_box_is_clicked_where_it_is_drawn(wiring, point, qtbot):
    with qtbot.waitSignal(wiring.node_clicked) as clicked:
        point(wiring, wiring.node_rectangle(1).center(), click=True)
    assert clicked.args == [1]


def test_keys_go_from_box_to_box_and_no_further(wiring):
    clicked = []
    wiring.node_clicked.connect(clicked.append)
    wiring.node_clicked.connect(wiring.set_current)
    wiring.set_current(0)
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Left):
        QTest.keyClick(wiring, key)
    assert clicked == [1, 0]


def test_the_keyboard_is_seen(wiring, qtbot):
    before = wiring.grab().toImage()
    wiring.activateWindow()
    wiring.clearFocus()
    wiring.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(wiring.hasFocus)
    assert wiring.grab().toImage() != before
