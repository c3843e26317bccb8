"""Whatever the panels draw belongs to the network as it computes now, after all that can be done to it."""

import random

import numpy as np
import pytest
from covering import in_turn
from PySide6.QtCore import QPoint
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton

from lmviz.app.board.page import PanelPage
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.diagrams.network_values import ValueCell
from lmviz.app.widgets.diagrams.unit_picture import UnitPicture
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.app.widgets.text.agreeing_digits import AgreeingDigits
from lmviz.app.widgets.text.network_editor import NetworkEditor
from lmviz.autodiff import check_module, descend, surface
from lmviz.autodiff.checking import check, error_curves
from lmviz.autodiff.learning import step_curve
from lmviz.autodiff.names import cell_label, label
from tests.app.panels.autodiff.conftest import Scene

NETWORKS = ("lecture", "diamond", "summation", "comparison")
ACTS = 14


def anew(session: Session):
    """The present network computed once more, up to the same place on its tape."""
    net = session.network.current
    return net.copy().refresh() if not net.tape.pushed else _replayed(net)


def _replayed(net):
    copied = net.copy()
    copied.tape.play(net.tape.pushed, net.tape.popped)
    return copied


def acts(session: Session, chance: random.Random):
    """One thing of all that a person can do, with its name."""
    network, checks, descent = session.network, session.module_checks, session.descent
    net = network.current
    given = chance.choice([node for node in net if node.module is None])
    made = chance.choice([node for node in net.tape.modules if node.value is not None] or [given])
    cell = lambda node: chance.choice(list(np.ndindex(*node.shape)))  # noqa: E731
    amount = round(chance.uniform(-2, 2), 2)
    number_written = net.text.rpartition(" = ")  # a text with its last letters lost cannot be read
    return chance.choice(
        [
            ("edit", lambda: network.edit(given.name, cell(given), amount)),
            ("hold", lambda: network.edit(made.name, cell(made), amount)),
            ("release", lambda: network.release(made.name)),
            ("hide", lambda: checks.hide_fault(chance.randrange(99))),
            ("mend", checks.mend),
            ("check", lambda: checks.check(chance.choice(net.tape.modules).name)),
            ("check all", checks.check_all),
            ("nudge all", lambda: checks.nudge_all(1e-5)),
            ("push", network.push),
            ("pop", network.pop),
            ("forward", network.run_forward),
            ("backward", network.run_backward),
            ("empty", network.rewind),
            ("gather", lambda: network.choose_version(chance.choice("AB"))),
            ("step", lambda: descent.descend(1)),
            ("train", lambda: descent.descend(5)),
            ("go back", lambda: descent.go_to(0)),
            ("rate", lambda: descent.choose_rate(chance.choice([0.01, 0.1, 0.5]))),
            ("write", lambda: network.write(net.text + "\n")),
            ("mistake", lambda: network.write(number_written[0] + " = (")),
        ]
    )


def compare(scene: Scene) -> None:
    """Everything on the screen with the network computed anew."""
    session, net = scene.session, anew(scene.session)
    focus = session.network_focus.shown
    for node in net:
        for is_gradient, array in ((False, node.value), (True, node.gradient)):
            for index in np.ndindex(*node.shape):
                cell = ValueCell(node.name, index, is_gradient)
                found = scene.picture.number(cell)
                assert (found is None) == (array is None), cell
                if found is not None:
                    assert found == pytest.approx(float(array[index]), nan_ok=True), cell
    units = scene.find(UnitPicture)
    for cell in units.cells() if units.isVisible() else ():
        array = net[cell.name].gradient if cell.is_gradient else net[cell.name].value
        assert units.number(cell) == pytest.approx(float(array[cell.place]), nan_ok=True), cell
    why = scene.panel("network_why_view")
    array = net[focus.name].gradient if focus.is_gradient else net[focus.name].value
    if array is not None:
        assert why.card.title == f"Why {number(float(array[focus.place]), 4)}?"
        if why.shown is not None:
            assert why.shown.value == pytest.approx(float(array[focus.place]), nan_ok=True)
    if not session.network.faults:
        assert scene.find(NetworkEditor).toPlainText() == session.network.text
    tape = scene.panel("tape_view")
    assert [entry.name for entry in tape.entries] == [node.name for node in net.tape.modules]
    compare_descent(scene, net)
    compare_checks(scene, net, session.network_focus.nudged)


def compare_descent(scene: Scene, net) -> None:
    descent, rate = scene.panel("descent_view"), scene.session.descent.rate
    if descent.is_in_sight and net.parameters:
        step, curve = descend(net, rate), step_curve(net, rate)
        shown = scene.find(QLabel, "descent_losses").text()
        last = scene.session.descent.last
        said = step if last is None else last
        assert last is None or last.after == pytest.approx(step.before, nan_ok=True)
        after = "" if last is None else f" → {number(last.after, 4)}"
        assert shown == f"{number(said.before, 4)}{after}"
        assert number(said.predicted, 4) in scene.find(QLabel, "descent_line").text()
        drawn = scene.find(LinePlot, "descent_plot").points()["loss"]
        np.testing.assert_allclose(drawn[:, 1], curve.losses)
        assert scene.session.descent.loss == pytest.approx(step.before, nan_ok=True)
    shown, chosen = scene.panel("surface_view"), scene.session.descent.chosen
    if shown.is_in_sight and chosen is not None:
        found = surface(net, *chosen, path=scene.session.descent.path)
        np.testing.assert_allclose(shown.surface.losses, found.losses)
        assert len(shown.surface.path) == len(scene.session.descent.path)


def compare_checks(scene: Scene, net, focus) -> None:
    digits = scene.find(AgreeingDigits)
    nudged = check(net, focus.name, focus.place).worst
    assert float(digits.lines[2].text.replace("−", "-")) == pytest.approx(nudged.slope, abs=1e-9, nan_ok=True)
    assert float(digits.lines[3].text.replace("−", "-")) == pytest.approx(
        nudged.gradient, abs=1e-9, nan_ok=True
    )
    assert cell_label(focus.name, focus.place) in scene.find(QLabel, "nudged_cell").text()
    curves = scene.panel("nudge_view").exported_arrays()
    for name, points in error_curves(net, focus.name, focus.place).items():
        if len(points):
            np.testing.assert_array_equal(curves[f"error in {name}"], points)
    for node in net.tape.modules:
        shown = scene.find(QPushButton, f"check_{node.name}").text()
        if shown[0] in "✓✗":
            assert (shown[0] == "✓") == check_module(net, node.name).agrees, label(node.name)


@pytest.mark.parametrize(("name", "seed"), in_turn(NETWORKS, range(3), among=("summation",)))
def test_every_number_on_the_screen_is_of_the_network_as_it_is(scene: Scene, name: str, seed: int) -> None:
    chance, done = random.Random(seed), []
    scene.session.network.open_shipped(name)
    scene.settle()
    picker = scene.find(QComboBox, "network_drawing_picker")
    if seed % 2 and picker.isVisible():
        picker.setCurrentText("unrolled")
        picker.activated.emit(picker.currentIndex())
    pages = {page.objectName(): page for page in scene.view.findChildren(PanelPage)}
    for _ in range(ACTS):
        pages[f"page_{chance.choice(['descent', 'surface'])}"].raise_()
        what, act = acts(scene.session, chance)
        done.append(what)
        act()
        scene.settle()
        try:
            compare(scene)
        except AssertionError as error:
            raise AssertionError(f"after {', '.join(done)}") from error


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "drawing", "value", "weight"),
    [
        ("diamond", "modules", "u", "v"),
        ("summation", "unrolled", "h[1]", "W"),
        ("summation", "folded", "h[1]", "W"),
    ],
)
def test_the_card_at_the_pointer_follows_edits_and_goes_with_its_number(
    scene, qtbot, name, drawing, value, weight
):
    network, picker = scene.session.network, scene.find(QComboBox, "network_drawing_picker")
    network.open_shipped(name)
    scene.settle()
    picker.setCurrentText(drawing)
    picker.activated.emit(picker.currentIndex())
    scene.settle()
    picture = scene.picture if drawing == "modules" else scene.find(UnitPicture)

    def point_at_it() -> None:
        QTest.mouseMove(picture, QPoint(1, 1))
        QTest.mouseMove(picture, picture.cell_rectangle(ValueCell(value, (), False)).center().toPoint())
        assert scene.view.window().findChild(HoverCard) is not None

    qtbot.waitUntil(point_at_it)  # the picture is still finding its place
    card, seen = scene.view.window().findChild(HoverCard), set()
    for amount in (1.5, 0.5):
        network.edit(weight, (), amount)
        scene.settle()
        assert card.title == number(float(network.current[value].value), 6)
        seen.add(card.title)
    assert len(seen) == 2
    network.rewind()
    scene.settle()
    assert not card.isVisible()


@pytest.mark.slow
def test_saving_a_network_keeps_the_path_of_its_training(scene: Scene, tmp_path) -> None:
    scene.session.descent.descend(2)
    scene.session.network.save_file(tmp_path / "mine.net")
    assert scene.session.descent.place == 2


@pytest.mark.slow
def test_a_number_that_is_set_by_hand_stays_when_a_fault_is_mended(scene: Scene) -> None:
    scene.session.module_checks.hide_fault(1)
    scene.session.network.edit("z", (1,), 0.25)
    scene.session.module_checks.mend()
    assert scene.session.network.current["z"].value[1] == 0.25
