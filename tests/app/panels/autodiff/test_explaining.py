"""Why this number: every cell of the graph is explained, with its operands in sight."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from lmviz.app.session.network_focus import NetworkCell
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.diagrams.network_values import ValueCell
from lmviz.app.widgets.text.arithmetic_card import ArithmeticCard
from tests.app.panels.autodiff.conftest import Scene


def test_why_this_gradient_and_its_operands_in_the_graph(scene: Scene) -> None:
    scene.click("tape_run_backward")
    QTest.mouseClick(scene.picture, Qt.MouseButton.LeftButton, pos=scene.place("β", (1, 0), True))
    QTest.mouseMove(scene.picture, QPoint(1, 1))
    scene.settle()
    panel = scene.panel("network_why_view")
    assert panel.card.title == "Why −0.1388?"
    assert panel.card.aside == "gradient of β, row 2, column 1"
    assert panel.shown.evaluate() == pytest.approx(-0.138756, abs=5e-7)
    assert scene.picture.operands == {ValueCell("b", (1,), True), ValueCell("z", (0,), False)}
    assert scene.find(MutedLine, "nudged_line").text == "nudging says the same: 10 digits"
    card = panel.findChild(ArithmeticCard)
    card.operand_clicked.emit("gradient/b", (1,))
    scene.settle()
    assert panel.card.aside == "gradient of b, cell 2"


def test_every_cell_can_be_explained_by_hovering_it(scene: Scene) -> None:
    scene.click("tape_run_backward")
    panel = scene.panel("network_why_view")
    for name in ("J", "b", "z"):
        for gradient in (False, True):
            value = scene.read(name, (0,) * len(scene.session.network.current[name].shape), gradient=gradient)
            scene.settle()
            assert panel.shown.value == pytest.approx(value, abs=1e-6)
            assert panel.shown.evaluate() == pytest.approx(panel.shown.value)


@pytest.mark.slow
def test_a_hidden_fault_is_not_given_away_before_it_is_found(scene: Scene) -> None:
    """The terms of a gradient would show at once where it begins at 1, or which factor is missing."""
    session, why = scene.session, scene.panel("network_why_view")
    for seed in range(2):
        session.module_checks.hide_fault(seed)
        session.network.run_backward()
        for node in session.network.current:
            session.network_focus.release()
            session.network_focus.choose_cell(NetworkCell(node.name, (0,) * len(node.shape), True))
            scene.settle()
            assert why.shown is None, node.name
            assert scene.find(MutedLine, "nudged_line").text.startswith("A fault is hidden")
    session.network_focus.release()
    session.network_focus.choose_cell(NetworkCell("z", (0,), False))
    scene.settle()
    assert why.shown is not None, "a value is right"
    session.network_focus.choose_cell(NetworkCell("z", (0,), True))
    session.module_checks.check_all()
    scene.settle()
    assert session.module_checks.found is not None
    assert why.shown is not None
