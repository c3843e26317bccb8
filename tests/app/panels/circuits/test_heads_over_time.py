"""What heads do, by layer and head at the shown step, and of one over all snapshots."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.panels.circuits.heads_over_time import ROWS, WORDS, HeadsOverTimePanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.empty_text import EmptyText
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.window.main_window import MainWindow

ONLY_PANELS = ("heads_over_time",)


@pytest.fixture
def panel(window: MainWindow, session: Session, qtbot: QtBot) -> HeadsOverTimePanel:
    """The panel in front, with the sample Transformer and all its snapshots."""
    [found] = [item for item in window.perspective.panels if isinstance(item, HeadsOverTimePanel)]
    found.parentWidget().raise_()
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open("stories-transformer")
    qtbot.waitUntil(lambda: found.is_whole)
    return found


def test_each_snapshot_has_the_scores_that_python_gives(panel: HeadsOverTimePanel):
    wanted = lmviz.head_scores("stories-transformer", words=WORDS, rows=ROWS, steps=[0, 2062, 6000])
    for step, scores in wanted.items():
        assert panel.scores[step].array == pytest.approx(scores.array, abs=1e-5)
    arrays = panel.exported_arrays()
    assert arrays["step"].tolist() == sorted(panel.scores)
    assert arrays["first"].shape == (16, 3, 4)
    known: dict[str, object] = {}
    exec(panel.recipe(), known)
    assert known["values"][6000] == pytest.approx(panel.scores[6000].array, abs=1e-5)


def test_a_click_chooses_a_head_and_the_sentence_says_what_it_does(
    panel: HeadsOverTimePanel, session: Session, qtbot: QtBot
):
    grid = panel.findChild(HeatmapView, "heads_map")
    last = panel.scores[6000]
    place = grid.cell_rectangle(0, 2).center().toPoint()
    qtbot.mouseClick(grid, Qt.MouseButton.LeftButton, pos=place)
    assert session.attention.head == (2, 2)
    qtbot.waitUntil(lambda: panel.sentence.startswith("Head 3·3 has"))
    best = last.array[:, 2, 2].max()
    assert f"has {100 * best:.0f} % of its attention on" in panel.sentence


def test_another_score_and_another_step_are_drawn(panel: HeadsOverTimePanel, session: Session, qtbot: QtBot):
    picker = panel.findChild(QComboBox, "head_score_picker")
    grid = panel.findChild(HeatmapView, "heads_map")
    picker.setCurrentText("first")
    picker.activated.emit(1)
    session.library.choose_step(0)
    qtbot.waitUntil(lambda: panel.is_up_to_date)
    qtbot.mouseMove(grid, grid.cell_rectangle(0, 0).center().toPoint())
    share = panel.scores[0]["first"][2, 0]
    title, lines = grid.readout((0, 0))
    assert title == "head 3·1"
    assert f"{100 * share:.0f} % on the first token" in lines


def test_a_model_without_heads_says_what_to_open(panel: HeadsOverTimePanel, session: Session, qtbot: QtBot):
    session.library.open("stories-gru")
    qtbot.waitUntil(lambda: session.library.model is not None and session.library.model.family == "gru")
    qtbot.waitUntil(lambda: panel.findChild(EmptyText, "out_of_place") is not None)
    assert "Open a Transformer of one text" in panel.findChild(EmptyText, "out_of_place").text()
