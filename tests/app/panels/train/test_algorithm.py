"""The training algorithm, watched: one step, its lines lit one by one, each with its real numbers."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton, QTabBar
from pytestqt.qtbot import QtBot

from lmviz.app.panels.train import algorithm
from lmviz.app.panels.train.algorithm import AlgorithmPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.empty_text import EmptyText
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.plots.bars import BarsView
from lmviz.app.widgets.tables.table_view import TableView
from lmviz.app.widgets.text.algorithm_lines import AlgorithmLines
from lmviz.app.widgets.text.examples_view import ExamplesView
from lmviz.app.window.main_window import MainWindow
from lmviz.families import FAMILIES
from lmviz.training.observation import ObservedCount, ObservedUpdate
from lmviz.training.options import TrainingOptions

ONLY_PANELS = ("plan", "live_sample", "algorithm", "noise")


class Scene:
    """The panel in front, and what a person does there."""

    def __init__(self, window: MainWindow, session: Session, qtbot: QtBot) -> None:
        self.window, self.session, self.qtbot = window, session, qtbot
        [self.panel] = [panel for panel in window.perspective.panels if isinstance(panel, AlgorithmPanel)]
        self.lines = self.panel.findChild(AlgorithmLines)

    def open(self) -> None:
        """Bring the panel in front."""
        self.panel.parentWidget().raise_()
        self.qtbot.waitUntil(lambda: self.panel.is_in_sight)

    def choose_tab(self, title: str) -> None:
        """Click a tab."""
        bars = [bar for bar in self.window.perspective.findChildren(QTabBar) if bar.isVisible()]
        [(bar, at)] = [(bar, i) for bar in bars for i in range(bar.count()) if bar.tabText(i) == title]
        QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(at).center())

    def training_step(self) -> None:
        """One step by the button below the panels, until it was observed."""
        button = self.window.findChild(QPushButton, "step_button")
        before = self.session.training.state.observed
        self.qtbot.waitUntil(button.isEnabled)
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        self.qtbot.waitUntil(lambda: self.session.training.state.observed is not before)

    def step(self) -> None:
        """One step, until all its lines have been lit."""
        before = self.panel.observed
        button = self.panel.findChild(QPushButton, "observed_step_button")
        self.qtbot.waitUntil(button.isEnabled)
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        self.qtbot.waitUntil(lambda: self.panel.observed is not before)
        self.qtbot.waitUntil(lambda: not self.panel.is_playing)
        assert self.panel.is_in_sight, "its tab stays in front"

    def click(self, name: str) -> None:
        [at] = [place for place, line in enumerate(self.lines.lines) if line.name == name]
        place = self.lines.part_rectangle(at).center().toPoint()
        QTest.mouseClick(self.lines, Qt.MouseButton.LeftButton, pos=place)

    def figures(self, name: str) -> str:
        return next(line.figures for line in self.lines.lines if line.name == name)


@pytest.fixture(autouse=True)
def _quick_light(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has to read along."""
    monkeypatch.setattr(algorithm, "A_LINE", 10)


@pytest.fixture
def closed(
    window: MainWindow, session: Session, text_file: Path, options: TrainingOptions, qtbot: QtBot
) -> Scene:
    """The Train perspective with a text, and the algorithm behind the sample."""
    with qtbot.waitSignal(session.text.changed):
        session.text.open(text_file, documents="line")
    window.show_perspective("train")
    session.plan.set("lstm", FAMILIES["lstm"].configuration(width=8), replace(options, clip=0.01))
    qtbot.waitUntil(lambda: session.work.is_ready)
    return Scene(window, session, qtbot)


@pytest.fixture
def scene(closed: Scene) -> Scene:
    """The same with the algorithm in front."""
    closed.open()
    return closed


@pytest.fixture
def sample_run(make_run: Callable[..., Path], tmp_path: Path) -> Path:
    """A run that was shipped without the state of its training, as sample models are."""
    folder = tmp_path / "sample"
    shutil.copytree(make_run("ngram", 2, order=3), folder)
    shutil.rmtree(folder / "resume")
    return folder


def stop(scene: Scene) -> None:
    scene.session.training.stop()
    scene.qtbot.waitUntil(lambda: not scene.session.training.state.is_active)


def test_a_step_is_read_line_by_line(scene: Scene) -> None:
    scene.step()
    observed = scene.panel.observed
    assert isinstance(observed, ObservedUpdate)
    assert [line.name for line in scene.lines.lines] == [
        "step",
        "batch",
        "forward",
        "loss",
        "backward",
        "clip",
        "update",
    ]
    assert scene.figures("step") == "step 1"
    assert scene.figures("loss") == f"{number(observed.loss)} nats"
    assert scene.session.training.state.history.loss.values[-1] == observed.loss
    assert scene.figures("backward") == f"‖g‖ = {number(observed.norm)}"
    assert scene.figures("clip") == "‖g‖ = 0.010"
    assert scene.session.training.state.phase == "paused"
    scene.step()
    assert scene.figures("step") == "step 2"
    stop(scene)


@pytest.mark.slow
def test_its_lines_are_read_before_a_training_begins(scene: Scene, options: TrainingOptions) -> None:
    planned = scene.panel.findChild(AlgorithmLines, "planned_lines")
    assert planned.isVisible()
    assert not scene.lines.isVisible()
    assert [line.name for line in planned.lines] == [
        "step",
        "batch",
        "forward",
        "loss",
        "backward",
        "clip",
        "update",
    ]
    assert planned.lines[0].code == f"for step in 1 … {options.steps:,}:"
    assert planned.lines[5].code == "if ‖g‖ > 0.01: g ← 0.01 g/‖g‖"
    assert not any(line.figures for line in planned.lines)
    unclipped = replace(options, clip=0.0, optimizer="sgd")
    scene.session.plan.set("lstm", FAMILIES["lstm"].configuration(width=8), unclipped)
    scene.qtbot.waitUntil(lambda: planned.lines[-1].code == "θ ← θ − η · g")
    assert "clip" not in [line.name for line in planned.lines]
    scene.session.plan.set("ngram", FAMILIES["ngram"].configuration(order=3), TrainingOptions(steps=5))
    scene.qtbot.waitUntil(lambda: planned.lines[-1].name == "fit")
    scene.step()
    assert scene.lines.isVisible()
    assert not planned.isVisible()
    code = [line.code for line in scene.lines.lines]
    assert code == [line.code for line in planned.lines], "what was announced is what is done"
    stop(scene)


@pytest.mark.slow
def test_a_smoothed_target_has_a_line_of_its_own_and_is_drawn(scene: Scene, options: TrainingOptions) -> None:
    smoothed = replace(options, label_smoothing=0.2)
    scene.session.plan.set("lstm", FAMILIES["lstm"].configuration(width=8), smoothed)
    planned = scene.panel.findChild(AlgorithmLines, "planned_lines")
    scene.qtbot.waitUntil(lambda: "target" in [line.name for line in planned.lines])
    scene.step()
    observed = scene.panel.observed
    assert isinstance(observed, ObservedUpdate)
    [code] = [line.code for line in scene.lines.lines if line.name == "target"]
    assert code == "q ← 0.8 [target] + 0.2/K"
    size = scene.session.library.model.tokenizer.vocabulary_size
    assert scene.figures("target") == f"K = {size}"
    scene.click("target")
    bars = scene.panel.findChild(BarsView)
    assert f"{0.8 + 0.2 / size:.6g}" in bars.accessibleDescription()
    assert f"{0.2 / size:.6g}" in bars.accessibleDescription()
    stop(scene)


@pytest.mark.slow
def test_a_click_opens_what_came_of_a_line(scene: Scene) -> None:
    scene.step()
    panel, observed = scene.panel, scene.panel.observed
    assert isinstance(observed, ObservedUpdate)
    texts, bars, table = (panel.findChild(kind) for kind in (ExamplesView, BarsView, TableView))
    assert table.isVisible(), "the light rests on the last line"
    scene.click("batch")
    assert texts.isVisible()
    tokenizer = scene.session.library.model.tokenizer
    first = texts.examples[0]
    expected = tuple(word if word != "⟨start⟩" else "" for word in first.words[1:])
    assert first.tags[:-1] == expected, "each word's target is the next word, and START is none"
    assert first.words[-1] == tokenizer.token(int(observed.batch.tokens[0, -1]))
    scene.click("forward")
    row, place = np.argwhere(np.isfinite(observed.batch.losses))[0]
    said = float(texts.examples[row].tags[place].rstrip(" %"))
    assert said == pytest.approx(100 * np.exp(-observed.batch.losses[row, place]), abs=0.06)
    scene.click("loss")
    assert bars.isVisible()
    assert "text 2" in bars.accessibleDescription()
    scene.click("backward")
    assert "layer 1" in bars.accessibleDescription()
    scene.click("clip")
    assert "scaled down" in panel.findChild(QLabel, "observed_sentence").text()
    scene.click("update")
    model = table.model()
    change = observed.changes[0]
    assert model.data(model.index(0, 0)).startswith(change.parameter)
    assert model.data(model.index(0, 1)) == number(change.gradient, 4)
    scene.click("step")
    assert "forward" in bars.accessibleDescription()
    stop(scene)


@pytest.mark.slow
def test_a_chosen_line_stays_and_a_second_click_lets_it_go(scene: Scene) -> None:
    scene.step()
    scene.click("batch")
    texts = scene.panel.findChild(ExamplesView)
    before = texts.examples
    scene.step()
    assert texts.isVisible()
    assert texts.examples != before
    scene.click("batch")
    assert not texts.isVisible()
    stop(scene)


@pytest.mark.slow
def test_the_words_of_a_step_stay_those_of_its_model_when_another_is_trained(
    scene: Scene, tmp_path: Path
) -> None:
    scene.step()
    session, first = scene.session, scene.session.training.state.folder
    stop(scene)
    (tmp_path / "few.txt").write_text("a b\n" * 50, encoding="utf-8")
    with scene.qtbot.waitSignal(session.text.changed):
        session.text.open(tmp_path / "few.txt", documents="line")
    scene.window.show_perspective("corpus")  # out of sight nothing is drawn anew, but the light may go on
    session.training.start()
    scene.qtbot.waitUntil(lambda: session.library.model is not None and session.library.model.folder != first)
    names = [line.name for line in scene.lines.lines]
    for name in ("batch", "forward"):
        scene.lines.part_clicked.emit(names.index(name))
    stop(scene)


@pytest.mark.slow
def test_what_is_exported_is_what_is_drawn(scene: Scene) -> None:
    assert scene.panel.exported_arrays() == {}
    scene.step()
    arrays = scene.panel.exported_arrays()
    assert arrays["tokens"].shape == arrays["targets"].shape == arrays["losses"].shape == (2, 8)
    assert arrays["norms"][1] == pytest.approx(0.01, rel=1e-3)
    stop(scene)


@pytest.mark.slow
def test_training_on_observes_nothing(scene: Scene) -> None:
    scene.step()
    seen, training = scene.panel.observed, scene.session.training
    training.resume()
    scene.qtbot.waitUntil(lambda: training.state.progress.step > 10)
    training.pause()
    scene.qtbot.waitUntil(lambda: training.state.phase == "paused")
    assert training.state.observed is seen
    assert training.state.progress.observed is None
    stop(scene)


@pytest.mark.slow
def test_an_ngram_model_shows_how_it_counts(scene: Scene) -> None:
    scene.session.plan.set("ngram", FAMILIES["ngram"].configuration(order=3), TrainingOptions(steps=5))
    scene.step()
    assert [line.name for line in scene.lines.lines] == ["step", "batch", "loss", "count", "fit"]
    observed = scene.panel.observed
    assert isinstance(observed, ObservedCount)
    scene.click("batch")
    texts = scene.panel.findChild(ExamplesView)
    assert len(texts.examples[0].words) == len(observed.ids)
    scene.click("count")
    model = scene.panel.findChild(TableView).model()
    assert model.rowCount() == 3
    assert model.data(model.index(1, 1)) == str(observed.orders[1].total)
    assert set(scene.panel.exported_arrays()) == {"ids"}
    stop(scene)


@pytest.mark.slow
def test_the_first_step_brings_it_in_front(closed: Scene) -> None:
    assert not closed.panel.is_in_sight
    closed.training_step()
    closed.qtbot.waitUntil(lambda: closed.panel.is_in_sight)
    stop(closed)


@pytest.mark.slow
def test_whoever_has_chosen_another_tab_keeps_it(closed: Scene) -> None:
    closed.choose_tab("Noise")
    closed.choose_tab("Sample")
    closed.training_step()
    assert not closed.panel.is_in_sight
    closed.choose_tab("Algorithm")
    closed.qtbot.waitUntil(lambda: closed.panel.observed is not None)
    stop(closed)


@pytest.mark.slow
def test_a_second_step_leaves_the_tab_that_was_chosen_since(closed: Scene) -> None:
    closed.training_step()
    closed.qtbot.waitUntil(lambda: closed.panel.is_in_sight)
    closed.choose_tab("Sample")
    closed.training_step()
    assert not closed.panel.is_in_sight
    stop(closed)


@pytest.mark.slow
def test_a_model_that_makes_no_step_says_why_and_a_new_one_does(
    scene: Scene, sample_run: Path, qtbot: QtBot
) -> None:
    """The card does not invite to what the button would refuse: it offers the way out."""
    step = scene.panel.findChild(QPushButton, "observed_step_button")
    offer = scene.panel.findChild(QPushButton, "new_model_step_button")
    assert step.isEnabled()
    assert offer.isHidden(), "no model is open: the step is that of a new one"
    scene.session.library.open(sample_run)
    qtbot.waitUntil(offer.isVisible)
    said = " ".join(label.text() for label in scene.panel.findChildren(EmptyText) if label.isVisible())
    assert scene.session.training.obstacle in said
    assert "keeps no state to train on from" in said
    assert not step.isEnabled()
    QTest.mouseClick(offer, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: scene.panel.observed is not None)
    assert scene.panel.observed.step == 1
    assert step.isEnabled()
    stop(scene)
