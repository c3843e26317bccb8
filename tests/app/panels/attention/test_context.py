"""The context of a word: states faded by weight, one of them silenced, or taken from another source."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.empty_text import EmptyText
from lmviz.app.widgets.plots.before_after_bars import BeforeAfterBars
from lmviz.app.window.main_window import MainWindow

ONLY_PANELS = ("context", "next_word")

DOT = "attention/weights"


def click(panel: Panel, name: str, qtbot: QtBot) -> None:
    button = panel.findChild(QPushButton, name)
    qtbot.waitUntil(lambda: button.isEnabled() and button.isVisible())
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_the_states_are_as_strong_as_their_weights_and_their_sum_is_the_context(
    show: Callable[..., dict[str, Panel]], session: Session, attending_run: Path, qtbot: QtBot
) -> None:
    panel = show(attending_run)["context_view"]
    qtbot.waitUntil(lambda: panel.is_in_sight and len(panel.strips.strips) == 4)
    trace = session.reading.current.trace
    session.focus.choose_position(1)
    qtbot.waitUntil(lambda: panel.strips.strips[0].share == pytest.approx(float(trace[DOT].array[1, 0])))
    weights = trace[DOT].array[1]
    assert [strip.share for strip in panel.strips.strips] == pytest.approx(weights.tolist())
    assert [strip.label for strip in panel.strips.strips] == ["a", "b", "c", "⟨end⟩"]
    states = np.array([strip.values for strip in panel.strips.strips])
    assert panel.context.strips[0].values == pytest.approx(weights @ states, abs=1e-5)
    opacities = [strip.opacity for strip in panel.strips.strips]
    assert np.argsort(opacities).tolist() == np.argsort(weights).tolist()
    given: dict[str, Any] = {}
    exec(panel.recipe(), given)
    assert given["values"]["context"] == pytest.approx(panel.exported_arrays()["context"], abs=1e-6)


@pytest.mark.slow
def test_a_silenced_word_is_the_pinned_one_and_a_second_click_brings_it_back(
    show: Callable[..., dict[str, Panel]], session: Session, attending_run: Path, qtbot: QtBot
) -> None:
    panel = show(attending_run)["context_view"]
    qtbot.waitUntil(lambda: panel.is_in_sight and len(panel.strips.strips) == 4)
    session.focus.choose_cell((DOT, (1, 1)))
    button = panel.findChild(QPushButton, "silence_source_button")
    qtbot.waitUntil(lambda: button.text() == "silence “b”")
    click(panel, "silence_source_button", qtbot)
    qtbot.waitUntil(lambda: session.reading.current.baseline is not None)
    found = session.reading.current
    assert not found.trace["encoder/layers/0/hidden"].array[1].any()
    assert np.abs(found.trace["logits"].array - found.baseline["logits"].array).max() > 1e-5
    qtbot.waitUntil(button.isChecked)
    click(panel, "silence_source_button", qtbot)
    qtbot.waitUntil(lambda: session.reading.current.baseline is None)
    assert not session.surgery.interventions


@pytest.mark.slow
def test_the_context_of_another_source_takes_the_place_of_its_own(
    show: Callable[..., dict[str, Panel]], session: Session, attending_run: Path, qtbot: QtBot
) -> None:
    panels = show(attending_run)
    panel = panels["context_view"]
    qtbot.waitUntil(lambda: panel.is_in_sight and len(panel.strips.strips) == 4)
    assert not panel.findChild(QPushButton, "swap_context_button").isEnabled()
    qtbot.keyClicks(panel.findChild(QLineEdit, "other_source_edit"), "ca")
    click(panel, "swap_context_button", qtbot)
    qtbot.waitUntil(lambda: session.reading.current.baseline is not None)
    other = lmviz.trace(lmviz.open_model(attending_run), "cb", source="ca")
    now = session.reading.current.trace
    assert now["context"].array[2] == pytest.approx(other["context"].array[2], abs=1e-6)
    assert now["context"].array[1] == pytest.approx(session.reading.current.baseline["context"].array[1])
    next_word = panels["next_word_view"]
    qtbot.waitUntil(lambda: any(bars.isVisible() for bars in next_word.findChildren(BeforeAfterBars)))
    # What another source has put there is not the sum of these states, and is not called so.
    qtbot.waitUntil(lambda: panel.context.strips[0].label == "c, changed")
    assert panel.context.strips[0].share is None
    session.focus.choose_position(1)
    qtbot.waitUntil(lambda: panel.context.strips[0].label == "c = Σ α h")
    sums = panel.strips
    total = sum(strip.share * np.asarray(strip.values) for strip in sums.strips)
    assert panel.context.strips[0].values == pytest.approx(total, abs=1e-5)


@pytest.mark.slow
def test_without_attention_the_last_state_of_another_source_decides_everything(
    show: Callable[..., dict[str, Panel]], session: Session, translator_run: Path, qtbot: QtBot
) -> None:
    panel = show(translator_run)["context_view"]
    qtbot.waitUntil(lambda: panel.is_in_sight and len(panel.strips.strips) == 4)
    assert panel.context.strips[0].values.tolist() == panel.strips.strips[-1].values.tolist()
    assert not panel.findChild(QPushButton, "swap_context_button").isVisible()
    qtbot.keyClicks(panel.findChild(QLineEdit, "other_source_edit"), "ca")
    click(panel, "swap_state_button", qtbot)
    qtbot.waitUntil(lambda: session.reading.current.baseline is not None)
    qtbot.waitUntil(lambda: panel.context.strips[0].label == "c, changed")
    other = lmviz.trace(lmviz.open_model(translator_run), "cb", source="ca")
    assert session.reading.current.trace["logits"].array == pytest.approx(other["logits"].array, abs=1e-5)


@pytest.mark.slow
def test_the_contexts_of_all_layers_of_a_transformer_are_one_step_of_undo(
    show: Callable[..., dict[str, Panel]], session: Session, heads_run: Path, qtbot: QtBot
) -> None:
    panels = show(heads_run)
    panel = panels["context_view"]
    panel.parentWidget().raise_()
    qtbot.waitUntil(lambda: panel.is_in_sight and len(panel.strips.strips) == 4)
    assert not panel.findChild(QPushButton, "swap_state_button").isVisible()
    qtbot.keyClicks(panel.findChild(QLineEdit, "other_source_edit"), "ca")
    click(panel, "swap_context_button", qtbot)
    qtbot.waitUntil(lambda: len(session.surgery.interventions) == 2)
    session.surgery.undo()
    assert session.surgery.interventions == ()


@pytest.mark.slow
def test_the_state_that_counts_most_is_scrolled_into_sight(
    window: MainWindow,
    show: Callable[..., dict[str, Panel]],
    session: Session,
    attending_run: Path,
    qtbot: QtBot,
) -> None:
    window.resize(1000, 640)
    panel = show(attending_run, "abcabcabcabcabcabcabc")["context_view"]
    qtbot.waitUntil(lambda: panel.is_in_sight and len(panel.strips.strips) == 22)
    for position in range(3):
        session.focus.choose_position(position)
        strongest = int(session.reading.current.trace[DOT].array[position].argmax())

        def is_in_sight(strongest: int = strongest) -> bool:
            place = panel.strips.cell_rectangle(strongest, 0).center().toPoint()
            return panel.strips.visibleRegion().contains(place)

        qtbot.waitUntil(is_in_sight)


@pytest.mark.slow
def test_under_a_model_without_a_source_the_panel_names_itself_alone(
    show: Callable[..., dict[str, Panel]], session: Session, attending_run: Path, lstm_run: Path, qtbot: QtBot
) -> None:
    panel = show(attending_run)["context_view"]
    qtbot.waitUntil(lambda: panel.card.title.startswith("Context: "))
    session.library.open(lstm_run)
    qtbot.waitUntil(lambda: bool(panel.findChildren(EmptyText, "out_of_place")))
    assert panel.card.title == "Context"
