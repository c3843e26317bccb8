"""The self-attention of a Transformer that translates: within its source, and within its translation."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from covering import parametrize_few
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QPushButton
from pytestqt.qtbot import QtBot

from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.widgets.matrix.mosaic import HeadMosaic
from lmviz.app.widgets.text.attention_text import AttentionText
from lmviz.app.window.main_window import MainWindow
from lmviz.inspection.attention import attention_place
from lmviz.inspection.head_badges import head_badges
from tests.app.conftest import wait_for_reading

ONLY_PANELS = ("heads", "attention", "alignment", "attention_text", "alignment_text", "surgery")
SIDES = [("encoder", 0, "abcab", "source"), ("decoder", 1, "cb", "position")]


def weights(session: Session, side: str, layer: int, head: int) -> np.ndarray:
    return session.reading.current.trace[f"{attention_place(layer, side)}/weights"].array[head]


def look_within(panels: dict[str, Panel], choice: int, qtbot: QtBot) -> Panel:
    """The Attention panel, brought in front and turned to one of its two texts, as a person does."""
    panel = panels["attention_view"]
    for name in ("attention_view", "attention_text_view"):
        panels[name].parentWidget().raise_()
    qtbot.waitUntil(lambda: panel.is_in_sight and panels["attention_text_view"].is_in_sight)
    picker = panel.findChild(QComboBox, "attention_side_picker")
    qtbot.waitUntil(lambda: picker.isVisible())
    qtbot.keyClick(picker, Qt.Key.Key_End if choice else Qt.Key.Key_Home)
    return panel


@pytest.mark.slow
def test_alignment_is_in_front_and_its_heads_are_all_heads(
    show: Callable[..., dict[str, Panel]], session: Session, heads_run: Path, qtbot: QtBot
) -> None:
    panels = show(heads_run)
    qtbot.waitUntil(
        lambda: panels["alignment_view"].is_in_sight and panels["alignment_text_view"].is_in_sight
    )
    assert session.attention.side == "cross"
    assert list(panels["heads_view"].exported_arrays()) == [
        f"decoder/layers/{layer}/cross/weights" for layer in (0, 1)
    ]


@parametrize_few(("side", "choice", "text", "axis"), SIDES)
def test_each_text_has_its_matrix_its_heads_its_badges_and_its_arcs(
    show: Callable[..., dict[str, Panel]],
    session: Session,
    heads_run: Path,
    qtbot: QtBot,
    side: str,
    choice: int,
    text: str,
    axis: str,
) -> None:
    panels = show(heads_run, "abcab", "cb")
    aligned = session.attention.head
    panel, heads = look_within(panels, choice, qtbot), panels["heads_view"]
    qtbot.waitUntil(lambda: session.attention.side == side)
    qtbot.waitUntil(lambda: np.array_equal(panel.shown, weights(session, side, 0, 0)))
    words = [*session.reading.current.names(axis)]
    assert list(panel.exported_names().rows) == list(panel.exported_names().columns) == words
    qtbot.waitUntil(lambda: heads.badges == head_badges(session.reading.current.trace, side))
    assert list(heads.exported_arrays()) == [f"{side}/layers/{layer}/attention/weights" for layer in (0, 1)]
    mosaic = heads.findChild(HeadMosaic)
    place = mosaic.tile_rectangle(1, 1).center().toPoint()
    qtbot.mouseClick(mosaic, Qt.MouseButton.LeftButton, pos=place)
    qtbot.waitUntil(lambda: np.array_equal(panel.shown, weights(session, side, 1, 1)))
    below = panels["attention_text_view"]
    qtbot.waitUntil(lambda: np.array_equal(below.weights, weights(session, side, 1, 1)))
    panels["alignment_view"].parentWidget().raise_()
    qtbot.waitUntil(lambda: session.attention.side == "cross")
    assert session.attention.head == aligned  # each attention keeps the head chosen of it
    panel.parentWidget().raise_()
    qtbot.waitUntil(lambda: (session.attention.side, session.attention.head) == (side, (1, 1)))


@pytest.mark.slow
def test_pointing_within_the_source_moves_no_position_of_the_translation(
    show: Callable[..., dict[str, Panel]], session: Session, heads_run: Path, qtbot: QtBot
) -> None:
    panels = show(heads_run, "abcab", "cb")
    panel = look_within(panels, 0, qtbot)
    qtbot.waitUntil(lambda: panel.shown.shape == (6, 6))
    position = session.focus.position
    cell = panel.matrix.cell_rectangle(4, 1).center().toPoint()
    QTest.mouseMove(panel.matrix, cell)
    assert (session.focus.hovered_source, session.focus.hovered_position) == (4, None)
    qtbot.mouseClick(panel.matrix, Qt.MouseButton.LeftButton, pos=cell)
    assert (session.focus.source, session.focus.position) == (4, position)
    assert session.focus.cell == ("encoder/layers/0/attention/weights", (0, 4, 1))
    explained = session.explanation
    qtbot.waitUntil(lambda: explained.arithmetic is not None and explained.arithmetic.index == (0, 4, 1))
    assert explained.arithmetic.evaluate() == pytest.approx(panel.shown[4, 1], abs=1e-5)
    below = panels["attention_text_view"]
    qtbot.waitUntil(lambda: below.weights.shape == (6, 6))
    arcs = below.findChild(AttentionText)
    qtbot.mouseClick(arcs, Qt.MouseButton.LeftButton, pos=arcs.token_place(2).toPoint())
    assert (session.focus.source, session.focus.position) == (2, position)
    session.reading.set_source("cab")
    assert session.focus.source is None


@pytest.mark.slow
def test_surgery_takes_the_head_that_is_looked_at(
    show: Callable[..., dict[str, Panel]],
    window: MainWindow,
    session: Session,
    heads_run: Path,
    qtbot: QtBot,
) -> None:
    panels = show(heads_run, "abcab", "cb")
    panel = look_within(panels, 0, qtbot)
    qtbot.waitUntil(lambda: panel.shown.shape == (6, 6))
    button = next(b for b in panels["surgery_view"].findChildren(QPushButton) if b.text() == "zero head")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    [change] = session.surgery.interventions
    assert (change.address, dict(change.where)) == ("encoder/layers/0/attention/mixed", {"head": 0})
    assert change.describe() == "encoder head 1·1 off"
    wait_for_reading(session, qtbot)
    mixed = "encoder/layers/0/attention/mixed"
    qtbot.waitUntil(lambda: not session.reading.current.trace[mixed].array[0].any())


@pytest.mark.slow
@parametrize_few(("choice", "made"), [(0, "scores"), (1, "scaled")], ids=["source", "translation"])
def test_each_step_of_attention_can_be_seen_with_a_mask_and_without(
    show: Callable[..., dict[str, Panel]],
    session: Session,
    heads_run: Path,
    qtbot: QtBot,
    choice: int,
    made: str,
) -> None:
    """Where nothing is masked, what was divided by √d are the scores."""
    panel = look_within(show(heads_run, "abcab", "cb"), choice, qtbot)
    side = ("encoder", "decoder")[choice]
    qtbot.waitUntil(lambda: np.array_equal(panel.shown, weights(session, side, 0, 0)))
    steps = panel.findChild(QComboBox, "attention_step_picker")
    for at, tap in enumerate(("products", made, "scores", "weights")):
        steps.setCurrentIndex(at)
        array = session.reading.current.trace[f"{attention_place(0, side)}/{tap}"].array[0]
        qtbot.waitUntil(lambda array=array: np.array_equal(panel.shown, array))
