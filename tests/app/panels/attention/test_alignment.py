"""Alignment: what is drawn is the trace, dragging forces a row, and other models say what would show it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QPushButton, QSpinBox
from pytestqt.qtbot import QtBot

from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.empty_text import EmptyText
from lmviz.app.widgets.controls.change_list import ChangeList
from lmviz.app.widgets.matrix.mosaic import HeadMosaic
from lmviz.app.widgets.text.alignment_arcs import SOURCE, TARGET, AlignmentArcs
from lmviz.app.window.main_window import MainWindow
from lmviz.decoding.beam import beam_search
from lmviz.decoding.options import BeamOptions
from lmviz.families import open_run_model
from lmviz.inspection.alignment import combined_alignment, sharpest_head
from lmviz.inspection.changed_model import ChangedModel
from lmviz.models.given_source import GivenSource
from lmviz.training.run import Run

DOT = "attention/weights"


def in_front(panels: dict[str, Panel]) -> set[str]:
    return {name for name, panel in panels.items() if panel.is_in_sight}


def sentence(panel: Panel) -> str:
    return " ".join(label.text() for label in panel.findChildren(EmptyText) if label.isVisible())


def test_a_translator_shows_its_alignment_and_the_words_of_both_texts(
    show: Callable[..., dict[str, Panel]], session: Session, attending_run: Path, qtbot: QtBot
) -> None:
    panels = show(attending_run)
    qtbot.waitUntil(lambda: {"alignment_view", "alignment_text_view"} <= in_front(panels))
    panel, trace = panels["alignment_view"], session.reading.current.trace
    qtbot.waitUntil(lambda: panel.shown.size > 0)
    assert panel.shown.tolist() == trace[DOT].array.tolist()
    names = panel.exported_names()
    assert list(names.columns) == ["a", "b", "c", "⟨end⟩"]
    assert list(names.rows)[:2] == ["c", "b"]
    assert names.rows[2].endswith("?")
    assert panels["alignment_text_view"].weights.tolist() == pytest.approx(trace[DOT].array)


@pytest.mark.slow
def test_weights_answer_to_the_pointer_and_are_explained(
    show: Callable[..., dict[str, Panel]], session: Session, attending_run: Path, qtbot: QtBot
) -> None:
    panel = show(attending_run)["alignment_view"]
    qtbot.waitUntil(lambda: panel.shown.size > 0 and panel.is_in_sight)
    cell = panel.matrix.cell_rectangle(1, 2).center().toPoint()
    QTest.mouseMove(panel.matrix, cell)
    assert session.focus.hovered_position == 1
    qtbot.mouseClick(panel.matrix, Qt.MouseButton.LeftButton, pos=cell)
    assert session.focus.position == 1
    assert session.focus.cell == (DOT, (1, 2))
    explained = session.explanation
    qtbot.waitUntil(lambda: explained.arithmetic is not None and explained.arithmetic.index == (1, 2))
    assert explained.arithmetic.address == DOT
    weight = session.reading.current.trace[DOT].array[1, 2]
    assert explained.arithmetic.evaluate() == pytest.approx(weight, abs=1e-5)


@pytest.mark.slow
def test_words_between_the_texts_are_pinned_from_both_ends(
    show: Callable[..., dict[str, Panel]], session: Session, attending_run: Path, qtbot: QtBot
) -> None:
    panels = show(attending_run)
    arcs = panels["alignment_text_view"].findChild(AlignmentArcs)
    qtbot.waitUntil(lambda: arcs.isVisible() and arcs.marked is not None)
    QTest.mouseMove(arcs, arcs.token_place(TARGET, 0).toPoint())
    assert session.focus.hovered_position == 0
    qtbot.mouseClick(arcs, Qt.MouseButton.LeftButton, pos=arcs.token_place(TARGET, 1).toPoint())
    assert session.focus.position == 1
    qtbot.mouseClick(arcs, Qt.MouseButton.LeftButton, pos=arcs.token_place(SOURCE, 2).toPoint())
    assert session.focus.cell == (DOT, (1, 2))


@pytest.mark.slow
def test_a_cell_of_a_model_that_is_read_meanwhile_is_no_word_of_the_source(
    show: Callable[..., dict[str, Panel]],
    window: MainWindow,
    session: Session,
    attending_run: Path,
    label_runs: dict[str, Path],
    qtbot: QtBot,
) -> None:
    arcs = show(attending_run)["alignment_text_view"].findChild(AlignmentArcs)
    qtbot.waitUntil(lambda: arcs.isVisible() and arcs.marked is not None)
    window.show_perspective("corpus")
    session.library.open(label_runs["classifier"])
    qtbot.waitUntil(lambda: session.reading.current.model.folder == label_runs["classifier"])
    assert session.reading.current.axes("logits") == ("label",)
    session.focus.choose_cell(("logits", (1,)))  # the translator's has a position, too
    assert session.focus.cell is not None


def test_the_head_that_aligns_best_is_chosen_before_all_heads_are_shown(
    session: Session, read_pair: Callable[..., Session], heads_run: Path
) -> None:
    read_pair(heads_run)
    assert session.attention.head == sharpest_head(session.reading.current.trace)


def test_of_a_transformer_the_chosen_head_is_shown_and_several_are_combined(
    show: Callable[..., dict[str, Panel]], session: Session, heads_run: Path, qtbot: QtBot
) -> None:
    panels = show(heads_run)
    panel, heads, trace = panels["alignment_view"], panels["heads_view"], session.reading.current.trace
    qtbot.waitUntil(lambda: {"alignment_view", "heads_view"} <= in_front(panels) and panel.shown.size > 0)
    assert heads.findChild(HeadMosaic).grid == (2, 2)
    assert session.attention.head == sharpest_head(trace)
    place = heads.findChild(HeadMosaic).tile_rectangle(1, 0).center().toPoint()
    qtbot.mouseClick(heads.findChild(HeadMosaic), Qt.MouseButton.LeftButton, pos=place)
    wanted = trace["decoder/layers/1/cross/weights"].array[0]
    qtbot.waitUntil(lambda: panel.shown.tolist() == wanted.tolist())
    other = heads.findChild(HeadMosaic).tile_rectangle(0, 1).center().toPoint()
    qtbot.mouseClick(
        heads.findChild(HeadMosaic), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, other
    )
    mean = combined_alignment(trace, [(1, 0), (0, 1)])
    qtbot.waitUntil(lambda: panel.shown.tolist() == pytest.approx(mean))
    assert not panel.findChild(QPushButton, "alignment_paint_button").isEnabled()


@pytest.mark.slow
def test_the_lines_of_python_give_what_is_drawn(
    show: Callable[..., dict[str, Panel]], session: Session, attending_run: Path, qtbot: QtBot
) -> None:
    panels = show(attending_run)
    panel, text, words = (
        panels[name] for name in ("alignment_view", "alignment_text_view", "next_word_view")
    )
    qtbot.waitUntil(lambda: panel.shown.size > 0 and text.weights.size > 0 and words.distribution is not None)
    given: dict[str, Any] = {}
    exec(panel.recipe(), given)
    assert given["values"] == pytest.approx(panel.shown, abs=1e-6)
    exec(text.recipe(), given)
    assert given["weights"] == pytest.approx(text.weights, abs=1e-6)
    exec(words.recipe(), given)
    assert given["distribution"].probabilities == pytest.approx(words.distribution.probabilities, abs=1e-6)


@pytest.mark.slow
def test_gradients_stand_in_the_place_of_weights(
    show: Callable[..., dict[str, Panel]], session: Session, attending_run: Path, qtbot: QtBot
) -> None:
    panel = show(attending_run)["alignment_view"]
    qtbot.waitUntil(lambda: panel.shown.size > 0 and panel.is_in_sight)
    session.gradients.show(True)
    qtbot.waitUntil(lambda: session.gradients.current is not None)
    wanted = session.gradients.current[DOT].array
    qtbot.waitUntil(lambda: panel.shown.tolist() == wanted.tolist())
    assert not panel.findChild(QPushButton, "alignment_paint_button").isEnabled()


@pytest.mark.slow
def test_a_head_that_looks_at_the_source_is_switched_off_and_crossed_out(
    show: Callable[..., dict[str, Panel]], session: Session, heads_run: Path, qtbot: QtBot
) -> None:
    panels = show(heads_run)
    heads = panels["heads_view"]
    qtbot.waitUntil(lambda: heads.is_in_sight and heads.findChild(HeadMosaic).grid == (2, 2))
    place = heads.findChild(HeadMosaic).tile_rectangle(1, 1).center().toPoint()
    qtbot.mouseClick(heads.findChild(HeadMosaic), Qt.MouseButton.LeftButton, pos=place)
    button = next(
        each for each in panels["surgery_view"].findChildren(QPushButton) if each.text() == "zero head"
    )
    qtbot.waitUntil(button.isEnabled)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.reading.current.baseline is not None)
    assert not session.reading.current.trace["decoder/layers/1/cross/mixed"].array[1].any()
    assert heads.findChild(HeadMosaic).faded == {(1, 1)}


@pytest.mark.slow
def test_without_attention_it_says_what_would_show_an_alignment(
    show: Callable[..., dict[str, Panel]], translator_run: Path, qtbot: QtBot
) -> None:
    panels = show(translator_run)
    qtbot.waitUntil(lambda: "alignment_view" in in_front(panels))
    qtbot.waitUntil(lambda: "attention “dot” or “bilinear”" in sentence(panels["alignment_view"]))


@pytest.mark.slow
def test_with_a_language_model_attention_comes_back_in_front(
    show: Callable[..., dict[str, Panel]],
    session: Session,
    attending_run: Path,
    transformer_run: Path,
    qtbot: QtBot,
) -> None:
    panels = show(attending_run)
    qtbot.waitUntil(lambda: "alignment_view" in in_front(panels))
    session.library.open(transformer_run)
    qtbot.waitUntil(lambda: {"attention_view", "attention_text_view"} <= in_front(panels))
    panels["alignment_view"].parentWidget().raise_()
    qtbot.waitUntil(lambda: "reads no source" in sentence(panels["alignment_view"]))


@pytest.mark.slow
def test_translate_then_paint_the_alignment_then_search(
    window: MainWindow,
    show: Callable[..., dict[str, Panel]],
    session: Session,
    attending_run: Path,
    drawn: Callable[[], None],
    qtbot: QtBot,
) -> None:
    panels = show(attending_run, "", "")
    qtbot.keyClicks(window.findChild(QLineEdit, "source_edit"), "abc")
    qtbot.keyClicks(window.findChild(QLineEdit, "prefix_edit"), "c")
    panel = panels["alignment_view"]
    qtbot.waitUntil(lambda: panel.shown.shape == (2, 4) and not session.reading.is_busy)
    before = session.reading.current.trace

    qtbot.mouseClick(panel.findChild(QPushButton, "alignment_paint_button"), Qt.MouseButton.LeftButton)
    row = 1
    column = int(before[DOT].array[row].argmin())
    start = panel.matrix.cell_rectangle(row, column).center().toPoint()
    qtbot.mousePress(panel.matrix, Qt.MouseButton.LeftButton, pos=start)
    for way in (40, 80, 160):
        qtbot.mouseMove(panel.matrix, start - QPoint(0, way))
    qtbot.mouseRelease(panel.matrix, Qt.MouseButton.LeftButton, pos=start - QPoint(0, 160))
    qtbot.waitUntil(lambda: len(session.surgery.in_force) == 1 and not session.reading.is_busy)
    assert not session.surgery.can_redo
    after = session.reading.current.trace
    assert after[DOT].array[row, column] == pytest.approx(1.0)
    assert after[DOT].array[row].sum() == pytest.approx(1.0)
    assert np.abs(after["logits"].array[-1] - before["logits"].array[-1]).max() > 1e-4
    shifts = panels["next_word_view"]
    qtbot.waitUntil(lambda: shifts.distribution is not None and shifts.is_up_to_date)
    assert shifts.distribution.logits.tolist() == pytest.approx(after["logits"].array[-1])

    alone = panels["surgery_view"].findChild(ChangeList)
    qtbot.waitUntil(lambda: alone.effects[0] is not None)
    assert alone.effects[0] == pytest.approx(alone.effects[1], abs=1e-5)

    window.show_perspective("sample")
    drawn()
    qtbot.waitUntil(
        lambda: session.writing.prospect is not None and session.writing.prospect.before is not None
    )
    before_and_now = session.writing.prospect.before, session.writing.prospect.distribution
    for found, traced in zip(before_and_now, (before, after), strict=True):
        assert found.logits == pytest.approx(traced["logits"].array[-1], abs=1e-5)
    beam = next(item for item in window.perspective.panels if item.objectName() == "beam_view")
    beam.parentWidget().raise_()
    qtbot.waitUntil(lambda: beam.is_in_sight)
    beam.findChild(QSpinBox, "beam_width_spin").setValue(2)
    beam.findChild(QSpinBox, "beam_length_spin").setValue(3)
    qtbot.mouseClick(beam.findChild(QPushButton, "beam_run_button"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.beam.is_grown)
    model = open_run_model(Run.open(attending_run))
    ids = before.sequences["source"].ids
    changed = GivenSource(ChangedModel(model, session.surgery.in_force), ids)
    options = BeamOptions(width=2, length=3)
    expected, untouched = (beam_search(each, "c", options) for each in (changed, GivenSource(model, ids)))
    found = [(node.id, node.state) for node in session.beam.tree.nodes]
    assert found == [(node.id, node.state) for node in expected.nodes]
    assert session.beam.tree.best.score == pytest.approx(expected.best.score, abs=1e-5)
    given: dict[str, Any] = {}
    exec(beam.recipe(), given)
    assert given["tree"].best.score == pytest.approx(expected.best.score, abs=1e-5)
    assert session.beam.tree.best.score != pytest.approx(untouched.best.score, abs=1e-5)
