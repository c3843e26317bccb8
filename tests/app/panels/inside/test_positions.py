"""Positions in the window: drawn, shifted, and measured beyond the context."""

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from covering import parametrize_few
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton, QSlider
from pytestqt.qtbot import QtBot

from lmviz.app.panels.inside.positions import PositionsPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.empty_text import EmptyText
from lmviz.app.window.main_window import MainWindow
from lmviz.families import FAMILIES
from lmviz.scaling.position_trial import KINDS as POSITION_KINDS
from lmviz.scaling.position_trial import TrialOptions
from lmviz.training.options import TrainingOptions

ONLY_PANELS = ("positions",)

KINDS = ("learned", "sinusoidal", "rotary", "alibi", "relative")


@pytest.fixture
def open_kind(
    window: MainWindow,
    session: Session,
    make_run: Callable[..., Path],
    text_file: Path,
    drawn: Callable[[], None],
    qtbot: QtBot,
) -> Callable[[str], PositionsPanel]:
    """Call it with a kind of positions for the panel, with a small model of that kind in it."""

    def open_it(kind: str, **more: object) -> PositionsPanel:
        settings = {"width": 8, "heads": 2, "layers": 1, "context": 8, "positions": kind} | more
        session.library.open(make_run("transformer", 2, **settings))
        session.text.open(text_file, documents="line")
        panel = next(panel for panel in window.perspective.panels if isinstance(panel, PositionsPanel))
        panel.parentWidget().raise_()
        qtbot.waitUntil(lambda: session.text.corpus is not None and session.library.model is not None)
        drawn()
        return panel

    return open_it


@pytest.mark.slow
def test_angles_that_depend_on_the_length_are_those_of_as_long_a_text(
    open_kind: Callable[..., PositionsPanel], qtbot: QtBot
) -> None:
    panel = open_kind("rotary", rotary_scaling="dynamic", rotary_original=4)
    qtbot.waitUntil(lambda: panel.picture is not None)
    assert said(panel, "shift_said").endswith("θ depends on the length; drawn are 8 tokens.")


def turn_to(panel: PositionsPanel, page: int) -> None:
    picker = panel.findChild(QComboBox, "positions_page_picker")
    picker.setCurrentIndex(page)
    picker.activated.emit(page)


def said(panel: PositionsPanel, name: str) -> str:
    return panel.findChild(QLabel, name).text()


@parametrize_few(
    ("kind", "sentence"),
    [
        ("learned", "A shift is not the same everywhere"),
        ("sinusoidal", "One matrix shifts every position by 3: pₜ₊ₖ = M pₜ"),
        ("rotary", "A shift turns each pair by kθ"),
        ("alibi", "Only the distance counts"),
        ("relative", "Only the distance counts"),
    ],
    quick=2,
)
def test_each_kind_shows_what_it_has(
    open_kind: Callable[[str], PositionsPanel], kind: str, sentence: str, qtbot: QtBot
) -> None:
    panel = open_kind(kind)
    qtbot.waitUntil(lambda: panel.picture is not None and panel.picture.kind == kind)
    assert panel.exported_arrays()["pairs"].shape == (8, 8)
    panel.findChild(QSlider, "shift_slider").setValue(3)
    assert said(panel, "shift_said").startswith(sentence)
    found: dict[str, object] = {}
    exec(panel.recipe(), found)
    assert np.array_equal(found["pairs"], panel.exported_arrays()["pairs"], equal_nan=True)


@pytest.mark.slow
def test_scores_are_shown_head_by_head(open_kind: Callable[[str], PositionsPanel], qtbot: QtBot) -> None:
    panel = open_kind("alibi")
    qtbot.waitUntil(lambda: panel.picture is not None)
    first = panel.picture
    picker = panel.findChild(QComboBox, "positions_head_picker")
    assert picker.count() == 2
    picker.setCurrentIndex(1)
    picker.activated.emit(1)
    qtbot.waitUntil(lambda: panel.picture is not first)
    assert panel.picture.pairs[7, 0] == pytest.approx(-7 * 2.0**-8)


@pytest.mark.slow
def test_without_positions_a_sentence_says_so(
    open_kind: Callable[[str], PositionsPanel], qtbot: QtBot
) -> None:
    panel = open_kind("none")
    qtbot.waitUntil(
        lambda: any(
            text.isVisible() and "told no positions" in text.text() for text in panel.findChildren(EmptyText)
        )
    )
    turn_to(panel, 1)
    qtbot.waitUntil(lambda: panel.beyond is not None)
    assert "attention is shared among more tokens" in said(panel, "beyond_said")


def test_beyond_the_context_is_measured_on_the_open_text(
    open_kind: Callable[[str], PositionsPanel], qtbot: QtBot
) -> None:
    panel = open_kind("rotary")
    turn_to(panel, 1)
    qtbot.waitUntil(lambda: panel.beyond is not None and panel.beyond.kind == "rotary")
    assert panel.beyond.beyond is not None
    assert panel.exported_arrays()["position"].max() > 8
    assert f"Behind it: {panel.beyond.beyond:.3f}" in said(panel, "beyond_said")


@pytest.mark.slow
def test_another_family_is_told_what_it_has_instead(
    window: MainWindow, session: Session, lstm_run: Path, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    session.library.open(lstm_run)
    panel = next(panel for panel in window.perspective.panels if isinstance(panel, PositionsPanel))
    panel.parentWidget().raise_()
    qtbot.waitUntil(
        lambda: any("is not a Transformer" in text.text() for text in panel.findChildren(EmptyText))
    )


def test_the_kinds_are_trained_side_by_side(
    open_kind: Callable[[str], PositionsPanel], session: Session, qtbot: QtBot
) -> None:
    panel, trial = open_kind("none"), session.position_trial
    turn_to(panel, 2)
    trial.set_options(TrialOptions(width=8, layers=1, steps=10))
    button = panel.findChild(QPushButton, "position_trial_button")
    qtbot.waitUntil(button.isEnabled)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert trial.is_running
    qtbot.waitUntil(lambda: not trial.is_running)
    assert [each.name for each in trial.trained if each.is_done] == list(POSITION_KINDS)
    panel.catch_up()
    best = min(trial.trained, key=lambda each: each.losses[-1])
    assert f"nats a token: {best.name} {best.losses[-1]:.3f}" in said(panel, "position_trial_said")
    assert panel.exported_arrays()["rotary"].shape == (10, 2)
    found: dict[str, object] = {}
    exec(panel.recipe(), found)
    assert found["trained"] == trial.trained[-1]


@pytest.mark.slow
def test_a_training_that_begins_stops_the_trial(
    open_kind: Callable[[str], PositionsPanel], session: Session, options: TrainingOptions, qtbot: QtBot
) -> None:
    open_kind("none")
    trial = session.position_trial
    qtbot.waitUntil(lambda: not trial.obstacle)
    trial.set_options(TrialOptions(width=8, layers=1, steps=100_000))
    trial.start()
    session.training.start("lstm", FAMILIES["lstm"].configuration(width=8), options)
    qtbot.waitUntil(lambda: not trial.is_running)
    qtbot.waitUntil(lambda: session.training.state.phase == "running")
    assert trial.obstacle.startswith("Another model is being trained")
    session.training.stop()
    qtbot.waitUntil(lambda: not session.training.state.is_active)


@pytest.mark.slow
def test_positions_of_a_model_that_was_closed_meanwhile_are_not_drawn(
    open_kind: Callable[[str], PositionsPanel],
    session: Session,
    gate: threading.Event,
    answered: Callable[[], None],
    qtbot: QtBot,
) -> None:
    panel = open_kind("rotary")
    session.work.ask("held", gate.wait, lambda _: None, pytest.fail)
    session.library.choose_step(0)
    for page, key in ((1, "beyond"), (0, "table of positions")):
        turn_to(panel, page)
        qtbot.waitUntil(lambda key=key: session.work.is_busy(key))
    session.library.close(session.library.model)
    panel.catch_up()
    gate.set()
    answered()
    assert panel.exported_arrays() == {}
    turn_to(panel, 1)
    panel.catch_up()
    assert panel.exported_arrays() == {}
    assert any(text.isVisible() and "Open or train" in text.text() for text in panel.findChildren(EmptyText))


@pytest.mark.slow
def test_until_another_page_is_known_the_numbers_are_those_of_the_one_that_is_drawn(
    open_kind: Callable[[str], PositionsPanel], session: Session, gate: threading.Event, qtbot: QtBot
) -> None:
    panel = open_kind("rotary")
    for page in (1, 0):
        turn_to(panel, page)
        qtbot.waitUntil(lambda page=page: ("table" in panel.exported_arrays()) != page)
    session.library.choose_step(0)
    qtbot.waitUntil(lambda: panel.is_up_to_date and not panel.is_behind)
    session.work.ask("held", gate.wait, lambda _: None, pytest.fail)
    turn_to(panel, 1)
    qtbot.waitUntil(lambda: session.work.is_busy("beyond"))
    assert set(panel.exported_arrays()) == {"table", "pairs"}
    gate.set()
    qtbot.waitUntil(lambda: set(panel.exported_arrays()) == {"position", "loss"})
