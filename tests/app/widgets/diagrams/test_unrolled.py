"""The unrolled network: cells where they are said to be, coloured by their own numbers."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt

from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.diagrams.unrolled import UnrolledView
from lmviz.app.widgets.diagrams.unrolled_values import UnrolledCell, UnrolledLayer, UnrolledRow


@pytest.fixture
def view(qtbot):
    widget = UnrolledView()
    qtbot.addWidget(widget)
    values = np.zeros((3, 1))
    values[1, 0] = 1.0
    gates = np.array([[0.0, 0.25], [0.5, 0.75], [1.0, 0.0]])
    layer = UnrolledLayer("layer", (UnrolledRow("h", values, limit=1.0), UnrolledRow("z", gates, "share")))
    widget.set_network(["The", "bat", "made"], [layer] * 2, ["bat 4 %"] * 3)
    widget.resize(widget.sizeHint())
    widget.show()
    return widget


def difference(view, position, layer, color):
    place = view.row_rectangle(position, layer, 0).center()
    drawn = view.grab().toImage().pixelColor(place.toPoint())
    return max(abs(a - b) for a, b in zip(drawn.getRgb(), color.getRgb(), strict=True))


def test_a_cell_shows_its_own_position(view):
    assert difference(view, 1, 0, view.theme.signed_positive) < 4
    assert difference(view, 0, 0, view.theme.signed_zero) < 4
    assert difference(view, 2, 0, view.theme.signed_zero) < 4


def test_a_click_names_position_and_layer(view, qtbot):
    with qtbot.waitSignal(view.part_clicked) as clicked:
        place = view.cell_rectangle(2, 1).topLeft().toPoint() + QPoint(4, 4)
        qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=place)
    assert clicked.args == [UnrolledCell(2, 1)]


def test_gates_lie_below_the_state_and_answer_with_their_own_number(view, point):
    state, gate = view.row_rectangle(1, 0, 0), view.row_rectangle(1, 0, 1)
    assert view.cell_rectangle(1, 0).contains(gate)
    assert gate.top() >= state.bottom()
    hovered = []
    view.part_hovered.connect(hovered.append)
    view.set_readout(lambda cell: (f"row {cell.row} unit {cell.unit}", []))
    right = QPoint(round(gate.left() + 0.75 * gate.width()), round(gate.center().y()))
    point(view, right)
    assert hovered[-1] == UnrolledCell(1, 0, 1, 1)
    card = view.findChild(HoverCard)
    assert card.title == "row 1 unit 1"
    view.set_readout(lambda cell: ("another number", []))
    view.set_network(["The", "bat"], [UnrolledLayer("layer", view_rows())] * 2)
    assert card.title == "another number"


def view_rows():
    return UnrolledRow("h", np.ones((2, 1))), UnrolledRow("z", np.ones((2, 2)), "share")


def test_arrows_move_and_stop_at_the_edges(view, qtbot):
    asked = []
    view.part_clicked.connect(lambda cell: asked.append((cell.position, cell.layer)))
    view.set_current(2, 0)
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Up, Qt.Key.Key_Down):
        qtbot.keyClick(view, key)
    assert asked == [(1, 0), (2, 1)]


def test_no_two_cells_overlap(view):
    cells = [view.cell_rectangle(position, layer) for position in range(3) for layer in range(2)]
    assert not any(a.intersects(b) for index, a in enumerate(cells) for b in cells[:index])


def ribbon(view, position, layer, share):
    """How many pixels high the ribbon before a cell is, at a share of the way to the cell before."""
    here, before = (view.cell_rectangle(at, layer) for at in (position, position - 1))
    across = round(here.left() - share * (here.left() - before.right()))
    image = view.grab().toImage()
    ratio = image.devicePixelRatio()
    ground = image.pixelColor(round(across * ratio), round((here.top() - 4) * ratio))
    column = [
        image.pixelColor(round(across * ratio), round(at * ratio))
        for at in range(round(here.top()), round(here.bottom()))
    ]
    return sum(color != ground for color in column)


@pytest.mark.parametrize("direction", ["", "forward"])
def test_a_wave_is_as_wide_as_the_gradient_that_comes_back(view, direction):
    rows = (UnrolledRow("h", np.zeros((3, 4))),)
    layer = UnrolledLayer("", rows, direction, wave=np.array([0.1, 0.5, 1.0]))
    view.set_network(["The", "bat", "made"], [layer])
    wide, narrow = ribbon(view, 2, 0, 0.1), ribbon(view, 2, 0, 0.5)
    assert wide > 1.15 * narrow > 1.15 * ribbon(view, 1, 0, 0.1) > 1.15 * ribbon(view, 1, 0, 0.5)
    below_name = view.cell_rectangle(2, 0).bottom() - view.row_rectangle(2, 0, 0).top()
    assert wide == pytest.approx(0.95 * below_name, abs=3)


def test_a_wave_that_reaches_nothing_is_hardly_a_line(view):
    rows = (UnrolledRow("h", np.zeros((3, 4))),)
    view.set_network(["The", "bat", "made"], [UnrolledLayer("", rows, wave=np.array([0.0, 0.0, 1.0]))])
    assert ribbon(view, 1, 0, 0.5) <= 2


def rises(view, position):
    """Whether a line leads up from the top layer at a position."""
    cell = view.cell_rectangle(position, len(view.layers) - 1)
    image = view.grab().toImage()
    place = QPoint(round(cell.center().x()), round(cell.top() - 8))
    return image.pixelColor(place) != image.pixelColor(QPoint(place.x() + 12, place.y()))


def test_a_line_leads_up_only_from_the_states_that_are_read(view):
    states = (UnrolledRow("h", np.zeros((3, 4))),)
    view.set_network(["The", "bat", "made"], [UnrolledLayer("", states)], ["", "", "good 98 %"])
    assert [rises(view, at) for at in range(3)] == [True, True, True]
    view.set_network(
        ["The", "bat", "made"],
        [UnrolledLayer("", states, read_at=frozenset([2]))],
        ["", "", "good 98 %"],
        is_gathered=True,
    )
    assert [rises(view, at) for at in range(3)] == [False, False, True]
    assert view.gathered.length() == 0


def test_what_is_read_of_several_positions_is_gathered_into_one_line(view):
    states = (UnrolledRow("h", np.zeros((3, 4))),)
    view.set_network(["The", "bat", "made"], [UnrolledLayer("", states)], is_gathered=True)
    centres = [view.cell_rectangle(at, 0).center().x() for at in range(3)]
    assert (view.gathered.x1(), view.gathered.x2()) == (centres[0], centres[2])
    both = [
        UnrolledLayer("", states, way, read_at=frozenset([at]))
        for way, at in (("forward", 2), ("backward", 0))
    ]
    view.set_network(["The", "bat", "made"], both, is_gathered=True)
    assert (view.gathered.x1(), view.gathered.x2()) == pytest.approx(
        [view.cell_rectangle(at, 1).center().x() for at in (0, 2)]
    )
