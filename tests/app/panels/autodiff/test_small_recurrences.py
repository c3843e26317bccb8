"""The small recurrent networks of the lectures, their numbers read off the cells of the window."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from covering import others_slow
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from lmviz.app.board.page import PanelPage
from lmviz.app.widgets.diagrams.network_values import ValueCell
from lmviz.app.widgets.text.arithmetic_card import ArithmeticCard
from lmviz.autodiff import shipped_network
from tests.app.panels.autodiff.conftest import Scene, opened

ONLY_PANELS = ("graph", "tape", "network_why", "editor", "descent", "surface")

SUMS = {
    1: (2, 1.5, 2.5, 3.5),
    0.9: (2, 1.3, 2.17, 2.953),
    0.5: (2, 0.5, 1.25, 1.625),
    1.1: (2, 1.7, 2.87, 4.157),
}


SIX = 6e-7
"""How far a number with six decimals may be from what it rounds, with a little room for both roundings."""


class RecurrentScene(Scene):
    """The perspective so wide that the steps of a network are in sight with all their figures."""

    def open(self, name: str, text: str = "") -> None:
        """A shipped network, or another text for it, swept back and drawn larger."""
        if text:
            self.session.network.write(text)
        else:
            self.session.network.open_shipped(name)
        self.settle()
        self.sweep()

    def sweep(self) -> None:
        if self.find(QPushButton, "tape_run_backward").isEnabled():  # else all is swept anew as it is edited
            self.click("tape_run_backward")
        self.click("network_picture_larger")

    def cell(self, name: str, *, gradient: bool = False) -> float:
        """The number that is drawn in the first cell of a node."""
        index = (0,) * len(self.session.network.current[name].shape)
        return self.drawn(name, index, gradient=gradient)

    def steps(self, name: str, *, gradient: bool = False) -> list[float]:
        """The same at every step from the first on."""
        names = [node.name for node in self.session.network.current.nodes]
        found = [step for step in names if re.fullmatch(rf"{name}\[[1-9]\]", step)]
        return [self.cell(step, gradient=gradient) for step in found]


@pytest.fixture
def scene(tmp_path: Path, qtbot: QtBot) -> Iterator[RecurrentScene]:
    with opened(RecurrentScene, tmp_path, qtbot) as scene:
        scene.view.resize(2400, 900)
        scene.settle()
        yield scene


@pytest.mark.slow
@pytest.mark.parametrize("recurrent", others_slow(SUMS, *list(SUMS)[1:3]))
def test_summation(scene: RecurrentScene, recurrent: float) -> None:
    scene.open("summation")
    scene.session.network.edit("U", (), recurrent)
    scene.sweep()
    assert scene.steps("h") == pytest.approx(SUMS[recurrent], abs=SIX)
    assert scene.cell("y") == pytest.approx(SUMS[recurrent][-1], abs=SIX)
    assert scene.cell("x[1]", gradient=True) == pytest.approx(recurrent**3, abs=SIX)


@pytest.mark.slow
def test_summation_through_tanh(scene: RecurrentScene) -> None:
    text = shipped_network("summation").text.replace("add(linear", "tanh(add(linear")
    scene.open("summation", text.replace("x[t]))", "x[t])))"))
    assert scene.steps("h") == pytest.approx((0.9640, 0.4334, 0.8924, 0.9556), abs=5e-5)


LEARNED = """
parameter W = 0.6
parameter U = 0.7
parameter V = 1.3
x[1..4] = [2; -0.5; 1; 1]
s[1..4] = [2; 1.5; 2.5; 3.5]
h[0] = 0
e[0] = 0
for t in 1..4:
    h[t] = add(linear(U, h[t-1]), linear(W, x[t]))
    e[t] = add(e[t-1], squared_error(s[t], linear(V, h[t])))
J = identity(e[4])
"""


@pytest.mark.slow
def test_of_a_summation_that_is_learned_only_u_and_the_product_of_v_and_w_are_determined(
    scene: RecurrentScene,
) -> None:
    scene.session.network.write(LEARNED)
    scene.session.descent.choose_rate(0.005)
    scene.view.findChild(PanelPage, "page_surface").raise_()
    scene.settle()
    for _ in range(6):
        scene.click("train_network_button")
    scene.sweep()
    assert scene.cell("U") == pytest.approx(1, abs=1e-3)
    assert scene.cell("V") * scene.cell("W") == pytest.approx(1, abs=1e-3)
    assert abs(scene.cell("V") - 1) > 0.05, "neither of them is 1 by itself"


def test_summation_and_comparison(scene: RecurrentScene) -> None:
    scene.open("comparison")
    assert scene.steps("h") == pytest.approx((4, 0.5, -0.7), abs=SIX)
    assert scene.steps("y") == pytest.approx((1.00, 0.92, 0.03), abs=5e-3)
    for step in (1, 2, 3):  # W is (1, −1)
        for at, expected in ((0, 0.1423), (1, -0.1423)):
            assert scene.drawn(f"x[{step}]", (at,), gradient=True) == pytest.approx(expected, abs=5e-5)


@pytest.mark.slow
def test_the_second_comparison_depends_alike_on_both_steps_before_it(scene: RecurrentScene) -> None:
    scene.open("comparison", shipped_network("comparison").text.replace("sum(y[3])", "sum(y[2])"))
    assert scene.steps("x", gradient=True)[:2] == pytest.approx((0.3505, 0.3505), abs=5e-5)
    x3 = ValueCell("x[3]", (0,), True)
    assert scene.picture.figure(x3) in ("", "0", "0.000000"), "the third input comes later"


@pytest.mark.slow
def test_the_order_of_the_inputs_does_not_matter_to_the_last_comparison(scene: RecurrentScene) -> None:
    scene.open("comparison")
    before = scene.cell("y[3]")
    for step, numbers in ((1, (0, 3.5)), (2, (2, -2))):
        for at, number in enumerate(numbers):
            scene.session.network.edit(f"x[{step}]", (at,), number)
    scene.sweep()
    assert scene.cell("h[1]") == -3.5
    assert scene.cell("y[3]") == pytest.approx(before, abs=SIX)


@pytest.mark.parametrize(
    ("function", "states", "gradients", "of_u"),
    [
        ("tanh", (0.7616, 0.5950, 0.4896, 0.4142), (0.29659, 0.51019, 0.74561, 1), 0.99391),
        ("sigmoid", None, (0.00865,), 0.186511),
        ("identity", (1, 0.9, 0.81, 0.729), (0.729, 0.81, 0.9, 1), 2.43),
    ],
)
def test_a_scalar_recurrence(
    scene: RecurrentScene,
    function: str,
    states: tuple[float, ...] | None,
    gradients: tuple[float, ...],
    of_u: float,
) -> None:
    scene.open(f"recurrence_{function}")
    if states is not None:
        assert scene.steps("h") == pytest.approx(states, abs=5e-5)
    found = scene.steps("h", gradient=True)
    assert len(found) == 4
    assert found[: len(gradients)] == pytest.approx(gradients, abs=6e-6)
    assert scene.cell("U", gradient=True) == pytest.approx(of_u, abs=SIX if function == "sigmoid" else 6e-6)


@pytest.mark.slow
def test_the_gradient_of_the_recurrent_weight_arrives_step_by_step(scene: RecurrentScene) -> None:
    """By adding up: what stands in U's cell after each pop is the sum of the parts so far."""
    scene.open("recurrence_tanh")
    scene.click("version_b_button")
    scene.click("tape_run_forward")
    arrived = [0.0]
    while scene.find(QPushButton, "tape_backward").isEnabled():
        scene.click("tape_backward")
        if scene.picture.figure(ValueCell("U", (), True)) and scene.cell("U", gradient=True) != arrived[-1]:
            arrived.append(scene.cell("U", gradient=True))
    assert np.diff(arrived) == pytest.approx((0.405615, 0.337318, 0.250981), abs=2e-6)
    assert arrived[-1] == pytest.approx(0.99391, abs=6e-6)


def test_the_card_tells_the_parts_of_the_gradient_of_the_recurrent_weight(scene: RecurrentScene) -> None:
    scene.open("recurrence_tanh")
    QTest.mouseClick(scene.picture, Qt.MouseButton.LeftButton, pos=scene.place("U", (), True))
    QTest.mouseMove(scene.picture, QPoint(1, 1))
    scene.settle()
    card = scene.panel("network_why_view").findChild(ArithmeticCard)
    parts = sorted(float(row.value.replace("−", "-")) for row in card.rows[:-1])
    np.testing.assert_allclose(parts, (0, 0.250981, 0.337318, 0.405615), atol=5e-3)
    terms = [float(group.products.sum()) for group in scene.session.network_focus.arithmetic.terms]
    np.testing.assert_allclose(sorted(terms), (0, 0.250981, 0.337318, 0.405615), atol=5e-7)
    assert float(card.rows[-1].value) == pytest.approx(0.99391, abs=5e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "truncated"),
    [("tanh", 0.742933), pytest.param("identity", 1.62, marks=pytest.mark.slow)],
)
def test_truncation_to_two_steps(scene: RecurrentScene, function: str, truncated: float) -> None:
    text = shipped_network(f"recurrence_{function}").text.replace("1..4:", "1..2:")
    later = [
        f"h[{step}] = {function}(add(linear(U, {before}), linear(W, x[{step}])))\n"
        for step, before in ((3, "kept"), (4, "h[3]"))
    ]
    scene.open(f"recurrence_{function}", text.replace("J = ", f"kept = stop(h[2])\n{''.join(later)}J = "))
    assert scene.cell("U", gradient=True) == pytest.approx(truncated, abs=2 * SIX)


@pytest.mark.slow
def test_the_diamond(scene: RecurrentScene) -> None:
    scene.open("diamond")
    assert scene.cell("v", gradient=True) == 8
