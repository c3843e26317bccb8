"""How noisy the gradient is, measured in the window on the text that the model learned from."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from lmviz.api.training import open_model
from lmviz.app.panels.train.noise import NoisePanel, in_words
from lmviz.app.session.session import Session
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.app.window.main_window import MainWindow
from lmviz.training.gradient_noise import GradientNoise, gradient_noise

ONLY_PANELS = ("noise",)


@pytest.fixture
def panel(window: MainWindow, session: Session, qtbot: QtBot) -> NoisePanel:
    """The panel in front, with no text open."""
    window.show_perspective("train")
    [panel] = [panel for panel in window.perspective.panels if isinstance(panel, NoisePanel)]
    panel.parentWidget().raise_()
    qtbot.waitUntil(lambda: panel.is_in_sight and panel.is_up_to_date)
    return panel


def said(panel: NoisePanel) -> str:
    return panel.findChild(QLabel, "noise_sentence").text()


@pytest.mark.slow
def test_it_is_measured_on_the_text_of_the_model(
    panel: NoisePanel, session: Session, lstm_run: Path, qtbot: QtBot
) -> None:
    session.library.open(lstm_run)
    measure = panel.findChild(QPushButton, "measure_noise_button")
    other = panel.findChild(QPushButton, "open_noise_text_button")
    qtbot.waitUntil(other.isVisible)
    assert not measure.isEnabled()
    plot = panel.findChild(LinePlot, "noise_plot")
    assert not plot.isVisible(), "an empty plot says nothing"
    QTest.mouseClick(other, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(measure.isEnabled)
    step = session.library.model.snapshots[1]
    session.library.choose_step(step)
    QTest.mouseClick(measure, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: measure.text() == "stop")
    qtbot.waitUntil(lambda: measure.text() == "measure")
    assert panel.is_in_sight
    assert panel.noise is not None
    assert panel.noise.examples == 256
    corpus, options = session.text.corpus, session.library.model.description.options
    *_, (_, expected) = gradient_noise(
        open_model(lstm_run, step), corpus.training, options, ignored_target=corpus.tokenizer.start_id
    )
    np.testing.assert_array_equal(panel.noise.norms, expected.norms)
    assert plot.isVisible()
    np.testing.assert_array_equal(plot.points()["measured"][:, 1], expected.norms)
    assert panel.card.title == f"Gradient noise, step {step}"
    assert said(panel) == in_words(expected)
    assert set(panel.exported_arrays()) == {"sizes", "norms", "expected", "noise"}


def test_measuring_can_be_stopped(panel: NoisePanel, session: Session, lstm_run: Path, qtbot: QtBot) -> None:
    session.library.open(lstm_run)
    qtbot.waitUntil(panel.findChild(QPushButton, "open_noise_text_button").isVisible)
    session.text.open_text_of(session.library.model)
    measure = panel.findChild(QPushButton, "measure_noise_button")
    qtbot.waitUntil(measure.isEnabled)
    measure.setFocus()
    QTest.keyClick(measure, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: panel.noise is not None)
    QTest.keyClick(measure, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: measure.text() == "measure" and panel.is_up_to_date)
    assert panel.noise.examples <= 256
    assert said(panel) == in_words(panel.noise)
    assert panel.is_in_sight, "the keyboard stays where it is"


@pytest.mark.slow
def test_a_counted_model_says_why_there_is_nothing(
    panel: NoisePanel, session: Session, make_run: Callable[..., Path], qtbot: QtBot
) -> None:
    session.library.open(make_run("ngram", 2))
    qtbot.waitUntil(lambda: "counted" in said(panel))
    assert not panel.findChild(QPushButton, "measure_noise_button").isEnabled()
    assert not panel.findChild(QPushButton, "open_noise_text_button").isVisible()


@pytest.mark.parametrize(
    ("signal", "words"),
    [
        (0.25, "In a batch of about 4, noise and signal are equally large."),
        (2.0, "more signal than noise"),
        (-0.1, "almost nothing in common"),
    ],
)
def test_what_is_found_is_said(signal: float, words: str) -> None:
    noise = GradientNoise(np.array([1, 2]), np.array([1.1, 0.8]), signal, 1.0, 64)
    assert words in in_words(noise)
    assert "norm of 1.10" in in_words(noise)
