"""The small recurrent networks of the lectures, their numbers read off the cells of the window."""

import re

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from lmviz.app.widgets.diagrams.network_values import Cell
from lmviz.app.widgets.text.arithmetic_card import ArithmeticCard
from lmviz.autodiff import shipped_network
from tests.app.panels.autodiff.conftest import Scene

SUMS = {
    1: (2, 1.5, 2.5, 3.5),
    0.9: (2, 1.3, 2.17, 2.953),
    0.5: (2, 0.5, 1.25, 1.625),
    1.1: (2, 1.7, 2.87, 4.157),
}


@pytest.fixture
def scene(scene: Scene) -> Scene:
    """The perspective so wide that all steps of a network are in sight."""
    scene.view.resize(2400, 900)
    scene.settle()
    return scene


def shown(scene: Scene, name: str, *, gradient: bool = False) -> list[float]:
    """The numbers of a node at every step from the first on, in its first cell."""
    network = scene.session.network.current
    steps = [node.name for node in network.nodes if re.fullmatch(rf"{name}\[[1-9]\]", node.name)]
    return [scene.read(step, (0,) * len(network[step].shape), gradient=gradient) for step in steps]


@pytest.mark.parametrize("recurrent", SUMS)
def test_summation(scene: Scene, recurrent: float) -> None:
    scene.session.network.open_shipped("summation")
    scene.session.network.edit("U", (), recurrent)
    scene.settle()
    scene.click("tape_run_backward")
    np.testing.assert_allclose(shown(scene, "h"), SUMS[recurrent], atol=1e-6)
    assert scene.read("x[1]", gradient=True) == pytest.approx(recurrent**3)


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("summation", {"h[1]": "2.000000", "h[2]": "1.500000", "h[3]": "2.500000", "h[4]": "3.500000"}),
        ("comparison", {"h[1]": "4.000000", "h[2]": "0.500000", "h[3]": "−0.700000"}),
        ("comparison", {"y[1]": "1.000000", "y[2]": "0.924142", "y[3]": "0.029312"}),
        ("comparison", {f"gradient x[{step}]": "0.142265" for step in (1, 2, 3)}),
        ("recurrence_tanh", {"gradient h[1]": "0.296592", "gradient h[2]": "0.510193"}),
    ],
)
def test_cells_that_are_drawn_larger_show_six_decimals(
    scene: Scene, name: str, figures: dict[str, str]
) -> None:
    scene.session.network.open_shipped(name)
    scene.settle()
    scene.click("tape_run_backward")
    scene.click("network_picture_larger")
    assert scene.picture.is_readable
    for words, expected in figures.items():
        value = words.removeprefix("gradient ")
        index = (0,) * len(scene.session.network.current[value].shape)
        assert scene.picture.figure(Cell(value, index, value != words)) == expected


def test_summation_through_tanh(scene: Scene) -> None:
    text = shipped_network("summation").text.replace("add(linear", "tanh(add(linear")
    scene.session.network.write(text.replace("x[t]))", "x[t])))"))
    scene.settle()
    np.testing.assert_allclose(shown(scene, "h"), (0.9640, 0.4334, 0.8924, 0.9556), atol=5e-5)


def test_the_second_comparison_depends_alike_on_both_steps_before_it(scene: Scene) -> None:
    text = shipped_network("comparison").text.replace("sum(y[3])", "sum(y[2])")
    scene.session.network.write(text)
    scene.settle()
    scene.click("tape_run_backward")
    for step, expected in ((1, 0.3505), (2, 0.3505), (3, 0)):
        assert scene.read(f"x[{step}]", (0,), gradient=True) == pytest.approx(expected, abs=5e-5)


def test_the_order_of_the_inputs_does_not_matter_to_the_last_comparison(scene: Scene) -> None:
    scene.session.network.open_shipped("comparison")
    scene.settle()
    before = scene.read("y[3]", (0,))
    for step, numbers in ((1, (0, 3.5)), (2, (2, -2))):
        for at, number in enumerate(numbers):
            scene.session.network.edit(f"x[{step}]", (at,), number)
    scene.settle()
    assert scene.read("h[1]", (0,)) == -3.5
    assert scene.read("y[3]", (0,)) == pytest.approx(before, abs=1e-6)


def test_summation_and_comparison(scene: Scene) -> None:
    scene.session.network.open_shipped("comparison")
    scene.settle()
    scene.click("tape_run_backward")
    np.testing.assert_allclose(shown(scene, "h"), (4, 0.5, -0.7), atol=1e-6)
    np.testing.assert_allclose(shown(scene, "y"), (1.00, 0.92, 0.03), atol=5e-3)
    for step in (1, 2, 3):
        assert scene.read(f"x[{step}]", (0,), gradient=True) == pytest.approx(0.1423, abs=5e-5)


@pytest.mark.parametrize(
    ("function", "states", "first", "of_u"),
    [
        ("tanh", (0.7616, 0.5950, 0.4896, 0.4142), 0.29659, 0.99391),
        ("sigmoid", None, 0.00865, 0.186511),
        ("identity", (1, 0.9, 0.81, 0.729), 0.729, 2.43),
    ],
)
def test_a_scalar_recurrence(
    scene: Scene, function: str, states: tuple[float, ...] | None, first: float, of_u: float
) -> None:
    scene.session.network.open_shipped(f"recurrence_{function}")
    scene.settle()
    scene.click("tape_run_backward")
    if states is not None:
        np.testing.assert_allclose(shown(scene, "h"), states, atol=5e-5)
    assert scene.read("h[1]", gradient=True) == pytest.approx(first, abs=5e-6)
    assert scene.read("U", gradient=True) == pytest.approx(of_u, abs=5e-6)
    if function == "tanh":
        gradients = shown(scene, "h", gradient=True)
        np.testing.assert_allclose(gradients, (0.29659, 0.51019, 0.74561, 1), atol=5e-6)


def test_the_gradient_of_the_recurrent_weight_is_a_sum_over_the_steps(scene: Scene) -> None:
    scene.session.network.open_shipped("recurrence_tanh")
    scene.settle()
    scene.click("tape_run_backward")
    QTest.mouseClick(scene.picture, Qt.MouseButton.LeftButton, pos=scene.place("U", (), True))
    QTest.mouseMove(scene.picture, QPoint(1, 1))
    scene.settle()
    card = scene.panel("network_why_view").findChild(ArithmeticCard)
    parts = sorted(float(row.value.replace("−", "-")) for row in card.rows[:-1])
    np.testing.assert_allclose(parts, (0, 0.250981, 0.337318, 0.405615), atol=5e-3)
    terms = [float(group.products.sum()) for group in scene.session.network_focus.arithmetic.terms]
    np.testing.assert_allclose(sorted(terms), (0, 0.250981, 0.337318, 0.405615), atol=5e-7)
    assert float(card.rows[-1].value) == pytest.approx(0.99391, abs=5e-4)


@pytest.mark.parametrize(("function", "truncated"), [("tanh", 0.742933), ("identity", 1.62)])
def test_truncation_to_two_steps(scene: Scene, function: str, truncated: float) -> None:
    text = shipped_network(f"recurrence_{function}").text.replace("1..4:", "1..2:")
    later = [
        f"h[{step}] = {function}(add(linear(U, {before}), linear(W, x[{step}])))\n"
        for step, before in ((3, "kept"), (4, "h[3]"))
    ]
    scene.session.network.write(text.replace("J = ", f"kept = stop(h[2])\n{''.join(later)}J = "))
    scene.settle()
    scene.click("tape_run_backward")
    assert scene.read("U", gradient=True) == pytest.approx(truncated, abs=1e-6)


def test_the_diamond(scene: Scene) -> None:
    scene.session.network.open_shipped("diamond")
    scene.settle()
    scene.click("tape_run_backward")
    assert scene.read("v", gradient=True) == 8
