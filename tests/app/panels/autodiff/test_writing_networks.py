"""Networks are written, said to be wrong at their line, shipped, saved, opened and told to PyTorch."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QFileDialog, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.diagrams.network_values import ValueCell
from lmviz.app.widgets.text.network_editor import NetworkEditor
from tests.app.panels.autodiff.conftest import Scene


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "parameter x = -1\ny = log(x)",
        pytest.param("parameter x = 1000\ny = exp(x)", marks=pytest.mark.slow),
        pytest.param("parameter x = [0; 0]\ny = cross_entropy([1; 0], x)", marks=pytest.mark.slow),
        pytest.param("x = [1 2; 3 4]\ny = matmul(x, x)", marks=pytest.mark.slow),
        "parameter U = 1\nh[0] = 1\nfor t in 1..40:\n  h[t] = multiply(U, h[t-1])",
        "parameter W = [" + "; ".join(" ".join(["0.1"] * 20) for _ in range(20)) + "]\ny = softmax(W)",
    ],
    ids=["not a number", "infinite", "log 0", "no parameter", "long", "wide"],
)
def test_any_network_can_be_looked_at(scene: Scene, text: str) -> None:
    scene.session.network.write(text)
    scene.settle()
    scene.click("tape_run_backward")
    scene.session.descent.descend(3)
    scene.settle()
    for panel in scene.view.panels:
        panel.catch_up()
        assert not panel.grab().isNull()


@pytest.mark.slow
def test_all_that_shows_the_text_before_a_mistake_is_pale_and_says_so(scene: Scene, qtbot: QtBot) -> None:
    text = scene.session.network.text
    others = [panel for panel in scene.view.panels if panel.objectName() != "autodiff_editor_view"]
    assert others
    scene.session.network.write(text.replace("sigmoid", "sigmod"))
    for panel in others:
        scene.view.bring_forward(panel.objectName())
        qtbot.waitUntil(lambda panel=panel: panel.card.late == "of the text before")
        panel.catch_up()
        assert panel.card.late, "what it draws is still of that text"
    scene.view.bring_forward("autodiff_editor_view")
    scene.settle()
    counted = [line.text for line in scene.view.findChildren(MutedLine) if "mistake" in line.text]
    assert counted == ["1 mistake"]
    scene.session.network.write(text)
    assert not any(panel.card.late for panel in others)
    scene.settle()
    assert not any(panel.card.late for panel in others)


def test_a_fault_is_said_at_its_line_and_the_graph_stays(scene: Scene, qtbot: QtBot) -> None:
    editor = scene.find(NetworkEditor, "autodiff_editor")
    text = editor.toPlainText()
    with qtbot.waitSignal(editor.text_written):
        editor.setPlainText(text.replace("sigmoid", "sigmod"))
    scene.settle()
    line = text.splitlines().index("z = sigmoid(a)") + 1
    assert "did you mean sigmoid?" in editor.faults[line]
    assert f"Line {line}" in scene.find(QLabel, "autodiff_fault").text()
    assert scene.read("J") == pytest.approx(0.325054, abs=5e-7)
    with qtbot.waitSignal(editor.text_written):
        editor.setPlainText(text.replace("sigmoid", "tanh"))
    scene.settle()
    assert editor.faults == {}
    assert scene.read("z", (1,)) == pytest.approx(np.tanh(0.5), abs=1e-6)


def test_what_is_typed_is_read_by_itself(scene: Scene, qtbot: QtBot) -> None:
    editor = scene.find(NetworkEditor)
    editor.setFocus()
    editor.selectAll()
    QTest.keyClicks(editor, "x = 3")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    QTest.keyClicks(editor, "y = square(x)")
    qtbot.waitUntil(lambda: "J" not in scene.session.network.current)
    scene.settle()
    assert scene.read("y") == 9


@pytest.mark.slow
def test_every_shipped_network_is_drawn(scene: Scene) -> None:
    picker = scene.find(QComboBox, "network_picker")
    for at in range(picker.count()):
        picker.setCurrentIndex(at)
        picker.activated.emit(at)
        scene.settle()
        assert scene.session.network.title == picker.currentText()
        scene.click("tape_run_backward")
        net = scene.session.network.current
        boxes = [scene.picture.box_rectangle(node.name) for node in net]
        for place, box in enumerate(boxes):
            assert not any(box.adjusted(1, 1, -1, -1).intersects(other) for other in boxes[:place])
        for node in net:
            assert scene.picture.figure(ValueCell(node.name, (0,) * len(node.shape), True)) != ""


def test_a_network_is_saved_and_opened(scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mine.net"
    scene.session.network.edit("x", (0,), 7)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *a, **k: (str(path), ""))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *a, **k: (str(path), ""))
    scene.click("save_network_button")
    scene.session.network.open_shipped("diamond")
    scene.click("open_network_button")
    assert scene.session.network.current["x"].value.tolist() == [7, 2]
    assert scene.session.network.title == "mine"


@pytest.mark.slow
def test_a_text_with_a_mistake_is_saved_as_it_is_typed_and_is_no_program(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, network = tmp_path / "mine.net", scene.session.network
    editor, panel = scene.find(NetworkEditor), scene.panel("autodiff_editor_view")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *a, **k: (str(path), ""))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *a, **k: (str(path), ""))
    typed = editor.toPlainText().replace("sigmoid", "sigmod")
    editor.setPlainText(typed)
    scene.click("save_network_button")
    assert path.read_text(encoding="utf-8") == typed
    assert panel.recipe() == ""
    assert not scene.find(QPushButton, "torch_button").isEnabled()
    network.open_shipped("diamond")
    scene.settle()
    assert panel.recipe() != ""
    scene.click("open_network_button")
    assert (editor.toPlainText(), network.title) == (typed, "mine")
    assert len(network.faults) == 1


@pytest.mark.slow
def test_a_file_that_is_no_text_is_said_in_the_card(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "strange.net"
    path.write_bytes(b"\xff\xfe\x00")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *a, **k: (str(path), ""))
    scene.click("open_network_button")
    assert "is not a text" in scene.panel("autodiff_editor_view").card.complaint


@pytest.mark.slow
def test_the_program_for_torch_goes_to_the_clipboard(scene: Scene) -> None:
    scene.click("torch_button")
    assert "torch.sigmoid" in QGuiApplication.clipboard().text()


@pytest.mark.slow
def test_the_program_for_torch_is_of_what_was_typed_just_before(scene: Scene) -> None:
    editor = scene.find(NetworkEditor)
    text = editor.toPlainText()
    editor.setPlainText(text.replace("sigmoid", "tanh"))
    scene.click("torch_button")
    assert "torch.tanh" in QGuiApplication.clipboard().text()
    QGuiApplication.clipboard().setText("before")
    editor.setPlainText(text.replace("sigmoid", "sigmod"))
    scene.click("torch_button")
    assert QGuiApplication.clipboard().text() == "before"
