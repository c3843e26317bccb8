"""The Autodiff perspective in the window: its key, what its panels have in common, and its exports."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from lmviz.app.opening.settings import Settings
from lmviz.app.session.network_focus import NetworkCell
from lmviz.app.session.session import Session
from lmviz.app.widgets.text.network_editor import NetworkEditor
from lmviz.app.window.main_window import MainWindow
from tests.app.panels.autodiff.conftest import Scene


@pytest.mark.slow
def test_it_follows_compare_on_ctrl_7(window: MainWindow) -> None:
    QTest.keyClick(window, Qt.Key.Key_8, Qt.KeyboardModifier.ControlModifier)
    assert window.perspective_name == "autodiff"
    assert not window.prefix_bar.isVisible()
    window.show_perspective("inside")
    assert window.prefix_bar.isVisible()


@pytest.mark.slow
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


def test_line_box_and_entry_mark_the_same_module(scene: Scene) -> None:
    tape = scene.panel("tape_view")
    [at] = [place for place, entry in enumerate(tape.entries) if entry.name == "b"]
    tape_list = tape.tape
    QTest.mouseMove(tape_list, QPoint(1, 1))
    QTest.mouseMove(tape_list, tape_list.part_rectangle(at).center().toPoint())
    scene.settle()
    assert scene.picture.lit == "b"
    assert scene.find(NetworkEditor).lit == scene.session.network.current["b"].line


@pytest.mark.slow
def test_a_line_is_marked_where_it_stands_after_the_steps_of_a_loop_got_numbers_of_their_own(
    scene: Scene,
) -> None:
    network, editor = scene.session.network, scene.find(NetworkEditor)
    network.write("h[0] = 1\nfor t in 1..2:\n  W[t] = [1; 2]\n  h[t] = sum(W[t])\ny = exp(h[2])")
    network.edit("W[2]", (0,), 5)
    scene.session.network_focus.hover_module("y")
    scene.settle()
    lines = editor.toPlainText().splitlines()
    assert lines == [
        "h[0] = 1",
        "W[1] = [1; 2]",
        "W[2] = [5; 2]",
        "for t in 1..2:",
        "  h[t] = sum(W[t])",
        "y = exp(h[2])",
    ]
    assert editor.lit == 6
    assert [editor.mark_of(line) != "" for line in range(1, 7)] == [False] * 4 + [True, True]
    editor.line_hovered.emit(5)
    assert scene.session.network_focus.module == "h[2]"
    network.write(editor.toPlainText())
    assert network.faults == ()


@pytest.mark.slow
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
