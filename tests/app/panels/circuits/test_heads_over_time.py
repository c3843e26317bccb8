"""What heads do, by layer and head at the shown step, and of one over all snapshots."""

import itertools
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot
from told import words_of

import lmviz
from lmviz.api.training import find_run
from lmviz.app.panels.circuits.heads_over_time import ROLES, ROWS, WHERE, WORDS, HeadsOverTimePanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.empty_text import EmptyText
from lmviz.app.widgets.base.figures import brief_percentage
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.widgets.plots.curve_rows import CurveRows
from lmviz.app.widgets.plots.legend import Legend
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.app.window.main_window import MainWindow
from lmviz.app.window.snapshot_slider import SnapshotSlider
from lmviz.circuits import head_scores
from lmviz.circuits.head_scores import HeadScores
from lmviz.models.model import Model

ONLY_PANELS = ("heads_over_time",)


def in_front(window: MainWindow) -> HeadsOverTimePanel:
    [found] = [item for item in window.perspective.panels if isinstance(item, HeadsOverTimePanel)]
    found.parentWidget().raise_()
    return found


@pytest.fixture
def panel(window: MainWindow, session: Session, qtbot: QtBot) -> HeadsOverTimePanel:
    """The panel in front, with the sample Transformer and all its snapshots."""
    found = in_front(window)
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open("stories-transformer")
    qtbot.waitUntil(lambda: found.is_whole and found.is_up_to_date)
    return found


def test_each_snapshot_has_the_scores_that_python_gives(panel: HeadsOverTimePanel):
    wanted = lmviz.head_scores("stories-transformer", words=WORDS, rows=ROWS, steps=[0, 2062, 6000])
    for step, scores in wanted.items():
        assert panel.scores[step].array == pytest.approx(scores.array, abs=1e-5)
    arrays = panel.exported_arrays()
    assert arrays["step"].tolist() == sorted(panel.scores)
    assert arrays["first"].shape == arrays["rest"].shape == (16, 3, 4)
    assert arrays["loss_again"][-1] == pytest.approx(panel.scores[6000].loss_again)
    known: dict[str, object] = {}
    exec(panel.recipe(), known)
    assert known["values"][6000] == pytest.approx(panel.scores[6000].array, abs=1e-5)


@pytest.mark.slow
def test_a_click_on_a_row_chooses_a_head_and_the_sentence_says_what_it_does(
    panel: HeadsOverTimePanel, session: Session, qtbot: QtBot
):
    rows = panel.findChild(CurveRows)
    assert [row.name for row in rows.rows][:5] == ["1·1", "1·2", "1·3", "1·4", "2·1"]
    qtbot.mouseClick(rows, Qt.MouseButton.LeftButton, pos=rows.part_rectangle(10).center().toPoint())
    assert session.attention.head == (2, 2)
    qtbot.waitUntil(lambda: "Head 3·3 has" in words_of(panel, "heads_sentence"))
    best = panel.scores[6000].array[:, 2, 2].max()
    assert f"has {100 * best:.0f} % of its attention on" in words_of(panel, "heads_sentence")
    assert rows.current == 10
    qtbot.keyClick(rows, Qt.Key.Key_Up)
    assert session.attention.head == (2, 1)
    window = panel.window()
    window.resize(window.minimumSizeHint().expandedTo(QSize(1100, 640)))
    for row in (0, 11):
        session.attention.choose_head(*divmod(row, 4))
        qtbot.waitUntil(lambda row=row: rows.current == row)
        assert rows.visibleRegion().boundingRect().contains(rows.part_rectangle(row).center().toPoint())


@pytest.mark.slow
def test_the_rows_stand_on_the_axis_of_the_losses(panel: HeadsOverTimePanel, session: Session, qtbot: QtBot):
    losses, rows = panel.findChild(LinePlot, "heads_losses"), panel.findChild(CurveRows)
    assert set(losses.curves) == {"new words", "said again", "usual loss"}
    assert losses.curves["said again"].y[-1] == pytest.approx(panel.scores[6000].loss_again)
    for step in (0, 2062, 6000):
        above = losses.mapToGlobal(losses.place_of(step, 0)).x()
        assert rows.mapToGlobal(QPoint(round(rows.place_of(step)), 0)).x() == pytest.approx(above, abs=2)
    session.library.choose_step(82)
    qtbot.waitUntil(lambda: panel.is_up_to_date)
    title, lines = rows.readout(0)
    assert title == "head 1·1"
    assert f"{100 * panel.scores[82].first[0, 0]:.0f} % on the first token" in lines


@pytest.mark.slow
def test_every_name_of_the_legend_is_in_sight_where_there_is_little_width(
    panel: HeadsOverTimePanel, qtbot: QtBot
):
    legend = panel.findChild(Legend)
    panel.window().resize(panel.window().minimumSizeHint().expandedTo(QSize(1000, 700)))
    panel.setFixedWidth(300)
    qtbot.waitUntil(lambda: panel.width() == 300 and legend.width() <= 300)
    places = legend.places()
    assert len(places) == len(ROLES)
    assert all(legend.rect().contains(area.toAlignedRect()) for _, area in places)


@pytest.mark.slow
def test_a_jump_is_shaded_said_and_marked_on_the_time_slider(
    window: MainWindow, session: Session, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
):
    scored, asked = head_scores.head_scores, itertools.count()

    def jumping(model: Model, **settings: int) -> HeadScores:
        """From the eleventh snapshot on, head 3·2 looks at what followed, and words said again are easy."""
        found, number = scored(model, **settings), next(asked)
        has_learned = number == 0 or number > 10  # the last snapshot is asked first
        array = np.full_like(found.array, 0.05)
        array[3, 2, 1] = 0.6 if has_learned else 0.05
        return replace(found, array=array, loss_new=8.0, loss_again=0.5 if has_learned else 7.9)

    monkeypatch.setattr(head_scores, "head_scores", jumping)
    panel = in_front(window)
    session.library.open("stories-transformer")
    qtbot.waitUntil(lambda: panel.is_whole and panel.is_up_to_date)
    sentence = words_of(panel, "heads_sentence")
    assert "Around step 328 the loss of repeated words falls from 7.9 to 0.5 nats." in sentence
    assert "In the same steps head 3·2 turns to the word that followed last time." in sentence
    rows = panel.findChild(CurveRows)
    assert rows.band == (242, 414)
    assert [row.said for row in rows.rows if row.strong] == ["what followed 60 %"]
    assert window.findChild(SnapshotSlider).marks == ((328, "the jump, step 328"),)
    session.library.choose_step(82)
    qtbot.waitUntil(lambda: not any(row.strong for row in rows.rows))
    session.library.open("stories-gru")
    qtbot.waitUntil(lambda: window.findChild(SnapshotSlider).marks == ())


@pytest.mark.slow
def test_of_the_sample_that_repeats_the_jump_and_its_heads_are_found(
    window: MainWindow, session: Session, qtbot: QtBot
):
    panel = in_front(window)
    session.library.open("echo-transformer")
    qtbot.waitUntil(lambda: panel.is_whole and panel.is_up_to_date)
    rows = panel.findChild(CurveRows)
    begin, end = rows.band
    assert 1200 < begin < end < 1600
    assert "2·3 turns to the word that followed last time" in words_of(panel, "heads_sentence")
    said = {row.name: row.said for row in rows.rows}
    assert said["2·3"].startswith("what followed ")
    session.library.choose_step(1000)
    qtbot.waitUntil(lambda: {row.name: row.said for row in rows.rows}["2·3"] == "no clear role")


@pytest.mark.slow
def test_of_one_snapshot_there_is_a_map_by_one_score(
    window: MainWindow, session: Session, qtbot: QtBot, tmp_path: Path
):
    folder = tmp_path / "one"
    shutil.copytree(find_run("stories-transformer"), folder)
    for path in (folder / "snapshots").iterdir():
        if "6000" not in path.name:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    panel = in_front(window)
    session.library.open(folder)
    qtbot.waitUntil(lambda: panel.is_whole and panel.is_up_to_date)
    picker, grid = panel.findChild(QComboBox, "head_score_picker"), panel.findChild(HeatmapView, "heads_map")
    assert grid.isVisible()
    assert not panel.findChild(CurveRows).isVisible()
    scores = panel.scores[6000]
    for at, (name, where) in enumerate(WHERE.items()):
        picker.setCurrentText(name)
        picker.activated.emit(at)
        layer, head = np.unravel_index(scores[name].argmax(), scores[name].shape)
        share = f"{brief_percentage(scores[name].max())} % of its attention on {where}"
        said = words_of(panel, "heads_sentence")
        assert said.startswith(f"Head {layer + 1}·{head + 1} has {share}")
    picker.setCurrentText("first")
    picker.activated.emit(1)
    title, lines = grid.readout((0, 0))
    assert title == "head 3·1"
    assert f"{100 * panel.scores[6000].first[2, 0]:.0f} % on the first token" in lines
    place = grid.cell_rectangle(0, 2).center().toPoint()
    qtbot.mouseClick(grid, Qt.MouseButton.LeftButton, pos=place)
    assert session.attention.head == (2, 2)


def test_while_a_training_goes_on_every_new_snapshot_is_scored(
    window: MainWindow, session: Session, transformer_run: Path, qtbot: QtBot, tmp_path: Path
):
    panel, folder = in_front(window), shutil.copytree(transformer_run, tmp_path / "run")
    session.library.open(folder)
    qtbot.waitUntil(lambda: panel.is_whole and panel.is_up_to_date)
    last = session.library.model.snapshots[-1]
    for step in (last + 5, last + 10):
        newest = folder / "snapshots" / f"{step:06d}.safetensors"
        shutil.copy(folder / "snapshots" / f"{last:06d}.safetensors", newest)
    session.library.refresh_snapshots(folder)
    qtbot.waitUntil(lambda: set(panel.scores) == set(session.library.model.snapshots))
    assert panel.scores[last + 5].array == pytest.approx(panel.scores[last].array)


@pytest.mark.slow
def test_a_model_without_heads_says_what_to_open(panel: HeadsOverTimePanel, session: Session, qtbot: QtBot):
    session.library.open("stories-gru")
    qtbot.waitUntil(lambda: session.library.model is not None and session.library.model.family == "gru")
    qtbot.waitUntil(lambda: panel.findChild(EmptyText, "out_of_place") is not None)
    assert "Open a Transformer of one text" in panel.findChild(EmptyText, "out_of_place").text()
