"""Heads as channels of a convolution, in the window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from layout_faults import noted_texts
from PySide6.QtGui import QPolygonF
from PySide6.QtWidgets import QComboBox, QLabel, QWidget
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.panels.attention.channels import ACROSS, ChannelsPanel
from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.figures import percentage
from lmviz.app.widgets.matrix.heatmap import HeatmapView

ONLY_PANELS = ("attention", "alignment", "attention_text", "channels")


def in_front(panels: dict[str, Panel], qtbot: QtBot) -> ChannelsPanel:
    panel = panels["channels_view"]
    assert isinstance(panel, ChannelsPanel)
    for name in ("attention_view", "channels_view"):
        panels[name].parentWidget().raise_()
    qtbot.waitUntil(lambda: panel.is_in_sight and panels["attention_view"].is_in_sight)
    return panel


def matrix(panel: Panel, name: str) -> HeatmapView:
    found = panel.findChild(HeatmapView, name)
    assert found is not None
    return found


def choose(panel: Panel, name: str, place: int) -> None:
    picker = panel.findChild(QComboBox, name)
    assert picker is not None
    picker.setCurrentIndex(place)
    picker.activated.emit(place)


def test_a_cell_is_the_mean_of_a_diagonal_which_a_click_lights(
    panels: dict[str, Panel], session: Session, run: Path, qtbot: QtBot
) -> None:
    panel, attention = in_front(panels, qtbot), panels["attention_view"]
    qtbot.waitUntil(lambda: panel.found is not None)
    reading = session.reading.current
    expected = lmviz.head_kernels(run, reading.trace.text, 0, size=9)
    np.testing.assert_allclose(panel.exported_arrays()["weights"], expected.array, atol=1e-6)
    np.testing.assert_allclose(panel.exported_arrays()["shares"], expected.shares, atol=1e-5)
    known: dict[str, object] = {}
    exec(panel.recipe(), known)
    np.testing.assert_allclose(known["shares"], expected.shares, atol=1e-5)

    cells, line = matrix(panel, "channels_matrix"), matrix(panel, "offset_matrix")
    cells.cell_clicked.emit(1, 2)  # of the second head, two words back
    assert (session.attention.head, session.attention.offset) == ((0, 1), -2)
    qtbot.waitUntil(lambda: attention.matrix.lights is not None)
    weights = reading.trace["layers/0/attention/weights"].array[1]
    count = len(weights)
    assert np.array_equal(attention.matrix.lights > 0, np.eye(count, k=-2, dtype=bool))
    qtbot.waitUntil(lambda: line.readout((0, 2))[0] == percentage(float(weights[2, 0])))
    mean = panel.exported_arrays()["weights"][1, 2]
    assert mean == pytest.approx(np.diagonal(weights, -2).mean(), abs=1e-6)
    assert line.readout((0, 2))[1][1] == f"a fixed weight: {percentage(mean)}"
    assert line.readout((0, 1))[0] == "nothing 2 words back"
    line.cell_clicked.emit(0, 3)
    assert session.focus.position == 3

    line.resize(500, 72)
    texts: list[tuple[str, QPolygonF, QWidget]] = []
    with noted_texts(texts):
        line.grab()
    assert {"head 2 at −2", "fixed weight"} <= {text for text, _, _ in texts}, "in the lowest window, too"

    cells.cell_clicked.emit(1, 2)
    assert session.attention.offset is None
    cells.cell_clicked.emit(0, 1)
    panel.hide()  # another tab comes in front
    assert session.attention.offset is None


@pytest.mark.slow
def test_a_kernel_has_as_many_offsets_as_are_chosen(panels: dict[str, Panel], qtbot: QtBot) -> None:
    panel = in_front(panels, qtbot)
    qtbot.waitUntil(lambda: panel.found is not None)
    choose(panel, "kernel_size_picker", 0)
    qtbot.waitUntil(lambda: panel.exported_arrays()["weights"].shape == (2, 3))
    choose(panel, "kernel_size_picker", 4)
    qtbot.waitUntil(lambda: panel.exported_arrays()["weights"].shape[1] > 3)


@pytest.mark.slow
def test_between_two_texts_there_is_no_offset_and_within_the_source_there_are_some_ahead(
    show: Callable[..., dict[str, Panel]], session: Session, heads_run: Path, qtbot: QtBot
) -> None:
    panels = show(heads_run, "abcab", "cb")
    panels["alignment_view"].parentWidget().raise_()
    panels["channels_view"].parentWidget().raise_()
    panel = panels["channels_view"]
    assert isinstance(panel, ChannelsPanel)
    qtbot.waitUntil(lambda: any(label.text() == ACROSS for label in panel.findChildren(QLabel)))
    assert panel.exported_arrays() == {}
    in_front(panels, qtbot)
    session.attention.choose_side("encoder")
    qtbot.waitUntil(lambda: panel.found is not None and panel.found.side == "encoder")
    assert panel.found.offsets.max() > 0
    session.attention.choose_side("decoder")
    qtbot.waitUntil(lambda: panel.found is not None and panel.found.side == "decoder")
    assert panel.found.offsets.max() == 0


@pytest.mark.slow
def test_a_model_without_heads_says_so(
    panels: dict[str, Panel], session: Session, make_run: Callable[..., Path], qtbot: QtBot
) -> None:
    run = make_run("lstm", 2, width=8, layers=1)
    session.library.open(run)
    qtbot.waitUntil(lambda: session.library.model is not None and session.library.model.family == "lstm")
    assert "has no heads" in panels["channels_view"].out_of_place(session.library.model)
