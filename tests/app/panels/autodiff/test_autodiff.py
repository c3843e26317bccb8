"""The Autodiff perspective: the tape steps, every number can be read off, changed, explained and checked."""

import time
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QFileDialog, QLabel, QLineEdit, QPushButton, QSlider
from pytestqt.qtbot import QtBot

from lmviz.app.opening.settings import Settings
from lmviz.app.session.network_focus import NetworkCell
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.diagrams.network_values import Cell
from lmviz.app.widgets.plots.error_plot import ErrorPlot
from lmviz.app.widgets.plots.loss_surface import LossSurface
from lmviz.app.widgets.text.agreeing_digits import AgreeingDigits
from lmviz.app.widgets.text.arithmetic_card import ArithmeticCard
from lmviz.app.widgets.text.network_editor import NetworkEditor
from lmviz.app.window.main_window import MainWindow
from tests.app.panels.autodiff.conftest import Scene

GRADIENTS = {
    "ŷ": (0, -1.384106, 0),
    "b": (0.143355, -0.277512, 0.134157),
    "β": ((0.071677, 0.089233), (-0.138756, -0.172740), (0.067079, 0.083507)),
    "z": (-0.129558, -0.631300),
    "a": (-0.032390, -0.148358),
    "α": ((-0.032390, -0.064779), (-0.148358, -0.296716)),
    "x": (0.132163, -0.103171),
}
ARRIVING = (("ŷ",), ("b",), ("β", "z"), ("a",), ("α", "x"))
"""Which gradients each pop sends back, when they are added up."""


def test_it_follows_compare_on_ctrl_7(window: MainWindow) -> None:
    QTest.keyClick(window, Qt.Key.Key_7, Qt.KeyboardModifier.ControlModifier)
    assert window.perspective_name == "autodiff"
    assert not window.prefix_bar.isVisible()
    window.show_perspective("inside")
    assert window.prefix_bar.isVisible()


def test_escape_releases_the_cell(window: MainWindow, session: Session) -> None:
    window.show_perspective("autodiff")
    session.network_focus.choose_cell(NetworkCell("z", (0,), False))
    QTest.keyClick(window, Qt.Key.Key_Escape)
    assert session.network_focus.pinned is None


def test_it_works_before_torch_is_loaded(tmp_path: Path, settings: Settings, qtbot: QtBot) -> None:
    session = Session(tmp_path / "runs")  # its reading thread is never started
    window = MainWindow(session, settings)
    qtbot.addWidget(window)
    window.resize(1440, 900)
    window.show()
    window.show_perspective("autodiff")
    scene = Scene(window.perspective, session, qtbot)
    scene.settle()
    scene.click("tape_backward")
    assert scene.read("J") == pytest.approx(0.325054, abs=5e-7)
    assert not session.work.is_ready
    session.close()


def test_the_tape_of_the_lectures_net_forward_and_back(scene: Scene) -> None:
    scene.click("tape_rewind")
    assert scene.picture.figure(Cell("J", (), False)) == ""
    for count in range(1, 6):
        scene.click("tape_forward")
        assert f"{count} pushed · 0 popped" in scene.panel("tape_view").card.aside
    assert scene.read("J") == pytest.approx(0.325054, abs=5e-7)
    assert not scene.find(QPushButton, "tape_forward").isEnabled()
    for count, names in enumerate(ARRIVING, start=1):
        scene.click("tape_backward")
        assert f"5 pushed · {count} popped" in scene.panel("tape_view").card.aside
        for name in names:
            for index, expected in np.ndenumerate(GRADIENTS[name]):
                assert scene.read(name, index, gradient=True) == pytest.approx(expected, abs=5e-7)
        later = [name for names in ARRIVING[count:] for name in names]
        for name in later:
            assert scene.picture.figure(Cell(name, (0,) * np.ndim(GRADIENTS[name]), True)) == ""
    assert not scene.find(QPushButton, "tape_backward").isEnabled()
    scene.click("tape_forward")
    assert scene.picture.figure(Cell("α", (0, 0), True)) == ""


def test_gathering_gives_the_same_gradients(scene: Scene) -> None:
    scene.click("version_a_button")
    scene.click("tape_backward")
    assert scene.picture.figure(Cell("ŷ", (0,), True)) == ""  # it is gathered when it is popped itself
    scene.click("tape_run_backward")
    for name, numbers in GRADIENTS.items():
        for index, expected in np.ndenumerate(numbers):
            assert scene.read(name, index, gradient=True) == pytest.approx(expected, abs=5e-7)


def test_one_step_is_painted_within_a_frame(scene: Scene, qapp) -> None:
    taken = []
    for _ in range(12):
        for act in (scene.session.network.pop, scene.session.network.push):
            began = time.thread_time()
            act()
            scene.panel("graph_view").catch_up()
            scene.panel("tape_view").catch_up()
            scene.picture.repaint()
            taken.append(time.thread_time() - began)
            scene.settle()
    assert sorted(taken)[len(taken) // 4] < 0.016


def test_a_number_that_is_typed_changes_all_that_follows(scene: Scene) -> None:
    scene.click("tape_run_backward")
    before = scene.read("ŷ", (1,), gradient=True)
    QTest.mouseDClick(scene.picture, Qt.MouseButton.LeftButton, pos=scene.place("x", (0,), False))
    edit = scene.picture.findChild(QLineEdit, "number_edit")
    edit.setText("5")
    QTest.keyClick(edit, Qt.Key.Key_Return)
    scene.settle()
    assert scene.read("x", (0,)) == 5
    assert scene.read("a", (0,)) == 2
    assert scene.read("ŷ", (1,), gradient=True) != before
    assert "x = [5; 2]" in scene.find(NetworkEditor).toPlainText()


def test_a_number_that_is_dragged_changes(scene: Scene) -> None:
    start = scene.place("z", (1,), False)
    QTest.mousePress(scene.picture, Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(scene.picture, start - QPoint(0, 30))
    QTest.mouseRelease(scene.picture, Qt.MouseButton.LeftButton, pos=start - QPoint(0, 30))
    scene.settle()
    assert scene.read("z", (1,)) == pytest.approx(0.622459 + 0.3, abs=1e-6)
    assert scene.session.network.current["z"].held is not None
    assert scene.read("J") != pytest.approx(0.325054, abs=1e-6)


def test_typing_nothing_has_a_value_computed_again(scene: Scene) -> None:
    for text, expected in (("0.9", 0.9), ("", 0.622459)):
        QTest.mouseDClick(scene.picture, Qt.MouseButton.LeftButton, pos=scene.place("z", (1,), False))
        edit = scene.picture.findChild(QLineEdit, "number_edit")
        edit.setText(text)
        QTest.keyClick(edit, Qt.Key.Key_Return)
        scene.settle()
        assert scene.read("z", (1,)) == pytest.approx(expected, abs=5e-7)


def test_a_weight_can_be_typed_on_any_of_its_arrows(scene: Scene) -> None:
    scene.session.network.open_shipped("summation")
    scene.settle()
    field = scene.picture.field_rectangle("h[3]·1", "U").center().toPoint()
    QTest.mouseDClick(scene.picture, Qt.MouseButton.LeftButton, pos=field)
    edit = scene.picture.findChild(QLineEdit, "number_edit")
    edit.setText("0.9")
    QTest.keyClick(edit, Qt.Key.Key_Return)
    scene.settle()
    assert scene.session.network.current["U"].value == 0.9
    assert scene.read("y") == pytest.approx(2.953)


def test_escape_leaves_a_number_as_it_was(scene: Scene) -> None:
    QTest.mouseDClick(scene.picture, Qt.MouseButton.LeftButton, pos=scene.place("x", (0,), False))
    edit = scene.picture.findChild(QLineEdit, "number_edit")
    edit.setText("7")
    QTest.keyClick(edit, Qt.Key.Key_Escape)
    assert not edit.isVisible()
    assert scene.read("x", (0,)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "parameter x = -1\ny = log(x)",
        "parameter x = 1000\ny = exp(x)",
        "parameter x = [0; 0]\ny = cross_entropy([1; 0], x)",
        "x = [1 2; 3 4]\ny = matmul(x, x)",
        "parameter U = 1\nh[0] = 1\nfor t in 1..40:\n  h[t] = multiply(U, h[t-1])",
        "parameter W = [" + "; ".join(" ".join(["0.1"] * 20) for _ in range(20)) + "]\ny = softmax(W)",
    ],
    ids=["not a number", "infinite", "log 0", "no parameter", "long", "wide"],
)
def test_any_network_can_be_looked_at(scene: Scene, text: str) -> None:
    scene.session.network.write(text)
    scene.settle()
    scene.click("tape_run_backward")
    scene.session.descent.take(3)
    scene.settle()
    for panel in scene.view.panels:
        panel.catch_up()
        assert not panel.grab().isNull()


def test_why_this_gradient_and_its_operands_in_the_graph(scene: Scene) -> None:
    scene.click("tape_run_backward")
    QTest.mouseClick(scene.picture, Qt.MouseButton.LeftButton, pos=scene.place("β", (1, 0), True))
    QTest.mouseMove(scene.picture, QPoint(1, 1))
    scene.settle()
    panel = scene.panel("network_why_view")
    assert panel.card.title == "Why −0.1388?"
    assert panel.card.aside == "gradient of β, row 1, column 0"
    assert panel.shown.evaluate() == pytest.approx(-0.138756, abs=5e-7)
    assert scene.picture.operands == {Cell("b", (1,), True), Cell("z", (0,), False)}
    assert scene.find(MutedLine, "nudged_line").text == "nudging says the same: 10 digits"
    card = panel.findChild(ArithmeticCard)
    card.operand_clicked.emit("gradient/b", (1,))
    scene.settle()
    assert panel.card.aside == "gradient of b, cell 1"


def test_every_cell_can_be_explained_by_hovering_it(scene: Scene) -> None:
    scene.click("tape_run_backward")
    panel = scene.panel("network_why_view")
    for name in ("J", "b", "z"):
        for gradient in (False, True):
            value = scene.read(name, (0,) * len(scene.session.network.current[name].shape), gradient=gradient)
            scene.settle()
            assert panel.shown.value == pytest.approx(value, abs=1e-6)
            assert panel.shown.evaluate() == pytest.approx(panel.shown.value)


def test_line_box_and_entry_mark_the_same_module(scene: Scene) -> None:
    tape = scene.panel("tape_view")
    [at] = [place for place, entry in enumerate(tape.entries) if entry.name == "b"]
    tape_list = tape.tape
    QTest.mouseMove(tape_list, QPoint(1, 1))
    QTest.mouseMove(tape_list, tape_list.entry_rectangle(at).center().toPoint())
    scene.settle()
    assert scene.picture.lit == "b"
    assert scene.find(NetworkEditor).lit == scene.session.network.current["b"].line


def test_a_fault_is_said_at_its_line_and_the_graph_stays(scene: Scene, qtbot: QtBot) -> None:
    editor = scene.find(NetworkEditor, "autodiff_editor")
    text = editor.toPlainText()
    editor.setPlainText(text.replace("sigmoid", "sigmod"))
    editor.read_now()
    scene.settle()
    line = text.splitlines().index("z = sigmoid(a)") + 1
    assert "did you mean sigmoid?" in editor.faults[line]
    assert f"Line {line}" in scene.find(QLabel, "autodiff_fault").text()
    assert scene.read("J") == pytest.approx(0.325054, abs=5e-7)
    editor.setPlainText(text.replace("sigmoid", "tanh"))
    editor.read_now()
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
            assert scene.picture.figure(Cell(node.name, (0,) * len(node.shape), True)) != ""


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


def test_a_file_that_is_no_text_is_said_in_the_card(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "strange.net"
    path.write_bytes(b"\xff\xfe\x00")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *a, **k: (str(path), ""))
    scene.click("open_network_button")
    assert "is not a text" in scene.panel("autodiff_editor_view").card.complaint


def test_the_program_for_torch_goes_to_the_clipboard(scene: Scene) -> None:
    scene.click("torch_button")
    assert "torch.sigmoid" in QGuiApplication.clipboard().text()


def test_nudging_agrees_with_the_gradient(scene: Scene) -> None:
    scene.click("tape_run_backward")
    QTest.mouseClick(scene.picture, Qt.MouseButton.LeftButton, pos=scene.place("β", (1, 0), True))
    scene.settle()
    digits, plot = scene.find(AgreeingDigits), scene.find(ErrorPlot)
    assert digits.lines[3].text.startswith("−0.1387559863")
    assert digits.verdict == "10 digits agree"
    assert list(plot.curves) == ["float64, worst cell", "float32, worst cell"]
    best = plot.curves["float64, worst cell"]
    assert 1e-6 < best[best[:, 1].argmin(), 0] < 1e-4
    QTest.mouseClick(plot, Qt.MouseButton.LeftButton, pos=plot.place_of(1e-12, 1e-6).toPoint())
    assert int(digits.verdict.partition(" ")[0]) < 6


def test_all_numbers_are_nudged_together_until_one_changes(scene: Scene) -> None:
    caption = scene.find(QLabel, "nudged_cell")
    scene.click("nudge_all_button")
    checked = scene.session.network.current.check()
    assert len(checked.cells) == 10
    assert "Of all 10 numbers nudged" in caption.text()
    assert f"{checked.digits} digits agree" in caption.text()
    assert checked.digits >= 9
    scene.session.network.edit("x", (0,), 2)
    scene.settle()
    assert "Of all" not in caption.text()


def test_a_hidden_fault_shows_when_all_numbers_are_nudged(scene: Scene) -> None:
    checks = scene.session.module_checks
    for seed in range(20):
        checks.hide_fault(seed)
        scene.click("nudge_all_button")
        if not checks.nudged.agrees:
            break
    else:
        pytest.fail("no fault reached a parameter")
    assert checks.nudged.digits < 3


def test_too_many_numbers_to_nudge_are_said(scene: Scene) -> None:
    rows = "; ".join(" ".join(["0.1"] * 50) for _ in range(50))
    calls = "\n".join(f"y{at} = softmax({'W' if not at else f'y{at - 1}'})" for at in range(9))
    scene.session.network.write(f"parameter W = [{rows}]\n{calls}")
    scene.settle()
    scene.click("nudge_all_button")
    assert "2,500 numbers takes too long" in scene.panel("nudge_view").card.complaint


def test_the_saboteur_is_found_by_checking_modules(scene: Scene) -> None:
    checks = scene.session.module_checks
    scene.click("saboteur_button")
    verdict = scene.find(QLabel, "saboteur_verdict")
    assert "A fault is hidden" in verdict.text()
    names = [node.name for node in scene.session.network.current.tape.modules]
    count = 0
    for name in names:
        count += 1
        scene.click(f"check_{name}")
        marked = scene.find(QPushButton, f"check_{name}").text()
        if checks.found is not None:
            assert marked.startswith("✗")
            break
        assert marked.startswith("✓")
    assert verdict.text().startswith(f"Found after {count} check")
    scene.click("saboteur_button")
    scene.click("check_all_button")
    assert verdict.text() == "5 checks, all right."


def test_a_hidden_fault_changes_the_gradients_and_mending_brings_them_back(scene: Scene) -> None:
    scene.click("tape_run_backward")
    right = scene.session.network.current["α"].gradient.copy()
    for seed in range(20):
        scene.session.module_checks.hide_fault(seed)
        if not np.allclose(scene.session.network.current["α"].gradient, right):
            break
    else:
        pytest.fail("no fault reached α")
    scene.session.network.edit("x", (0,), 3)
    scene.session.module_checks.mend()
    assert scene.session.network.current["x"].value[0] == 3
    scene.session.network.edit("x", (0,), 1)
    np.testing.assert_allclose(scene.session.network.current["α"].gradient, right)


def test_one_step_of_gradient_descent_and_back(scene: Scene) -> None:
    assert scene.find(QLabel, "descent_losses").text() == "0.3251 → 0.3066"
    scene.click("take_step_button")
    assert scene.read("J") == pytest.approx(0.306588, abs=5e-7)
    scene.click("undo_step_button")
    assert scene.read("J") == pytest.approx(0.325054, abs=5e-7)
    slider = scene.find(QSlider, "rate_slider")
    slider.setValue(slider.value() + 2)
    scene.settle()
    assert scene.session.descent.rate == 0.5
    scene.click("take_step_button")
    assert scene.read("J") == pytest.approx(0.241334, abs=5e-7)


@pytest.fixture
def training(scene: Scene, qtbot: QtBot) -> Scene:
    """The scene with the tab of the training in front."""
    scene.panel("surface_view").parent().raise_()
    scene.settle()
    qtbot.waitUntil(lambda: scene.panel("surface_view").isVisible())
    return scene


def test_training_draws_its_path_over_the_surface(training: Scene) -> None:
    training.click("train_network_button")
    surface = training.find(LossSurface)
    assert surface.path.shape == (51, 2)
    losses = training.session.descent.losses
    assert losses[50] < losses[0]
    slider = training.find(QSlider, "descent_slider")
    slider.setValue(0)
    training.settle()
    assert training.read("J") == pytest.approx(0.325054, abs=5e-7)
    slider.setValue(50)
    training.settle()
    assert training.read("J") == pytest.approx(losses[50], abs=1e-6)
    picker = training.find(QComboBox, "across_picker")
    picker.setCurrentText("α[0, 0]")
    picker.activated.emit(picker.currentIndex())
    training.settle()
    assert training.session.descent.chosen[0].name == "α"
    np.testing.assert_allclose(surface.path[0, 0], 0.5)


def test_changing_a_number_by_hand_begins_a_new_path(scene: Scene) -> None:
    scene.click("take_step_button")
    assert scene.session.descent.place == 1
    scene.session.network.edit("x", (0,), 2)
    scene.settle()
    assert scene.session.descent.place == 0
    assert not scene.find(QPushButton, "undo_step_button").isEnabled()


def test_a_network_without_parameters_says_how_to_have_one(scene: Scene) -> None:
    scene.session.network.open_shipped("poll")
    scene.settle()
    assert not scene.find(QPushButton, "take_step_button").isEnabled()


def test_the_space_bar_plays_the_tape(window: MainWindow, session: Session, qtbot: QtBot) -> None:
    window.resize(1440, 900)
    window.show_perspective("autodiff")
    scene = Scene(window.perspective, session, qtbot)
    scene.settle()
    scene.click("tape_rewind")
    window.setFocus()
    QTest.keyClick(window, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: session.network.current.tape.pushed >= 2, timeout=5000)
    QTest.keyClick(window, Qt.Key.Key_Space)
    assert not scene.panel("tape_view").is_playing


def test_the_keyboard_goes_from_cell_to_cell_and_types(scene: Scene) -> None:
    picture = scene.picture
    picture.setFocus()
    for _ in range(40):
        if scene.session.network_focus.pinned is not None and scene.session.network_focus.pinned[0] == "x":
            break
        QTest.keyClick(picture, Qt.Key.Key_Right)
        scene.settle()
    QTest.keyClick(picture, Qt.Key.Key_Return)
    edit = picture.findChild(QLineEdit, "number_edit")
    edit.setText("not a number")
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert not edit.isVisible()
    assert not any(each.isVisible() for each in picture.findChildren(QLineEdit))
    QTest.mouseMove(picture, QPoint(3, 3))
    assert scene.read("x", (0,)) == 1
    assert "x: 1, 2" in picture.accessibleDescription()


def test_the_numbers_that_are_exported_are_those_of_the_recipe(scene: Scene) -> None:
    scene.click("tape_run_backward")
    panel = scene.panel("graph_view")
    space: dict[str, object] = {}
    exec(panel.recipe().replace("print", "len([value.name]) or "), space)
    for node in space["net"]:
        np.testing.assert_array_equal(panel.exported_arrays()[node.name], node.value)
        np.testing.assert_array_equal(panel.exported_arrays()[f"gradient/{node.name}"], node.gradient)


def test_recipes_run(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    scene.click("tape_run_backward")
    for panel in scene.view.panels:
        if panel.recipe():
            exec(panel.recipe(), {})
    assert "0.30658" in capsys.readouterr().out
