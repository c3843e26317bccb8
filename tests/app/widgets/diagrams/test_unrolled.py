"""The unrolled network: cells where they are said to be, coloured by their own numbers."""

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt

from lmviz.app.widgets.diagrams.unrolled import UnrolledLayer, UnrolledView


@pytest.fixture
def view(qtbot):
    widget = UnrolledView()
    qtbot.addWidget(widget)
    values = np.zeros((3, 1))
    values[1, 0] = 1.0
    widget.set_network(["The", "bat", "made"], [UnrolledLayer("h", values)] * 2, ["bat 4 %"] * 3)
    widget.resize(widget.sizeHint())
    widget.show()
    return widget


def difference(view, position, layer, color):
    place = view.cell_rectangle(position, layer).center() + QPointF(0, 8)
    drawn = view.grab().toImage().pixelColor(place.toPoint())
    return max(abs(a - b) for a, b in zip(drawn.getRgb(), color.getRgb(), strict=True))


def test_a_cell_shows_its_own_position(view):
    assert difference(view, 1, 0, view.theme.signed_positive) < 4
    assert difference(view, 0, 0, view.theme.signed_zero) < 4
    assert difference(view, 2, 0, view.theme.signed_zero) < 4


def test_a_click_names_position_and_layer(view, qtbot):
    with qtbot.waitSignal(view.cell_clicked) as clicked:
        place = view.cell_rectangle(2, 1).center().toPoint()
        qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=place)
    assert clicked.args == [2, 1]


def test_arrows_move_and_stop_at_the_edges(view, qtbot):
    asked = []
    view.cell_clicked.connect(lambda *cell: asked.append(cell))
    view.set_current(2, 0)
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Up, Qt.Key.Key_Down):
        qtbot.keyClick(view, key)
    assert asked == [(1, 0), (2, 1)]


def test_no_two_cells_overlap(view):
    cells = [view.cell_rectangle(position, layer) for position in range(3) for layer in range(2)]
    assert not any(a.intersects(b) for index, a in enumerate(cells) for b in cells[:index])
