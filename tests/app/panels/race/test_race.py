"""The Race perspective: lanes made in its forms, watched, hidden, forked and taken through time."""

import json
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QLabel,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QWidget,
)
from pytestqt.qtbot import QtBot
from ticking import check_ticking

from lmviz.app.panels.race.sentences import race_in_words
from lmviz.app.session.session import Session
from lmviz.app.widgets.controls.row_list import RowList
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.app.widgets.tables.table_view import TableView
from lmviz.app.window.main_window import MainWindow
from lmviz.families import FAMILIES
from lmviz.runs.race_folder import open_race
from lmviz.training.options import TrainingOptions

SETTINGS = {"batch": 2, "length": 8, "snapshots": 200, "validate_every": 10, "schedule": "constant"}
TICKS = 125
LONG = 60_000


def find(window: MainWindow, kind: type[QWidget], name: str) -> QWidget:
    return next(found for found in window.findChildren(kind, name) if found.isVisible())


def click(window: MainWindow, qtbot: QtBot, name: str) -> None:
    button = find(window, QPushButton, name)
    qtbot.waitUntil(button.isEnabled)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def write(window: MainWindow, qtbot: QtBot, name: str, words: str) -> None:
    edit = find(window, QLineEdit, name)
    edit.selectAll()
    qtbot.keyClicks(edit, words)


@pytest.fixture
def ready(window: MainWindow, session: Session, text_file: Path, qtbot: QtBot) -> Session:
    """The window on Race with a text open, and a small GRU planned."""
    with qtbot.waitSignal(session.text.changed):
        session.text.open(text_file, documents="line")
    plan(session, 60)
    qtbot.waitUntil(lambda: session.work.is_ready)
    return session


def plan(session: Session, steps: int, **settings: float) -> None:
    options = TrainingOptions(steps=steps, **{**SETTINGS, **settings})
    session.plan.set("gru", FAMILIES["gru"].configuration(width=8), options)


def lanes_named(session: Session) -> dict[str, object]:
    return {lane.label: lane for lane in session.race.lanes}


@pytest.mark.slow
def test_what_was_measured_before_the_first_update_makes_no_lane_the_best(
    ready: Session, window: MainWindow, qtbot: QtBot
) -> None:
    plan(ready, 60, validate_every=50)
    ready.race.add({"learning_rate": (0.001, 0.01)})
    ready.race.go_on()
    ready.race.pause()
    qtbot.waitUntil(lambda: all(lane.best is not None for lane in ready.race.lanes), timeout=LONG)
    ready.race.step()
    qtbot.waitUntil(lambda: all(0 < lane.step < 50 for lane in ready.race.lanes), timeout=LONG)
    assert "lowest" not in "".join(piece.text for piece in race_in_words(ready.race.lanes))
    ready.race.go_on()
    qtbot.waitUntil(lambda: not ready.race.is_active, timeout=LONG)
    assert "lowest" in "".join(piece.text for piece in race_in_words(ready.race.lanes))


@pytest.mark.slow
def test_four_rates_one_is_hidden_the_best_forked_and_all_scrubbed(
    window: MainWindow, ready: Session, qtbot: QtBot
) -> None:
    ready.reading.set_prefix("the cows eat")
    write(window, qtbot, "race_values_edit", "0.001 0.01 0.03 100")
    click(window, qtbot, "add_values_button")
    assert list(lanes_named(ready)) == ["0.001", "0.01", "0.03", "100"]
    reason = window.findChild(QLabel, "race_reason")
    qtbot.waitUntil(lambda: "4 wait" in reason.text() and "of memory" in reason.text())
    click(window, qtbot, "race_start_button")
    qtbot.waitUntil(lambda: bool(ready.race.lanes[0].folder) and not ready.race.is_active, timeout=LONG)
    states = {label: lane.phase for label, lane in lanes_named(ready).items()}
    assert states == {"0.001": "finished", "0.01": "finished", "0.03": "finished", "100": "diverged"}
    qtbot.waitUntil(lambda: "100 diverged at step" in find(window, QLabel, "race_sentence").accessibleName())

    plot = find(window, LinePlot, "race_plot")
    qtbot.waitUntil(lambda: set(plot.curves) == {"0.001", "0.01", "0.03", "100"})
    qtbot.waitUntil(lambda: len(ready.library.models) == 4)
    place = plot.names.places["100"].center().toPoint()
    qtbot.mouseClick(plot.names, Qt.MouseButton.LeftButton, pos=place)
    assert ready.race.hidden == {"learning_rate=100"}
    words = window.findChild(QWidget, "lane_words_view")
    qtbot.waitUntil(lambda: set(words.exported_arrays()) == {"0.001", "0.01", "0.03"})

    best = min(ready.race.lanes[:3], key=lambda lane: lane.best)
    click(window, qtbot, "forking_tab")
    source = find(window, QComboBox, "fork_run_picker")
    source.setCurrentIndex(source.findText(best.label))
    find(window, QSpinBox, "fork_step_spin").setValue(40)
    half = best.planned.options.learning_rate / 2
    write(window, qtbot, "fork_value_edit", f"{half:g}")
    click(window, qtbot, "fork_button")
    qtbot.waitUntil(lambda: len(ready.race.lanes) == 5 and not ready.race.is_active, timeout=LONG)
    fork = ready.race.lanes[4]
    assert (fork.label, fork.phase, fork.left_at) == (f"{best.label} → {half:g}", "finished", 40)
    assert fork.color == best.color
    qtbot.waitUntil(lambda: fork.label in plot.curves)
    curve = plot.curves[fork.label]
    assert curve.dashed
    assert curve.x[0] == 40, "of a fork only what it did itself is drawn"

    qtbot.waitUntil(lambda: set(words.exported_arrays()) == {"0.001", "0.01", "0.03", fork.label})
    before = words.exported_arrays()["0.03"]
    plot.cursor_moved.emit(5.0)
    assert ready.library.step == 5
    qtbot.waitUntil(lambda: not np.array_equal(words.exported_arrays()["0.03"], before))
    assert {step for model, step in ready.comparison.moments if model.folder != fork.folder} == {5}
    window.show_perspective("compare")
    names = [model.name for model, _ in ready.comparison.moments]
    assert sorted(names) == sorted(["lane 0.001", "lane 0.01", "lane 0.03", f"lane {fork.label}"])


def test_two_settings_make_a_grid_and_a_lane_comes_from_train(
    window: MainWindow, ready: Session, qtbot: QtBot
) -> None:
    write(window, qtbot, "race_values_edit", "0.001, 0.01")
    second = find(window, QComboBox, "race_second_picker")
    second.setCurrentIndex(second.findText("Width"))
    write(window, qtbot, "race_second_values_edit", "4 8")
    click(window, qtbot, "add_values_button")
    assert list(lanes_named(ready)) == ["4 · 0.001", "8 · 0.001", "4 · 0.01", "8 · 0.01"]
    table = window.findChild(TableView, "race_table")
    qtbot.waitUntil(lambda: table.model().rowCount() == 4)
    assert (
        table.model().headerData(0, Qt.Orientation.Horizontal).replace("\n", " ") == "width · learning rate"
    )
    plan(ready, 60, learning_rate=0.5)
    window.show_perspective("train")
    click(window, qtbot, "add_lane_button")
    assert window.perspective.name == "race"
    assert list(lanes_named(ready))[-1] == "8 · 0.5"
    ready.race.choose(ready.race.lanes[0].name)
    click(window, qtbot, "steering_tab")
    click(window, qtbot, "lane_stop_button")
    assert list(lanes_named(ready)) == ["8 · 0.001", "4 · 0.01", "8 · 0.01", "8 · 0.5"]


@pytest.mark.slow
def test_the_rate_that_stands_in_the_field_is_that_of_the_chosen_lane(
    window: MainWindow, ready: Session, qtbot: QtBot
) -> None:
    plan(ready, 9000)
    ready.race.add({"learning_rate": [0.001, 0.01]})
    ready.race.go_on()
    qtbot.waitUntil(lambda: all(map(ready.race.opened, ready.race.lanes)), timeout=LONG)
    click(window, qtbot, "steering_tab")
    field, panel = find(window, QLineEdit, "race_rate_edit"), window.findChild(QWidget, "lanes_view")
    first, second = (lane.name for lane in ready.race.lanes)

    def given() -> list[float | None]:
        return [lane.rate for lane in ready.race.lanes]

    def type_rate(words: str) -> None:
        qtbot.waitUntil(field.isEnabled)
        field.selectAll()
        qtbot.keyClick(field, Qt.Key.Key_Backspace)
        qtbot.keyClicks(field, words)
        qtbot.keyClick(field, Qt.Key.Key_Return)

    ready.race.choose(first)
    type_rate("0,5")
    assert given() == [0.5, None]
    ready.race.choose(second)
    qtbot.waitUntil(lambda: find(window, QLabel, "chosen_lane").text() == "0.01")
    assert field.text() == ""
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert given() == [0.5, None]
    for refused in ("nan", "-1", "1e9", "fast"):
        type_rate(refused)
        assert "Learning rate must be" in panel.complaint
        assert given() == [0.5, None]
    type_rate("0.25")
    assert (panel.complaint, given()) == ("", [0.5, 0.25])

    whose = find(window, QComboBox, "race_rate_picker")
    whose.setCurrentText("all lanes")
    whose.activated.emit(whose.currentIndex())
    assert (field.text(), field.placeholderText()) == ("", "each its own")
    type_rate("0.125")
    assert given() == [0.125, 0.125]
    ready.race.stop(second)
    qtbot.waitUntil(lambda: ready.race.lanes[1].phase == "stopped", timeout=LONG)
    type_rate("")
    assert given()[0] is None
    ready.race.stop()
    qtbot.waitUntil(lambda: not ready.race.is_active and not field.isEnabled())


@pytest.mark.slow
def test_all_lanes_pause_step_and_stop_below(window: MainWindow, ready: Session, qtbot: QtBot) -> None:
    plan(ready, 9000)
    ready.race.add({"learning_rate": [0.001, 0.01]})
    click(window, qtbot, "race_all_button")
    qtbot.waitUntil(lambda: all(lane.step > 2 for lane in ready.race.lanes), timeout=LONG)
    click(window, qtbot, "race_all_button")
    qtbot.waitUntil(lambda: {lane.phase for lane in ready.race.lanes} == {"paused"})
    assert find(window, QPushButton, "race_all_button").text() == "Resume all"
    held = max(lane.step for lane in ready.race.lanes)
    qtbot.keyClick(window, Qt.Key.Key_Period, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: min(lane.step for lane in ready.race.lanes) > held)
    qtbot.waitUntil(lambda: {lane.phase for lane in ready.race.lanes} == {"paused"})
    qtbot.waitUntil(lambda: all(map(ready.race.opened, ready.race.lanes)))
    ready.race.fork(ready.race.lanes[1].folder, 0, {"width": "12"})
    lanes = window.findChild(QWidget, "lanes_view")
    qtbot.waitUntil(lambda: "No matrix of" in lanes.complaint)
    assert len(ready.race.lanes) == 2, "of a fork that was refused nothing is left"
    held = max(lane.step for lane in ready.race.lanes)
    ready.race.step()  # which it says, as it does four times a second while it goes on
    qtbot.waitUntil(lambda: min(lane.step for lane in ready.race.lanes) > held)
    assert "No matrix of" in lanes.complaint
    window.show_perspective("inside")
    assert find(window, QPushButton, "race_stop_button").isEnabled(), "a race under way is steered everywhere"
    click(window, qtbot, "race_stop_button")
    qtbot.waitUntil(lambda: not ready.race.is_active)
    qtbot.waitUntil(lambda: find(window, QPushButton, "train_button").isVisible())


@pytest.mark.slow
def test_a_race_opens_like_a_run(window: MainWindow, ready: Session, qtbot: QtBot) -> None:
    plan(ready, 20)
    ready.race.add({"learning_rate": [0.001, 0.01]})
    ready.race.go_on()
    qtbot.waitUntil(lambda: not ready.race.is_active, timeout=LONG)
    folder = ready.race.folder
    for path in (folder, folder / "race.json"):
        ready.race.clear()
        window.show_perspective("corpus")
        window.open_paths([path])
        qtbot.waitUntil(lambda: len(ready.race.lanes) == 2)
        assert window.perspective.name == "race"
    ready.race.clear()
    next(action for action in window.commands.all() if action.text().startswith("Open a run")).trigger()
    qtbot.waitUntil(lambda: window.findChild(QDialog, "open_model_dialog") is not None)
    runs = window.findChild(QDialog, "open_model_dialog").findChild(RowList)
    [whole] = [row for row, listed in enumerate(runs.rows) if ", all lanes" in listed.words[0]]
    runs.setCurrentIndex(runs.model().index(whole, 0))
    runs.activated.emit(runs.currentIndex())
    qtbot.waitUntil(lambda: len(ready.race.lanes) == 2)
    panel = window.findChild(QWidget, "lanes_view")
    found: dict[str, object] = {}
    exec(panel.recipe(), found)
    assert [lane.step for lane in found["lanes"]] == [20, 20]
    assert json.loads((folder / "race.json").read_text("utf-8"))["turns"] == open_race(folder).turns


@pytest.mark.slow
def test_a_timer_keeps_ticking_with_four_lanes(window: MainWindow, ready: Session, qtbot: QtBot) -> None:
    plan(ready, 9000, batch=8, length=32)
    ready.reading.set_prefix("the cows eat")
    ready.race.add({"learning_rate": [0.0003, 0.002, 0.01, 0.1]})
    ready.race.go_on()
    qtbot.waitUntil(lambda: len(ready.library.models) == 4, timeout=LONG)
    check_ticking(qtbot, TICKS)


@pytest.mark.slow
def test_the_claim_of_layer_norm_is_a_race_of_rates_with_and_without(
    window: MainWindow, ready: Session, qtbot: QtBot
) -> None:
    click(window, qtbot, "prepared_race_button")
    assert list(lanes_named(ready)) == [
        *("pre · 0.003", "pre · 0.02", "pre · 0.1"),
        *("none · 0.003", "none · 0.02", "none · 0.1"),
    ]
    assert {lane.planned.configuration.layers for lane in ready.race.lanes} == {6}
    claim = window.findChild(QLabel, "race_claim")
    qtbot.waitUntil(lambda: claim.isVisible() and claim.text().startswith("Layer norm is said to allow"))
    ready.race.clear()
    qtbot.waitUntil(lambda: not claim.isVisible())
