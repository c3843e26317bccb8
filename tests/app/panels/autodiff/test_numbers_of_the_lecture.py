"""What the lecture's net and the diamond come to, step by step, read off the window as a person would."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QSlider

from lmviz.app.widgets.diagrams.network_values import ValueCell
from lmviz.app.widgets.text.arithmetic_card import ArithmeticCard
from lmviz.autodiff.sabotage import ONES
from tests.app.panels.autodiff.conftest import Scene

ONLY_PANELS = ("graph", "tape", "network_why", "nudge", "descent")

VALUES = {
    "a": (0, 0.5),
    "z": (0.5, 0.622459),
    "b": (-0.122459, 1.494919, -0.188770),
    "ŷ": (0.143355, 0.722488, 0.134157),
    "J": 0.325054,
}
"""In the order in which they are computed."""
ERRORS = {-1: 3.6e-5, -2: 3.6e-7, -3: 3.6e-9}
"""The largest for β, by the exponent of ε."""


GRADIENTS = (
    {"ŷ": (0, -1.384106, 0)},
    {"b": (0.143355, -0.277512, 0.134157)},
    {
        "β": ((0.071677, 0.089233), (-0.138756, -0.172740), (0.067079, 0.083507)),
        "z": (-0.129558, -0.631300),
    },
    {"a": (-0.032390, -0.148358)},
    {"α": ((-0.032390, -0.064779), (-0.148358, -0.296716)), "x": (0.132163, -0.103171)},
)
"""What each pop sends back."""


def choose(scene: Scene, name: str, index: tuple[int, ...], *, gradient: bool) -> None:
    """Pin a cell by a click, and point at nothing."""
    QTest.mouseClick(scene.picture, Qt.MouseButton.LeftButton, pos=scene.place(name, index, gradient))
    QTest.mouseMove(scene.picture, QPoint(1, 1))
    scene.settle()


def told(scene: Scene) -> list[float]:
    """The values of the lines in the card that says why, the whole last."""
    card = scene.panel("network_why_view").findChild(ArithmeticCard)
    return [float(row.value.replace("−", "-")) for row in card.rows]


@pytest.mark.slow
def test_each_push_shows_the_values_that_it_computes(scene: Scene) -> None:
    scene.click("tape_rewind")
    for name, numbers in VALUES.items():
        assert scene.picture.figure(ValueCell(name, (0,) * np.ndim(numbers), False)) == ""
        scene.click("tape_forward")
        for index, expected in np.ndenumerate(numbers):
            assert scene.read(name, index) == pytest.approx(expected, abs=5e-7)


def test_the_cells_show_every_number_of_the_lecture_forward_and_back(scene: Scene) -> None:
    scene.click("network_picture_larger")
    scene.click("tape_rewind")
    for name, numbers in VALUES.items():
        scene.click("tape_forward")
        for index, expected in np.ndenumerate(numbers):
            assert scene.drawn(name, index) == pytest.approx(expected, abs=6e-7)
    assert scene.picture.figure(ValueCell("J", (), False)) == "0.325054"
    for sent_back in GRADIENTS:
        for name, numbers in sent_back.items():
            index = next(np.ndindex(np.shape(numbers)))
            assert scene.picture.figure(ValueCell(name, index, True)) == ""
        scene.click("tape_backward")
        for name, numbers in sent_back.items():
            for index, expected in np.ndenumerate(numbers):
                assert scene.drawn(name, index, gradient=True) == pytest.approx(expected, abs=6e-7)


@pytest.mark.slow
def test_each_pop_below_zero_takes_a_push_back(scene: Scene) -> None:
    scene.click("tape_rewind")
    for _ in range(3):
        scene.click("tape_forward")
    scene.click("tape_backward")  # the forward pass is not over: a push is undone, and nothing sent back
    assert scene.picture.figure(ValueCell("b", (0,), False)) == ""
    assert scene.read("z", (1,)) == pytest.approx(0.622459, abs=5e-7)
    assert "2 pushed · 0 popped" in scene.panel("tape_view").card.aside


def test_the_error_over_epsilon_has_both_slopes(scene: Scene) -> None:
    scene.click("tape_run_backward")
    choose(scene, "β", (1, 0), gradient=True)
    errors = scene.panel("nudge_view").exported_arrays()
    fine, coarse = (errors[f"error in {kind}, worst cell"] for kind in ("float64", "float32"))
    error = {round(np.log10(eps), 1): float(found) for eps, found in fine}
    for exponent, expected in ERRORS.items():
        assert error[exponent] == pytest.approx(expected, rel=0.02)
    best, rounded, worst = error[-5], error[-8], error[-12]
    assert best < 2e-11 < 1e-9 < rounded < 1e-7 < 1e-6 < worst < 1e-3
    for curve, straight in ((fine, (1e-2, 1e-1)), (coarse, (1e-5, 1e-3))):
        logs = np.log10(curve[(curve[:, 0] >= straight[0] * 0.99) & (curve[:, 0] <= straight[1] * 1.01)])
        slope = np.polyfit(logs[:, 0], logs[:, 1], 1)[0]
        assert slope == pytest.approx(2 if curve is fine else -1, abs=0.4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rate", "after", "exact", "line"),
    [(0.1, 0.3066, 0.306588, 0.3062), (0.5, 0.2413, 0.241334, 0.2306)],
    ids=["0.1", "0.5"],
)
def test_a_step_beside_what_a_straight_line_says(
    scene: Scene, rate: float, after: float, exact: float, line: float
) -> None:
    slider = scene.find(QSlider, "rate_slider")
    slider.setValue(slider.value() + (2 if rate == 0.5 else 0))
    scene.settle()
    labels = [label.text() for label in scene.panel("descent_view").findChildren(QLabel)]
    [said] = [words for words in labels if "a straight line" in words]
    assert float(said.rpartition(" ")[2]) == pytest.approx(line, abs=1e-4)
    scene.click("network_picture_larger")
    scene.click("take_step_button")
    assert scene.find(QLabel, "descent_losses").text() == f"0.3251 → {after}"
    assert scene.drawn("J") == pytest.approx(exact, abs=6e-7)


def test_with_a_gradient_that_begins_at_one_the_rows_of_beta_are_wrong_by_z(scene: Scene) -> None:
    checks = scene.session.module_checks
    for seed in range(200):
        checks.hide_fault(seed)
        if scene.session.network.current["b"].begins_at == 1:
            break
    else:
        pytest.fail("the fault of the slide never came up")
    scene.click("tape_run_backward")
    scene.click("network_picture_larger")
    right = ((0.071677, 0.089233), (-0.138756, -0.172740), (0.067079, 0.083507))
    for row, column in np.ndindex(3, 2):
        wrong = right[row][column] + (0.5, 0.622459)[column]
        assert scene.drawn("β", (row, column), gradient=True) == pytest.approx(wrong, abs=2e-6)
    scene.click("check_b")
    assert ONES in scene.find(QLabel, "saboteur_verdict").text()


@pytest.mark.slow
def test_the_diamond_gathers_six_and_two_and_adds_up_two_and_then_six(scene: Scene) -> None:
    scene.session.network.open_shipped("diamond")
    scene.settle()
    scene.click("network_picture_larger")
    scene.click("tape_backward")
    assert scene.picture.figure(ValueCell("v", (), True)) == ""
    for so_far in (2, 8):
        scene.click("tape_backward")
        assert scene.drawn("v", gradient=True) == so_far
    scene.click("version_a_button")
    choose(scene, "v", (), gradient=True)
    assert told(scene) == [6, 2, 8]
