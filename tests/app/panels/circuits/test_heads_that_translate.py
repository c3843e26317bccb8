"""A head that is clicked in Circuits is that of the side it belongs to, where a Transformer translates."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.widgets.plots.signed_bars import SignedBars
from lmviz.app.window.main_window import MainWindow

ONLY_PANELS = ("contrast", "patching", "ablation", "attribution")
LAYER, HEAD = 1, 1


@pytest.fixture
def asked(window: MainWindow, session: Session, heads_run: Path, qtbot: QtBot) -> Session:
    """Two layers of two heads, asked what another source changes."""
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open(heads_run)
    session.reading.set_source("abc")
    session.reading.set_prefix("cb")
    session.contrast.set_other("abb")
    qtbot.waitUntil(lambda: session.attention.side == "cross" and not session.reading.is_busy)
    return session


def shown(window: MainWindow, name: str, qtbot: QtBot) -> Panel:
    window.perspective.bring_forward(name)
    panel = window.perspective.findChild(Panel, name)
    qtbot.waitUntil(lambda: panel.is_in_sight and panel.found is not None and panel.is_up_to_date)
    return panel


def click_head(picture: HeatmapView, layers: int, qtbot: QtBot) -> None:
    place = picture.cell_rectangle(layers - 1 - LAYER, HEAD).center().toPoint()
    qtbot.mouseClick(picture, Qt.MouseButton.LeftButton, pos=place)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "side"), [("source head", "encoder"), ("head", "decoder"), ("cross head", "cross")]
)
def test_a_patched_head_is_chosen_on_its_side(
    asked: Session, window: MainWindow, kind: str, side: str, qtbot: QtBot
) -> None:
    panel = shown(window, "patching_view", qtbot)
    picker = panel.findChild(QComboBox, "carry_picker")
    picker.setCurrentIndex(picker.findText(kind))
    picker.activated.emit(picker.currentIndex())
    qtbot.waitUntil(lambda: panel.is_whole and panel.found.kind == kind)
    click_head(panel.findChild(QWidget, "patching_grid"), 2, qtbot)
    assert (asked.attention.side, asked.attention.head) == (side, (LAYER, HEAD))


def test_a_head_that_translates_is_switched_off(asked: Session, window: MainWindow, qtbot: QtBot) -> None:
    panel = shown(window, "patching_view", qtbot)
    picker = panel.findChild(QComboBox, "carry_picker")
    picker.setCurrentIndex(picker.findText("head"))
    picker.activated.emit(picker.currentIndex())
    qtbot.waitUntil(lambda: panel.is_whole and panel.found.kind == "head")
    click_head(panel.findChild(QWidget, "patching_grid"), 2, qtbot)
    qtbot.mouseClick(panel.findChild(QPushButton, "switch_head_off"), Qt.MouseButton.LeftButton)
    mixed = f"decoder/layers/{LAYER}/attention/mixed"
    assert [change.address for change in asked.surgery.interventions] == [mixed]
    qtbot.waitUntil(lambda: asked.reading.current.baseline is not None)
    traced = asked.reading.current.trace[mixed]
    assert not np.take(traced.array, HEAD, traced.axes.index("head")).any()


@pytest.mark.slow
def test_a_head_that_is_left_out_is_chosen_on_its_side(
    asked: Session, window: MainWindow, qtbot: QtBot
) -> None:
    panel = shown(window, "ablation_view", qtbot)
    click_head(panel.findChild(QWidget, "ablation_map"), 2, qtbot)
    assert (asked.attention.side, asked.attention.head) == ("decoder", (LAYER, HEAD))


@pytest.mark.slow
def test_a_head_that_adds_to_the_answer_is_chosen_on_its_side(
    asked: Session, window: MainWindow, qtbot: QtBot
) -> None:
    panel = shown(window, "attribution_view", qtbot)
    bars = panel.findChild(SignedBars, "attribution_bars")
    for kind, side in (("head", "decoder"), ("cross head", "cross")):
        at = next(at for at, name in enumerate(bars.labels) if name.startswith(f"{kind} "))
        layer, head = (int(number) - 1 for number in bars.labels[at].removeprefix(kind).split("·"))
        bars.part_clicked.emit(at)
        assert (asked.attention.side, asked.attention.head) == (side, (layer, head))
