"""Gradients are checked by nudging, number by number and module by module, and a hidden fault is found."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton

from lmviz.app.session.network_focus import NetworkCell
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.app.widgets.text.agreeing_digits import AgreeingDigits
from lmviz.autodiff.names import cell_label
from tests.app.panels.autodiff.conftest import Scene


def test_nudging_agrees_with_the_gradient(scene: Scene) -> None:
    scene.click("tape_run_backward")
    QTest.mouseClick(scene.picture, Qt.MouseButton.LeftButton, pos=scene.place("β", (1, 0), True))
    scene.settle()
    digits, plot = scene.find(AgreeingDigits), scene.find(LinePlot, "error_plot")
    assert digits.lines[3].text.startswith("−0.1387559863")
    assert digits.verdict == "10 digits agree"
    assert list(plot.curves) == ["float64", "float32"]
    best = plot.points()["float64"]
    assert 1e-6 < best[best[:, 1].argmin(), 0] < 1e-4
    plot.cursor_moved.emit(1e-12)
    assert int(digits.verdict.partition(" ")[0]) < 6


@pytest.mark.slow
def test_it_begins_at_a_number_that_is_learned_and_not_at_the_output(scene: Scene) -> None:
    scene.settle()
    net, caption = scene.session.network.current, scene.find(QLabel, "nudged_cell")
    swept = net.copy().backward()
    largest = max(np.abs(node.gradient).max() for node in swept.parameters)
    found = scene.session.network_focus.nudged
    assert abs(swept[found.name].gradient[found.place]) == largest
    assert caption.text().startswith(f"θ is {cell_label(found.name, found.place)}, ")
    scene.session.network_focus.choose_cell(NetworkCell("J", (), False))
    scene.settle()
    assert caption.text().startswith("θ is J, ")


@pytest.mark.slow
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


@pytest.mark.slow
def test_too_many_numbers_to_nudge_are_said(scene: Scene) -> None:
    rows = "; ".join(" ".join(["0.1"] * 50) for _ in range(50))
    calls = "\n".join(f"y{at} = softmax({'W' if not at else f'y{at - 1}'})" for at in range(9))
    scene.session.network.write(f"parameter W = [{rows}]\n{calls}")
    scene.settle()
    scene.click("nudge_all_button")
    assert "2,500 numbers takes too long" in scene.panel("nudge_view").card.complaint


@pytest.mark.slow
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


@pytest.mark.slow
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
