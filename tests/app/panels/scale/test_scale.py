"""The Scale perspective: models by size, the calculator, graphs over T, what is measured, an experiment."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from in_sight import all_have_drawn
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QComboBox,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSlider,
    QSpinBox,
    QWidget,
)
from pytestqt.qtbot import QtBot

from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.diagrams.layer_graph import LayerGraphView
from lmviz.app.widgets.kit.picture import Spot
from lmviz.app.widgets.plots.bars import BarsView
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.app.widgets.plots.size_plot import SizePlot
from lmviz.app.widgets.text.big_figure import BigFigure
from lmviz.app.window.job_strip import JobStrip
from lmviz.app.window.main_window import MainWindow
from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.scaling import machine, text_length
from lmviz.scaling.experiment import ExperimentOptions, fitted
from lmviz.scaling.machine import MachinePace
from lmviz.scaling.planned_model import PlannedModel
from lmviz.scaling.public_models import PUBLIC_MODELS, find_public


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure short texts."""
    monkeypatch.setattr(text_length.measure_lengths, "__defaults__", ((4, 8),))


class Scene:
    """The perspective, with a person's hands and eyes."""

    def __init__(self, window: MainWindow, session: Session, qtbot: QtBot) -> None:
        self.window, self.session, self.qtbot = window, session, qtbot
        window.resize(1440, 900)

    def find(self, kind: type, name: str) -> QWidget:
        found = self.window.perspective.findChild(kind, name)
        assert found is not None, name
        return found

    def panel(self, name: str) -> Panel:
        panel = next(panel for panel in self.window.perspective.panels if panel.objectName() == name)
        panel.parentWidget().raise_()
        self.qtbot.waitUntil(lambda: panel.is_in_sight and panel.is_up_to_date)
        return panel

    def settle(self) -> None:
        self.qtbot.waitUntil(lambda: all_have_drawn(self.window.perspective))

    def click(self, name: str) -> None:
        button = self.find(QPushButton, name)
        self.qtbot.waitUntil(button.isEnabled)
        button.click()

    def type(self, name: str, value: int) -> None:
        spin = self.find(QSpinBox, name)
        spin.setFocus()
        spin.selectAll()
        QTest.keyClicks(spin, str(value))
        QTest.keyClick(spin, Qt.Key.Key_Return)
        self.settle()

    def wait_for_pace(self) -> MachinePace:
        scale = self.session.scale
        self.qtbot.waitUntil(lambda: scale.pace is not None and not scale.is_measuring)
        self.settle()
        return scale.pace


@pytest.fixture
def scene(window: MainWindow, session: Session, qtbot: QtBot) -> Scene:
    scene = Scene(window, session, qtbot)
    scene.settle()
    return scene


def test_the_calculator_says_what_gpt3_costs(scene: Scene) -> None:
    planned = find_public("GPT-3").planned
    assert scene.session.scale.planned == planned
    figure = scene.find(BigFigure, "parameters_figure")
    assert figure.accessibleDescription().startswith("175 bn. ")
    assert f"{planned.parameters:,}" in figure.accessibleDescription()
    assert "698 GB" in scene.find(QLabel, "memory_lines").text()
    said = scene.find(QLabel, "compute_lines").text()
    assert "3,646 petaflop/s-days with the published 175 bn parameters" in said
    [chosen] = [line for line in scene.find(SizePlot, "size_plot").lines if line.is_chosen]
    assert chosen.product == pytest.approx(175e9 * 300e9), "the picture says the same"
    pace = scene.wait_for_pace()
    figure, note = scene.find(BigFigure, "time_figure").accessibleDescription().split(". ", 1)
    assert "years" in figure
    assert f"{pace.tokens_per_second:,.0f} tokens/s" in note


@pytest.mark.slow
def test_sizes_that_are_typed_are_counted_exactly(scene: Scene) -> None:
    for name, value in (("layers", 2), ("width", 48), ("heads", 3), ("context", 20), ("vocabulary", 100)):
        scene.type(f"scale_{name}", value)
    tokens = scene.find(QLineEdit, "scale_tokens")
    tokens.selectAll()
    QTest.keyClicks(tokens, "2 M")
    QTest.keyClick(tokens, Qt.Key.Key_Return)
    scene.settle()
    wanted = PlannedModel(TransformerConfiguration(layers=2, width=48, heads=3, context=20), 100, 2_000_000)
    assert scene.session.scale.planned == wanted
    assert f"{wanted.parameters:,}" in scene.find(BigFigure, "parameters_figure").accessibleDescription()
    assert scene.find(QComboBox, "scale_model_picker").currentText() == "own sizes"


@pytest.mark.slow
def test_heads_that_do_not_divide_the_width_are_said_and_not_refused(scene: Scene) -> None:
    scene.type("scale_heads", 7)
    configuration = scene.session.scale.planned.configuration
    assert (configuration.heads, configuration.head_width) == (7, 12288 // 7)
    scene.type("scale_heads", 96)
    assert not scene.session.scale.planned.breaks_width


@pytest.mark.slow
def test_an_amount_that_cannot_be_read_is_said(scene: Scene) -> None:
    tokens = scene.find(QLineEdit, "scale_tokens")
    tokens.selectAll()
    QTest.keyClicks(tokens, "very many")
    QTest.keyClick(tokens, Qt.Key.Key_Return)
    assert "is not an amount" in scene.panel("calculator_view").card.complaint
    assert scene.session.scale.planned.tokens == 300 * 10**9


@pytest.mark.slow
def test_a_click_on_a_model_loads_it(scene: Scene) -> None:
    plot = scene.find(SizePlot, "size_plot")

    def place() -> QPoint:
        return plot.rectangle(Spot("GPT-2")).center().toPoint()

    def says_its_name() -> bool:  # the picture is another size once the strip of jobs has gone
        QTest.mouseMove(plot, QPoint(1, 1))
        QTest.mouseMove(plot, place())
        card = scene.window.findChild(HoverCard)
        return card is not None and "GPT-2 (2019)" in card.title

    scene.qtbot.waitUntil(says_its_name)
    QTest.mouseClick(plot, Qt.MouseButton.LeftButton, pos=place())
    scene.settle()
    assert scene.session.scale.name == "GPT-2"
    assert scene.find(QSpinBox, "scale_layers").value() == 48
    assert [point.name for point in plot.points if point.is_chosen] == ["GPT-2"]


@pytest.mark.slow
def test_points_stand_where_their_numbers_are(scene: Scene) -> None:
    plot = scene.find(SizePlot, "size_plot")
    first, second = plot.place_of(1e6, 1e10), plot.place_of(1e8, 1e12)
    middle = plot.place_of(1e7, 1e11)
    assert middle.x() == pytest.approx((first.x() + second.x()) / 2)
    assert middle.y() == pytest.approx((first.y() + second.y()) / 2)


@pytest.mark.slow
def test_diagonals_are_named_by_time_once_the_pace_is_known(scene: Scene) -> None:
    pace = scene.wait_for_pace()
    lines = {line.name: line for line in scene.find(SizePlot, "size_plot").lines}
    assert "a day here" in lines
    assert 6 * lines["a day here"].product == pytest.approx(86_400 * pace.operations)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["PaLM", "GPT-3 13 bn", "LLaMA-2"])
def test_every_model_can_be_chosen_by_name(scene: Scene, name: str) -> None:
    picker = scene.find(QComboBox, "scale_model_picker")
    picker.setCurrentIndex(picker.findText(name))
    picker.activated.emit(picker.currentIndex())
    scene.settle()
    assert scene.session.scale.name == name
    assert name == picker.currentText()
    if name == "GPT-3 13 bn":
        labels = [label.text() for label in scene.panel("calculator_view").findChildren(QLabel)]
        assert any("40 heads × 128 are not the width" in text for text in labels)


@pytest.mark.slow
def test_what_fits_in_one_hour_takes_an_hour_and_is_planned_in_train(scene: Scene) -> None:
    pace = scene.wait_for_pace()
    scene.click("fit_button")
    scene.settle()
    planned = scene.session.scale.planned
    assert planned.seconds(pace.operations) == pytest.approx(3600, rel=0.01)
    scene.click("plan_in_train_button")
    assert scene.window.perspective_name == "train"
    plan = scene.session.plan.current
    assert plan.family == "transformer"
    assert plan.configuration == planned.configuration
    read = plan.training_options.steps * plan.training_options.batch * planned.configuration.context
    assert read == pytest.approx(planned.tokens, rel=0.01)


@pytest.mark.slow
def test_own_runs_stand_among_the_models(scene: Scene, transformer_run: Path, lstm_run: Path) -> None:
    session = scene.session
    for folder in (lstm_run, transformer_run):
        session.library.open(folder)
    scene.qtbot.waitUntil(lambda: len(session.scale.runs) == 2)
    scene.settle()
    own = [point for point in scene.find(SizePlot, "size_plot").points if point.is_own]
    assert {(point.parameters, point.tokens) for point in own} <= {
        (run.parameters, run.tokens) for run in session.scale.runs
    }
    planned = next(run for run in session.scale.runs if run.planned is not None)
    assert planned.name in session.scale.names
    session.scale.load(planned.name)
    assert session.scale.planned == planned.planned


def test_one_slider_drives_both_graphs_and_the_curves(scene: Scene) -> None:
    recurrent = scene.find(LayerGraphView, "recurrent_graph")
    attention = scene.find(LayerGraphView, "attention_graph")

    def said() -> list[str]:
        return [view.accessibleDescription().partition(",")[0] for view in (recurrent, attention)]

    assert said() == ["13 edges = 2T − 1", "28 edges = T(T + 1) / 2"]
    scene.find(QSlider, "graph_length_slider").setValue(11)
    scene.settle()
    assert said() == ["23 edges = 2T − 1", "78 edges = T(T + 1) / 2"]
    plot = scene.find(LinePlot, "edges_plot")
    plot.cursor_moved.emit(4.0)
    scene.settle()
    assert (scene.session.scale.length, said()[1]) == (4, "10 edges = T(T + 1) / 2")
    np.testing.assert_array_equal(plot.points()["attention"][[6, 23]], [[7, 28], [24, 300]])


@pytest.mark.slow
def test_open_models_are_measured_over_the_length(
    scene: Scene, transformer_run: Path, lstm_run: Path
) -> None:
    for folder in (lstm_run, transformer_run):
        scene.session.library.open(folder)
    scene.qtbot.waitUntil(lambda: len(scene.session.library.models) == 2)
    panel = scene.panel("measured_length_view")
    scene.click("measure_lengths_button")
    scene.qtbot.waitUntil(lambda: not scene.session.work.jobs and bool(panel.exported_arrays()))
    scene.settle()
    milliseconds = scene.find(LinePlot, "milliseconds_plot").points()
    memory = scene.find(LinePlot, "memory_plot").points()
    assert set(milliseconds) == {model.name for model in scene.session.library.models}
    for points in (*milliseconds.values(), *memory.values()):
        assert points[:, 0].tolist() == [4, 8]
        assert (points[:, 1] > 0).all()


@pytest.fixture
def with_text(session: Session, text_file: Path, qtbot: QtBot) -> Callable[[], None]:
    def open_text() -> None:
        with qtbot.waitSignal(session.text.changed):
            session.text.open(text_file, documents="line")

    return open_text


def test_an_experiment_is_run_drawn_and_fitted(scene: Scene, with_text: Callable[[], None]) -> None:
    panel = scene.panel("experiment_view")
    assert "Open a text" in scene.find(QLabel, "experiment_said").text()
    with_text()
    experiment = scene.session.experiment
    experiment.set_options(ExperimentOptions(smallest=8, models=2, layers=1, steps=10))
    scene.click("experiment_button")
    assert experiment.is_running
    scene.qtbot.waitUntil(lambda: not experiment.is_running)
    scene.settle()
    curves = scene.find(LinePlot, "experiment_plot").curves
    assert set(curves) == {"width 8", "width 16", "fit"}
    assert curves["width 8"].points[-1].tolist() == [
        experiment.trained[0].compute[-1],
        experiment.trained[0].losses[-1],
    ]
    assert curves["fit"].dashed
    assert f"{fitted(experiment.trained).exponent:.3f}" in scene.find(QLabel, "experiment_said").text()
    assert len(panel.exported_arrays()["loss over compute"]) == 20
    found: dict[str, object] = {}
    exec(panel.recipe(), found)
    assert found["trained"] == experiment.trained[-1]


@pytest.mark.slow
def test_an_experiment_can_be_stopped_and_gives_way_to_a_training(
    scene: Scene, with_text: Callable[[], None]
) -> None:
    with_text()
    experiment, training = scene.session.experiment, scene.session.training
    scene.panel("experiment_view")
    experiment.set_options(ExperimentOptions(smallest=8, models=2, layers=1, steps=100_000))
    scene.click("experiment_button")
    scene.qtbot.waitUntil(lambda: experiment.is_running)
    scene.click("experiment_button")
    scene.qtbot.waitUntil(lambda: not experiment.is_running)
    scene.click("experiment_button")
    training.start("transformer", TransformerConfiguration(width=8, heads=1, layers=1), scene_options(scene))
    scene.qtbot.waitUntil(lambda: not experiment.is_running and training.state.phase == "running")
    assert "being trained" in experiment.obstacle
    training.stop()
    scene.qtbot.waitUntil(lambda: not training.state.is_active)


def scene_options(scene: Scene):
    return scene.session.plan.current.training_options


@pytest.mark.slow
def test_nothing_is_measured_while_a_model_is_trained(scene: Scene, with_text: Callable[[], None]) -> None:
    scene.wait_for_pace()
    with_text()
    training = scene.session.training
    training.start("transformer", TransformerConfiguration(width=8, heads=1, layers=1), scene_options(scene))
    scene.qtbot.waitUntil(lambda: training.state.phase == "running")
    scene.session.scale.measure_pace()
    assert "A model is being trained" in scene.panel("calculator_view").card.complaint
    training.stop()
    scene.qtbot.waitUntil(lambda: not training.state.is_active)


@pytest.fixture
def _measured_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pace of this machine is measured until somebody ends that."""
    monkeypatch.setattr(machine, "LONGEST", float("inf"))


@pytest.mark.slow
@pytest.mark.usefixtures("_measured_without_end")
def test_a_measurement_that_is_cancelled_begins_again_only_when_asked_for(scene: Scene) -> None:
    scale = scene.session.scale

    def cancel() -> None:
        scene.qtbot.waitUntil(lambda: scale.is_measuring)
        with scene.qtbot.waitSignal(scale.measuring_changed):
            scene.window.findChild(JobStrip).findChild(QPushButton, "cancel_button").click()
        scene.settle()

    cancel()
    assert not scale.is_measuring
    assert scene.find(BigFigure, "time_figure").accessibleDescription().endswith(". not measured")
    scene.click("measure_pace_button")
    cancel()
    assert not scale.is_measuring


@pytest.mark.slow
@pytest.mark.usefixtures("_measured_without_end")
def test_nothing_is_measured_during_a_race(scene: Scene, with_text: Callable[[], None]) -> None:
    with_text()
    scale, race, plan = scene.session.scale, scene.session.race, scene.session.plan
    options = replace(plan.current.training_options, steps=10_000, batch=2, length=8, validate_every=0)
    plan.set("transformer", TransformerConfiguration(width=8, heads=1, layers=1), options)
    race.add()
    scene.qtbot.waitUntil(lambda: scale.is_measuring)
    race.go_on()
    assert not scale.is_measuring, "what is under way would be disturbed"
    scene.qtbot.waitUntil(lambda: race.lanes[0].phase == "running")
    scene.settle()
    assert not scale.is_measuring
    assert not scene.find(QPushButton, "measure_pace_button").isEnabled()
    scale.measure_pace()
    assert "A model is being trained" in scene.panel("calculator_view").card.complaint
    race.stop()
    scene.qtbot.waitUntil(lambda: not race.is_active)
    scene.qtbot.waitUntil(lambda: scale.is_measuring)


@pytest.mark.slow
@pytest.mark.parametrize("is_projected", [False, True])
def test_every_public_model_has_its_name_and_no_two_names_overlap(scene: Scene, is_projected: bool) -> None:
    scene.window.set_projector(is_projected)
    scene.window.resize(*((1280, 720) if is_projected else (1440, 900)))
    scene.settle()
    plot = scene.find(SizePlot, "size_plot")
    scene.qtbot.waitUntil(lambda: len(plot.names) == len([each for each in plot.points if each.is_named]))
    assert {model.name for model in PUBLIC_MODELS} <= {each.name for each in plot.points if each.is_named}
    for one, other in combinations(plot.names, 2):
        assert not one.intersects(other)
    assert plot.line_names
    for square in plot.line_names:
        assert not any(name.adjusted(0, 3, 0, -3).intersects(square) for name in plot.names)
        assert square.top() >= 18, "within the plot, below its title"
        places = [plot.place_of(each.parameters, each.tokens) for each in plot.points]
        assert not any(square.contains(place) for place in places), "no letter lies under a model"


@pytest.mark.slow
def test_the_calculator_is_whole_in_sight_while_a_job_is_shown(scene: Scene) -> None:
    scene.wait_for_pace()
    area: QWidget = scene.find(QSpinBox, "scale_layers")
    while not isinstance(area, QScrollArea):
        area = area.parentWidget()
    gate = Event()
    scene.session.work.start_job("Measuring", lambda done: gate.wait(), lambda _: None, pytest.fail)
    try:
        scene.qtbot.waitUntil(scene.window.findChild(JobStrip).isVisible)
        scene.settle()
        scene.qtbot.waitUntil(lambda: area.verticalScrollBar().maximum() == 0)
    finally:
        gate.set()


@pytest.mark.slow
def test_what_failed_about_runs_is_not_answered_by_the_pace(scene: Scene) -> None:
    calculator, scale = scene.panel("calculator_view"), scene.session.scale
    scene.qtbot.waitUntil(lambda: scale.pace is not None)
    scale.of_runs.failed.emit("The folder of runs cannot be read.")
    scale.pace_changed.emit()
    assert calculator.complaint == "The folder of runs cannot be read."
    scale.look_for_runs()
    assert calculator.complaint == ""


@pytest.mark.slow
def test_total_compute_is_unknown_where_it_is_not_published(scene: Scene) -> None:
    bars, panel = scene.find(BarsView, "total_compute_bars"), scene.panel("total_compute_view")
    names = list(panel.exported_names().rows)

    def click(name: str) -> str:
        place = bars.part_rectangle(names.index(name))
        QTest.mouseClick(bars, Qt.MouseButton.LeftButton, pos=place.center().toPoint())
        bars.set_current(names.index(name))
        return bars.description()

    assert click("GPT-2") == "GPT-2 1.04"
    assert scene.session.scale.name == "GPT-2"
    assert click("GPT-3") == "GPT-3 3,646"
    planned = scene.session.scale.planned
    assert click("GPT-4") == "GPT-4 unknown"
    assert scene.session.scale.planned == planned
    assert np.isnan(panel.exported_arrays()["total compute"][names.index("GPT-4"), 0])
