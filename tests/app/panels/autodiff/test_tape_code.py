"""The tape as code beside the graph, the slip as a switch, and a loop with its loss at each step."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLabel
from pytestqt.qtbot import QtBot

from lmviz.app.widgets.controls.switch import Switch
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.app.widgets.text.algorithm_lines import AlgorithmLines
from tests.app.panels.autodiff.conftest import Scene


@pytest.fixture
def code(scene: Scene) -> AlgorithmLines:
    scene.view.bring_forward("tape_code_view")
    scene.settle()
    return scene.find(AlgorithmLines, "tape_code_lines")


def lit(code: AlgorithmLines) -> str:
    return code.lines[code.lit].code


def choose(scene: Scene, which: str) -> None:
    kind = scene.find(QComboBox, "code_picker")
    kind.setCurrentText(which)
    assert kind.currentText() == which
    kind.activated.emit(kind.currentIndex())


def test_the_lines_are_lit_as_the_tape_goes(scene: Scene, code: AlgorithmLines) -> None:
    scene.click("tape_rewind")
    assert code.lit == -1
    scene.click("tape_forward")
    assert lit(code) == "tape.push(self)"
    scene.click("tape_run_forward")
    scene.click("tape_backward")
    assert lit(code) == "m = tape.pop()"
    assert "g ŷ" in code.description()


def test_the_slip_is_run_and_marked(scene: Scene, code: AlgorithmLines, qtbot: QtBot) -> None:
    scene.click("tape_run_backward")
    QTest.mouseClick(scene.find(Switch, "slip_switch"), Qt.MouseButton.LeftButton)
    scene.settle()
    assert [line.code for line in code.lines if line.is_slip] == ["out_gradient = 1"]
    assert scene.find(QLabel, "graph_slip").isVisible()
    assert scene.find(QLabel, "slip_said").isVisible()
    scene.click("network_picture_larger")
    assert scene.drawn("β", (0, 0), gradient=True) == pytest.approx(0.071677 + 0.5, abs=2e-6)
    assert scene.drawn("J") == pytest.approx(0.325054, abs=1e-6)
    scene.click("check_all_button")
    assert "With the slip" in scene.find(QLabel, "saboteur_verdict").text()
    assert "3 wrong" in scene.find(QLabel, "saboteur_verdict").text()  # softmax annihilates the extra 1
    QTest.mouseClick(scene.find(Switch, "slip_switch"), Qt.MouseButton.LeftButton)
    scene.settle()
    assert not scene.find(QLabel, "graph_slip").isVisible()
    assert scene.drawn("β", (0, 0), gradient=True) == pytest.approx(0.071677, abs=2e-6)


@pytest.mark.slow
def test_a_hidden_fault_and_the_slip_are_not_mixed(scene: Scene, code: AlgorithmLines) -> None:
    scene.session.network.choose_slip(True)
    scene.session.module_checks.hide_fault(3)
    scene.settle()
    assert not scene.session.network.has_slip
    assert not scene.find(Switch, "slip_switch").isEnabled()
    scene.session.module_checks.mend()
    assert scene.find(Switch, "slip_switch").isEnabled()


@pytest.mark.slow
def test_what_is_typed_keeps_the_slip_and_another_network_ends_it(scene: Scene) -> None:
    network = scene.session.network
    network.choose_slip(True)
    network.write(network.text.replace("x = [1; 2]", "x = [1; 3]"))
    assert network.current["b"].begins_at == 1
    network.open_shipped("diamond")
    assert not network.has_slip
    assert all(node.begins_at == 0 for node in network.current)


@pytest.mark.slow
def test_an_elman_network_shows_its_loss_at_each_step(scene: Scene, code: AlgorithmLines) -> None:
    scene.session.network.open_shipped("elman")
    scene.settle()
    choose(scene, "loop over t")
    scene.click("tape_rewind")
    for _ in range(14):  # two steps of seven modules
        scene.click("tape_forward")
    assert lit(code) == "ℓ[t] = −y[t]ᵀ log ŷ[t]"
    assert scene.find(LinePlot, "step_losses").isVisible()
    assert scene.find(QLabel, "step_losses_total").text() == "2 of 4 steps: together 2.7741"


@pytest.mark.slow
def test_the_same_module_in_pytorch_has_its_lines_lit_alike(scene: Scene, code: AlgorithmLines) -> None:
    choose(scene, "in PyTorch")
    scene.click("tape_rewind")
    scene.click("tape_forward")
    assert lit(code) == "a = x @ self.α.T"
    scene.click("tape_run_forward")
    scene.click("tape_backward")
    scene.click("tape_backward")
    assert lit(code) == "loss.backward()"
    assert code.lines[code.current].code == "ŷ = torch.softmax(b, dim=-1)"
    scene.session.descent.choose_rate(0.5)
    scene.settle()
    assert any("lr=0.5" in line.code for line in code.lines)
    scene.click("copy_code_button")
    assert QGuiApplication.clipboard().text() == scene.session.network.current.torch_module(0.5)


@pytest.mark.slow
def test_a_network_without_a_loop_does_not_offer_one(scene: Scene, code: AlgorithmLines) -> None:
    scene.session.network.open_shipped("elman")
    scene.settle()
    choose(scene, "loop over t")
    scene.session.network.open_shipped("diamond")
    scene.settle()
    kind = scene.find(QComboBox, "code_picker")
    assert kind.findText("loop over t") == -1
    assert code.lines[0].code == "class Module:"
