"""Small recurrent nets as units, folded and unrolled: weights are typed on the arrows, and all follows."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLineEdit, QStackedWidget
from pytestqt.qtbot import QtBot

from lmviz.app.board.board import Board
from lmviz.app.session.session import Session
from lmviz.app.widgets.diagrams.network_values import ValueCell
from lmviz.app.widgets.diagrams.unit_picture import UnitPicture
from tests.app.panels.autodiff.conftest import Scene, opened

ONLY_PANELS = ("graph", "network_why")


class UnitScene(Scene):
    """The graph of a recurrent net, drawn one way or another."""

    def __init__(self, view: Board, session: Session, qtbot: QtBot) -> None:
        super().__init__(view, session, qtbot)
        graph = self.panel("graph_view")
        self.units = graph.findChild(UnitPicture)
        self.picker = graph.findChild(QComboBox, "network_drawing_picker")

    def open(self, name: str, drawing: str) -> None:
        self.session.network.open_shipped(name)
        self.settle()
        self.picker.setCurrentText(drawing)
        self.picker.activated.emit(self.picker.currentIndex())
        self.settle()

    def type(self, place: QRectF, text: str) -> None:
        QTest.mouseDClick(self.units, Qt.MouseButton.LeftButton, pos=place.center().toPoint())
        edit = self.units.findChild(QLineEdit, "number_edit")
        edit.setText(text)
        QTest.keyClick(edit, Qt.Key.Key_Return)
        self.settle()

    def numbers(self, *names: str) -> list[float]:
        return [self.units.number(self.cell(name)) for name in names]

    def cell(self, name: str, *, gradient: bool = False) -> ValueCell:
        return ValueCell(name, (0,) * len(self.session.network.current[name].shape), gradient)


@pytest.fixture
def scene(tmp_path: Path, qtbot: QtBot) -> Iterator[UnitScene]:
    with opened(UnitScene, tmp_path, qtbot) as scene:
        yield scene


SUMS = {"1": [2, 1.5, 2.5, 3.5], "0.9": [2, 1.3, 2.17, 2.953], "0.5": [2, 0.5, 1.25, 1.625]}
STATES = ("h[1]", "h[2]", "h[3]", "h[4]")


@pytest.mark.parametrize("drawing", ["folded", "unrolled"])
def test_one_weight_changes_all_that_follows(scene: UnitScene, drawing: str) -> None:
    scene.open("summation", drawing)
    assert scene.units.isVisible()
    assert len(scene.units.field_rectangles("U")) == (1 if drawing == "folded" else 4)
    for weight, expected in SUMS.items():
        scene.type(scene.units.field_rectangles("U")[-1], weight)
        assert scene.numbers(*STATES) == pytest.approx(expected)
        assert scene.numbers("y") == pytest.approx(expected[-1:])


@pytest.mark.parametrize("drawing", ["folded", "unrolled"])
def test_every_number_of_a_weight_is_a_field(scene: UnitScene, drawing: str) -> None:
    scene.open("comparison", drawing)
    assert scene.numbers("h[1]", "h[2]", "h[3]") == pytest.approx([4, 0.5, -0.7])
    assert [round(number, 2) for number in scene.numbers("y[1]", "y[2]", "y[3]")] == [1.00, 0.92, 0.03]
    fields = scene.units.field_rectangles("W")
    assert len(fields) == (2 if drawing == "folded" else 6)
    scene.type(fields[1], "0")  # the second input no longer counts
    assert scene.numbers("h[1]", "h[2]", "h[3]") == pytest.approx([2, 2, 3])
    scene.type(scene.units.field_rectangles("V")[0], "0")
    assert scene.numbers("y[1]", "y[2]", "y[3]") == [0.5, 0.5, 0.5]


def test_what_is_read_both_ways_folds_with_its_steps_in_order(scene: UnitScene) -> None:
    scene.open("both_ways", "folded")
    assert scene.numbers("left[1]", "left[2]", "left[3]") == [1, 2.5, 4.25]
    assert scene.numbers("right[1]", "right[2]", "right[3]") == [2.75, 3.5, 3]
    assert scene.numbers("y[1]", "y[2]", "y[3]") == [3.75, 6, 7.25]
    for base in ("left", "right", "x", "y"):
        steps = [scene.units.cell_rectangle(scene.cell(f"{base}[{step}]")).x() for step in (1, 2, 3)]
        assert steps == sorted(steps)
    boxes = [scene.units.cell_rectangle(scene.cell(f"{base}[1]")) for base in ("left", "right", "x", "y")]
    assert not any(box.intersects(other) for at, box in enumerate(boxes) for other in boxes[:at])


def test_values_are_changed_too_and_dragged(scene: UnitScene) -> None:
    scene.open("summation", "folded")
    scene.type(scene.units.cell_rectangle(scene.cell("x[1]")), "3")
    assert scene.numbers("h[4]") == [4.5]
    start = scene.units.field_rectangles("W")[0].center().toPoint()
    QTest.mousePress(scene.units, Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(scene.units, start - QPoint(0, 50))
    QTest.mouseRelease(scene.units, Qt.MouseButton.LeftButton, pos=start - QPoint(0, 50))
    scene.settle()
    assert scene.session.network.current["W"].value == pytest.approx(1.5)
    assert scene.numbers("h[4]") == pytest.approx([1.5 * 4.5])


def test_gradients_appear_as_the_sweep_reaches_them(scene: UnitScene) -> None:
    scene.open("recurrence_tanh", "folded")
    assert scene.units.number(scene.cell("h[1]", gradient=True)) is None
    scene.session.network.run_backward()
    scene.settle()
    gradients = [scene.units.number(scene.cell(name, gradient=True)) for name in STATES]
    assert gradients == pytest.approx([0.29659, 0.51019, 0.74561, 1], abs=5e-6)
    assert scene.units.number(scene.cell("U", gradient=True)) == pytest.approx(0.99391, abs=5e-6)
    place = scene.units.cell_rectangle(scene.cell("U", gradient=True)).center().toPoint()
    QTest.mouseClick(scene.units, Qt.MouseButton.LeftButton, pos=place)
    scene.settle()
    why = next(panel for panel in scene.view.panels if panel.objectName() == "network_why_view")
    assert why.card.title == "Why 0.9939?"


@pytest.mark.slow
def test_the_drawing_is_offered_for_small_recurrent_nets_only(scene: UnitScene) -> None:
    scene.open("summation", "folded")
    pages = scene.panel("graph_view").findChild(QStackedWidget)
    assert scene.picker.isVisible()
    assert pages.currentIndex() == 1
    scene.session.network.open_shipped("lecture")
    scene.settle()
    assert not scene.picker.isVisible()
    assert pages.currentIndex() == 0
    scene.session.network.open_shipped("comparison")
    scene.settle()
    assert pages.currentIndex() == 1, "what was chosen is remembered"


@pytest.mark.slow
def test_keys_go_from_number_to_number(scene: UnitScene) -> None:
    scene.open("summation", "unrolled")
    scene.units.setFocus()
    cells = scene.units.cells()
    assert len(cells) == len(set(cells)) == 9 + 1 + 2  # x and h with its beginning, y, and both weights
    visited = set()
    for _ in cells:
        QTest.keyClick(scene.units, Qt.Key.Key_Right)
        scene.settle()
        pinned = scene.session.network_focus.pinned
        assert pinned is not None
        visited.add(ValueCell(*pinned))
    assert visited == set(cells)
