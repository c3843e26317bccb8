"""Gradients in the place of values: the switch, the key, the choice, and the way forward to the loss."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QPushButton
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.families import open_run_model
from lmviz.inspection.backpropagation import gradient
from lmviz.training.run import Run

ONLY_PANELS = ("state", "why", "unit", "heads", "attention_why", "attention")


@pytest.fixture
def inside(window: MainWindow, read: Session, qtbot: QtBot) -> dict[str, object]:
    """The panels of the Inside perspective, drawn."""
    window.show_perspective("inside")
    panels = {panel.objectName(): panel for panel in window.perspective.panels}
    qtbot.waitUntil(lambda: panels["state_view"].view is not None)
    return panels


def wait(session: Session, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: session.gradients.current is not None)


def test_the_key_and_the_switch_turn_values_into_gradients_and_back(
    window: MainWindow, read: Session, inside: dict[str, object], qtbot: QtBot
) -> None:
    state = inside["state_view"]
    read.focus.choose_stage(3)
    qtbot.waitUntil(lambda: state.view.address == read.reading.current.trace.stages[3].results[0])
    address = state.view.address
    qtbot.keyClick(window, Qt.Key.Key_G)
    qtbot.waitUntil(lambda: state.view.address == f"gradient/{address}")
    model = open_run_model(Run.open(read.library.model.folder))
    expected = gradient(model, "the cows eat", "loss@-1")[address].array
    np.testing.assert_allclose(state.view.values, expected.T, rtol=1e-4, atol=1e-8)
    assert state.view.scale == "signed"
    switch = state.findChild(QPushButton, "gradient_switch")
    assert switch.isChecked()
    qtbot.mouseClick(switch, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: state.view.address == address)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1440, 900), (1280, 720)])
@pytest.mark.parametrize("perspective", ["attention", "inside"])
def test_a_second_click_finds_the_switch_where_the_first_did(
    window: MainWindow,
    session: Session,
    transformer_run: Path,
    drawn: Callable[[], None],
    perspective: str,
    size: tuple[int, int],
    qtbot: QtBot,
) -> None:
    session.library.open(transformer_run)
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix("the cows eat")
    window.resize(*size)
    window.show_perspective(perspective)
    qtbot.waitUntil(lambda: session.reading.current is not None and not session.reading.is_late)
    drawn()
    switches = [each for each in window.findChildren(QPushButton, "gradient_switch") if each.isVisible()]
    assert switches
    for switch in switches:
        place = switch.mapTo(window, switch.rect().center())
        for is_on in (True, False):
            assert window.childAt(place) is switch, is_on
            qtbot.mouseClick(switch, Qt.MouseButton.LeftButton)
            assert session.gradients.is_shown is is_on
            drawn()


@pytest.mark.slow
def test_a_number_that_only_another_model_has_is_named_by_its_place(
    read: Session, inside: dict[str, object], qtbot: QtBot
) -> None:
    read.gradients.show(True)
    wait(read, qtbot)
    read.gradients.choose(("probabilities", (0, 10_000)))
    picker = inside["state_view"].findChild(QComboBox, "gradient_of_picker")
    assert picker.currentText().startswith("probabilities")


@pytest.mark.slow
def test_another_number_is_chosen_from_the_list(
    read: Session, inside: dict[str, object], qtbot: QtBot
) -> None:
    read.gradients.show(True)
    wait(read, qtbot)
    picker = inside["state_view"].findChild(QComboBox, "gradient_of_picker")
    offered = [picker.itemText(place) for place in range(picker.count())]
    assert offered[:2] == ["loss of “eat”", "all losses"]
    assert picker.currentText() == "loss of “eat”", "it begins with the word that was typed last, and says so"
    assert "Gradients are taken of this number: loss of “eat”. Click for another." in picker.toolTip()
    assert offered[2].startswith("p(“")
    picker.activated.emit(2)
    qtbot.waitUntil(
        lambda: (
            read.gradients.current is not None
            and read.gradients.current.scalar.name.startswith("probabilities[3, ")
        )
    )
    read.focus.choose_cell(("layers/0/hidden", (2, 1)))
    assert picker.itemText(picker.count() - 1) == "the pinned cell"
    picker.activated.emit(picker.count() - 1)
    assert read.gradients.of == ("layers/0/hidden", (2, 1))


@pytest.mark.slow
def test_why_this_gradient_leads_forward_to_the_loss(
    read: Session, inside: dict[str, object], qtbot: QtBot
) -> None:
    state, why = inside["state_view"], inside["why_view"]
    read.gradients.show(True)
    wait(read, qtbot)
    read.focus.choose_cell(("gradient/layers/0/hidden", (2, 1)))
    qtbot.waitUntil(lambda: why.shown is not None and why.shown.address == "gradient/layers/0/hidden")
    assert why.shown.evaluate() == pytest.approx(why.shown.value, rel=1e-4, abs=1e-8)
    assert "Why gradient" in why.card.title
    sources = {group.factors[0].source for group in why.shown.terms}
    assert "gradient/logits" in sources
    why.follow_operand("gradient/logits", (2, 3))
    qtbot.waitUntil(lambda: why.shown is not None and why.shown.address == "gradient/logits")
    why.follow_operand("gradient/probabilities", why.shown.index)
    qtbot.waitUntil(lambda: why.shown is not None and why.shown.address == "gradient/probabilities")
    qtbot.waitUntil(lambda: state.view.address == "gradient/probabilities")
    labels = [group.label for group in why.shown.terms]
    assert labels in (["the slope of −ln p"], ["nothing that loss of “eat” depends on reads it"])


@pytest.mark.slow
def test_a_gradient_that_is_pinned_is_explained_anew_with_another_number(
    read: Session, inside: dict[str, object], qtbot: QtBot
) -> None:
    why = inside["why_view"]
    read.gradients.show(True)
    wait(read, qtbot)
    read.focus.choose_cell(("gradient/embedding", (1, 1)))
    qtbot.waitUntil(lambda: why.shown is not None and why.shown.address == "gradient/embedding")
    before = read.gradients.current["embedding"].array[1, 1]
    qtbot.waitUntil(lambda: why.shown is not None and why.shown.value == before)
    read.gradients.choose("loss@2")

    def is_new() -> bool:
        expected = read.gradients.current["embedding"].array[1, 1]
        return expected != before and why.shown is not None and why.shown.value == expected

    qtbot.waitUntil(is_new)


@pytest.mark.slow
def test_a_unit_shows_its_gradient_over_the_text(
    read: Session, inside: dict[str, object], qtbot: QtBot
) -> None:
    unit = inside["unit_view"]
    read.focus.choose_cell(("layers/0/hidden", (2, 1)))
    read.gradients.show(True)
    wait(read, qtbot)
    unit.catch_up()
    assert unit.card.aside.startswith("gradient, of ")
    read.focus.choose_cell(("gradient/layers/0/cell", (2, 3)))
    assert unit.unit == ("layers/0/cell", 3)


@pytest.mark.slow
def test_attention_shows_the_gradient_of_its_weights(
    window: MainWindow, session: Session, transformer_run: Path, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    session.library.open(transformer_run)
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix("the cows eat")
    window.show_perspective("attention")
    [panel] = [item for item in window.perspective.panels if item.objectName() == "attention_view"]
    drawn()
    qtbot.waitUntil(lambda: "layers/0/attention/weights" in panel.exported_arrays())
    session.gradients.show(True)
    address = "gradient/layers/0/attention/weights"
    qtbot.waitUntil(lambda: address in panel.exported_arrays())
    model = open_run_model(Run.open(transformer_run))
    expected = gradient(model, "the cows eat", "loss@-1")["layers/0/attention/weights"].array
    head = session.attention.head[1]
    np.testing.assert_allclose(panel.exported_arrays()[address], expected[head], rtol=1e-4, atol=1e-8)
    assert panel.card.title.startswith("Gradient of layer 1")
    [heads] = [item for item in window.perspective.panels if item.objectName() == "heads_view"]
    qtbot.waitUntil(lambda: heads.card.aside.startswith("gradients · "))
    np.testing.assert_allclose(heads.exported_arrays()[address], expected, rtol=1e-4, atol=1e-8)
    session.gradients.show(False)
    qtbot.waitUntil(lambda: "gradients" not in heads.card.aside)
    assert "layers/0/attention/weights" in heads.exported_arrays()


@pytest.mark.slow
@pytest.mark.parametrize("width", [1100, 1300, 2200])
def test_the_switch_is_never_cut_and_says_its_number_on_hover(
    window: MainWindow, read: Session, inside: dict[str, object], qtbot: QtBot, width: int
) -> None:
    window.resize(width, 900)
    read.gradients.show(True)
    wait(read, qtbot)
    state = inside["state_view"]
    switch = state.findChild(QPushButton, "gradient_switch")
    picker = state.findChild(QComboBox, "gradient_of_picker")

    def are_whole() -> bool:
        below = picker.mapTo(state, picker.rect().topLeft()).y()
        room = picker.width() - picker.fontMetrics().horizontalAdvance(picker.currentText())
        is_apart = below >= switch.mapTo(state, switch.rect().bottomLeft()).y()
        return is_apart and room > 20 and switch.width() >= switch.sizeHint().width()

    qtbot.waitUntil(are_whole, timeout=5000)
    assert "loss of “eat”" in picker.toolTip()
