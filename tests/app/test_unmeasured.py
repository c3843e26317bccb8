"""Of a training, what nobody measured is neither recorded, shown nor exported: not as 0, and not twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from covering import others_slow
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from lmviz.app.panels.train.health import HealthPanel
from lmviz.app.session.session import Session
from lmviz.app.session.training_state import CURVES
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.app.window.main_window import MainWindow
from lmviz.families import FAMILIES
from lmviz.runs.converting import convert
from lmviz.training.options import TrainingOptions
from lmviz.training.run import Run

ONLY_PANELS = ("health", "loss")
OF_UPDATES = ("learning_rate", "gradient_norm")

pytestmark = pytest.mark.parametrize("family", others_slow(["gru", "ngram"], "gru"))


@pytest.fixture
def run(
    window: MainWindow, session: Session, text_file: Path, tmp_path: Path, qtbot: QtBot, family: str
) -> Run:
    """A run that was trained in the window with a break, and is shown there."""
    window.show_perspective("train")
    long = tmp_path / "long.txt"  # so that counting it takes a while
    long.write_text(text_file.read_text(encoding="utf-8") * 100, encoding="utf-8")
    session.permission.allow([str(long)])
    with qtbot.waitSignal(session.text.changed):
        session.text.open(long, documents="line")
    settings = {} if family == "ngram" else {"width": 8}
    options = TrainingOptions(steps=9000, batch=2, length=8, snapshots=12, validate_every=0)
    session.training.start(family, FAMILIES[family].configuration(**settings), options)
    train_on(session, qtbot)
    session.training.resume()
    train_on(session, qtbot)
    return Run.open(session.training.state.folder)


def train_on(session: Session, qtbot: QtBot) -> None:
    """Make some steps and stop."""
    held = session.library.model.snapshots[-1] if session.library.model is not None else 0
    qtbot.waitUntil(
        lambda: (
            session.training.state.progress is not None and session.training.state.progress.step > held + 5
        )
    )
    session.training.stop()
    qtbot.waitUntil(lambda: session.training.state.phase == "stopped" and session.library.model is not None)
    qtbot.waitUntil(lambda: session.library.model.snapshots[-1] == session.training.state.progress.step)


def curve_of(lines: list[dict[str, Any]], name: str) -> list[tuple[int, float]]:
    return [(line["step"], line[name]) for line in lines if name in line]


def points_of(array: np.ndarray) -> list[tuple[int, float]]:
    return [(int(step), value) for step, value in array.tolist()]


def _is_not_recorded(run: Run, family: str) -> None:
    lines = [json.loads(line) for line in (run.folder / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == list(range(len(lines)))
    for line in lines:
        follows_an_update = family != "ngram" and line["step"] > 0
        assert [name in line for name in OF_UPDATES] == [follows_an_update] * 2
        assert ("tokens_per_second" in line) == ("loss" in line) == (line["step"] > 0)
    assert run.metrics() == lines


def _is_not_shown(run: Run, window: MainWindow, session: Session, qtbot: QtBot, family: str) -> None:
    lines, history = run.metrics(), session.training.shown.history
    assert set(history.curves) == {name for name in CURVES if curve_of(lines, name)}
    for name, curve in history.curves.items():
        assert list(zip(curve.steps, curve.values, strict=True)) == curve_of(lines, name)
    [health] = [panel for panel in window.perspective.panels if isinstance(panel, HealthPanel)]
    qtbot.waitUntil(lambda: health.is_up_to_date)
    for name in OF_UPDATES:
        label = health.findChild(QLabel, f"{name}_label")
        assert label.isVisible() == bool(label.text()) == (family != "ngram")
    plot = window.findChild(LinePlot, "loss_plot")
    qtbot.waitUntil(lambda: len(plot.points().get("training", ())) == len(lines) - 1)


def _is_not_exported(run: Run, window: MainWindow, qtbot: QtBot, tmp_path: Path, family: str) -> None:
    lines = run.metrics()
    [health] = [panel for panel in window.perspective.panels if isinstance(panel, HealthPanel)]
    qtbot.waitUntil(lambda: health.is_up_to_date)
    arrays, given = health.exported_arrays(), {}
    exec(health.recipe(), given)
    events = convert(run, tmp_path / "curves.tfevents").read_bytes()
    for name in OF_UPDATES:
        measured = curve_of(lines, name)
        assert (points_of(arrays[name]) if name in arrays else []) == measured
        assert given["curves"][str(run.folder)][name] == measured
        assert events.count(name.encode()) == len(measured)


def _says_when(window: MainWindow, session: Session, qtbot: QtBot, family: str, run: Run) -> None:
    [health] = [panel for panel in window.perspective.panels if isinstance(panel, HealthPanel)]
    qtbot.waitUntil(lambda: health.is_up_to_date)
    history, [card] = session.training.shown.history, health.findChildren(Card)
    if family == "ngram":
        assert not card.aside
        assert not any("/" in name for name in health.exported_arrays())
    else:
        assert card.aside == f"update / weight at step {history.ratios_step:,}, by layer"
        assert 0 < history.ratios_step < run.metrics()[-1]["step"]
        assert health.exported_arrays()["step of update_over_weight"] == history.ratios_step


def test_what_nobody_measured_is_nowhere_and_what_is_measured_now_and_then_says_when(
    run: Run, window: MainWindow, session: Session, qtbot: QtBot, tmp_path: Path, family: str
) -> None:
    _is_not_recorded(run, family)
    _is_not_shown(run, window, session, qtbot, family)
    _is_not_exported(run, window, qtbot, tmp_path, family)
    _says_when(window, session, qtbot, family, run)
