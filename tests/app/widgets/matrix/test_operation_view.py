"""An operation in its numbers: every number has its place, can be pointed at and leads to its source."""

import numpy as np
import pytest
from PySide6.QtCore import QRectF

from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.matrix.operation_view import OperationView
from lmviz.inspection.operation_picture import Band, BandGroup, OperationPicture

STATE, WEIGHTS = np.array([0.5, -1.0, 0.25, 2.0]), np.array([1.0, 0.5, -1.0, 0.25])
PLACES = np.stack([np.full(4, 3), np.arange(4)], axis=1)


@pytest.fixture
def view(shown):
    row = BandGroup(
        "input",
        (
            Band("", "hidden", STATE, source="layers/0/hidden", indices=PLACES),
            Band("×", "weights", WEIGHTS, source="output.weight", indices=PLACES),
            Band("=", "products", STATE * WEIGHTS),
        ),
        float(STATE @ WEIGHTS),
    )
    line = BandGroup("discount", tuple(Band("×", "", np.array([value])) for value in (0.7, 5.0, 0.1)), 0.35)
    view = OperationView()
    view.set_picture(OperationPicture((row, line), "sum", 0.6, "signed"))
    view.set_naming(lambda source, index: f"{source} {index}")
    return shown(view, 320, 200)


def test_a_number_says_its_place_and_the_product_it_is_part_of(view, point):
    pointed = []
    view.operand_hovered.connect(lambda source, index: pointed.append((source, index)))
    point(view, view.cell_rectangle(0, 1, 1).center())
    card = view.window().findChild(HoverCard)
    assert card.title == "0.500"
    assert card.lines == ("output.weight (3, 1)", "−1.000 × 0.500 = −0.500")
    assert pointed == [("output.weight", (3, 1))]


def test_a_click_leads_to_the_operand_and_a_product_to_nothing(view, point):
    clicked = []
    view.operand_clicked.connect(lambda source, index: clicked.append((source, index)))
    point(view, view.cell_rectangle(0, 2, 1).center(), click=True)
    point(view, view.cell_rectangle(0, 0, 3).center(), click=True)
    assert clicked == [("layers/0/hidden", (3, 3))]


@pytest.mark.parametrize("width", [220, 320, 900])
def test_no_number_lies_on_another_or_outside(view, width):
    view.resize(width, 200)
    cells = [view.cell_rectangle(1, band, 0) for band in range(3)]
    cells += [view.cell_rectangle(0, band, term) for band in range(3) for term in range(4)]
    for place, cell in enumerate(cells):
        assert QRectF(view.rect()).contains(cell)
        assert not any(cell.adjusted(0.5, 0.5, -0.5, -0.5).intersects(other) for other in cells[place + 1 :])


def test_the_cell_is_outlined_with_dashes_where_nobody_chose_it(view):
    solid = view.grab().toImage()
    view.set_picture(view.picture, dashed=True)
    assert view.is_dashed
    assert view.grab().toImage() != solid
    view.set_picture(None)
    assert view.sizeHint().height() == 0


def test_it_is_run_through_once_and_is_then_as_it_was(view, qtbot):
    whole = view.grab().toImage()
    view.walk()
    assert view.is_walking
    assert view.moment.block == 0
    assert view.grab().toImage() != whole, "its numbers have not entered yet"
    qtbot.waitUntil(lambda: not view.is_walking)
    assert view.moment is None
    assert view.grab().toImage() == whole


def test_another_operation_is_drawn_whole(view):
    view.walk()
    view.set_picture(view.picture)
    assert view.is_walking, "it is the same, read once more"
    view.set_picture(OperationPicture(view.picture.blocks, "sum", 0.7, "signed"))
    assert not view.is_walking


def test_where_the_system_shows_no_animations_nothing_runs(view, monkeypatch):
    monkeypatch.setattr("lmviz.app.widgets.matrix.operation_view.may_move", lambda widget: False)
    view.walk()
    assert not view.is_walking
