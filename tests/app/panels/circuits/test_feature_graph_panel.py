"""The graph of features in the window: what Python gives, what nodes keep, edges tried, groups and files."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot
from told import words_of

import lmviz
from lmviz.app.panels.circuits.feature_graph import FeatureGraphPanel
from lmviz.app.widgets.controls.slider_row import SliderRow
from lmviz.app.widgets.diagrams.circuit_picture import CircuitPicture
from lmviz.app.widgets.plots.signed_bars import SignedBars
from lmviz.app.window.main_window import MainWindow
from lmviz.base.figures import whole_percentage

ONLY_PANELS = ("feature_graph",)


@pytest.fixture
def panel(window: MainWindow, open_features: Callable[[], None], qtbot: QtBot) -> FeatureGraphPanel:
    """The panel with a graph drawn."""
    [found] = [item for item in window.perspective.panels if isinstance(item, FeatureGraphPanel)]
    open_features()
    qtbot.waitUntil(
        lambda: found.is_whole and found.found.kept is not None and found.found.kept.rest == "changed"
    )
    return found


def test_the_graph_is_that_of_python_and_the_slider_says_what_is_kept(
    panel: FeatureGraphPanel, transformer_run: Path, qtbot: QtBot, tmp_path: Path
):
    known: dict[str, object] = {}
    exec(panel.recipe(), known)
    np.testing.assert_allclose(panel.exported_arrays()["weights"], known["values"], atol=1e-5)
    graph, slider = panel.found, panel.findChild(SliderRow, "feature_graph_slider")
    picture = panel.findChild(CircuitPicture, "feature_graph_picture")
    slider.slider.setValue(slider.slider.maximum())
    assert panel.count == len(graph.nodes) == len(picture.nodes)
    share = graph.kept.shares[-1]
    assert f"keep {whole_percentage(share)} of the way" in words_of(panel, "feature_graph_sentence")
    assert any(node.is_error for node in picture.nodes)
    slider.slider.setValue(0)
    assert panel.count == graph.kept.sizes[0] == len(picture.nodes)

    slider.slider.setValue(slider.slider.maximum())
    bars = panel.findChild(SignedBars, "feature_graph_edges")
    strongest = max(range(len(bars.values)), key=lambda at: abs(bars.values[at]))
    bars.part_clicked.emit(strongest)
    qtbot.waitUntil(lambda: "nothing held" in words_of(panel, "feature_graph_trial"))
    at = int(np.abs(graph.weights[-1]).argmax())
    trial = lmviz.try_edge(transformer_run, graph, at)
    assert bars.values[strongest] == pytest.approx(trial.said)
    [tried] = panel._tried.values()
    assert (tried.direct, tried.free) == pytest.approx((trial.direct, trial.free), abs=1e-6)

    edit = panel.findChild(QLineEdit, "feature_graph_group")
    for _ in range(2):
        node = next(at for at, one in enumerate(picture.nodes) if one.is_head)
        picture.set_current(node)
        picture.part_clicked.emit(node)
        edit.setText("together")
        QTest.keyClick(edit, Qt.Key.Key_Return)
    [group] = panel.found.groups
    assert len(group.nodes) == 2
    assert len(picture.nodes) == len(graph.nodes) - 1
    assert [node.label for node in picture.nodes].count("together") == 1

    path = tmp_path / "graph.json"
    panel.save_graph(path)
    qtbot.waitUntil(path.exists)
    panel.open_graph(path)
    qtbot.waitUntil(lambda: "open_feature_graph" in panel.recipe())
    assert [one.name for one in panel.found.groups] == ["together"]
    bars.part_clicked.emit(0)
    assert "from a file" in words_of(panel, "feature_graph_trial") or "group" in words_of(
        panel, "feature_graph_trial"
    )
    panel._back.click()
    qtbot.waitUntil(lambda: panel.is_whole and panel.found is not None and not panel.found.groups)


@pytest.mark.slow
def test_a_file_that_holds_no_graph_is_said(panel: FeatureGraphPanel, tmp_path: Path, qtbot: QtBot):
    (tmp_path / "none.json").write_text("{}", encoding="utf-8")
    panel.open_graph(tmp_path / "none.json")
    qtbot.waitUntil(lambda: "holds no graph" in panel.complaint)
