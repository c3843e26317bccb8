"""The Train form for texts with labels: which families, which settings, what is measured, and the floor."""

import pyqtgraph
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.panels.train.loss import LossPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.controls.configuration_form import ConfigurationForm
from lmviz.app.widgets.diagrams.family_cards import FamilyCards
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.app.widgets.plots.plot_axes import ReferenceLine
from lmviz.app.window.main_window import MainWindow
from lmviz.families import FAMILIES
from lmviz.training.options import TrainingOptions

FLOOR = 0.0258  # nats per tag of ambiguous, from all sentences of its grammar


@pytest.fixture
def first_perspective() -> str:
    return "train"


@pytest.fixture
def tagging(window: MainWindow, session: Session, qtbot: QtBot) -> MainWindow:
    """The Train perspective with tagged text open, a small n-gram planned before."""
    counting = TrainingOptions(steps=4, batch=4, validate_every=2, validation_batches=2)
    session.plan.set("ngram", FAMILIES["ngram"].configuration(), counting)
    session.text.open("ambiguous")
    qtbot.waitUntil(lambda: session.text.corpus is not None)
    qtbot.waitUntil(lambda: session.plan.current.family != "ngram")
    return window


def test_a_family_that_cannot_do_the_task_is_not_planned_and_says_why(
    tagging: MainWindow, session: Session, qtbot: QtBot
) -> None:
    cards = tagging.findChild(FamilyCards, "family_picker")
    assert list(cards.refused) == ["ngram"]
    assert "ngram does no tagging" in cards.refused["ngram"]
    qtbot.mouseClick(cards, Qt.MouseButton.LeftButton, pos=cards.card_rectangle("ngram").center().toPoint())
    assert session.plan.current.family != "ngram"
    qtbot.mouseClick(cards, Qt.MouseButton.LeftButton, pos=cards.card_rectangle("gru").center().toPoint())
    assert session.plan.current.family == "gru"


def test_a_tagger_is_trained_as_stated_and_measured_by_its_labels(
    tagging: MainWindow, session: Session, qtbot: QtBot
) -> None:
    options = session.plan.current.training_options
    session.plan.set("lstm", FAMILIES["lstm"].configuration(width=4, direction="both"), options)
    subject = tagging.findChild(QLabel, "training_subject")
    stated = "tagger: LSTM both ways · ambiguous · words"
    qtbot.waitUntil(lambda: subject.text() == f"will train {stated}")
    form = tagging.findChild(ConfigurationForm, "model_form")
    qtbot.waitUntil(lambda: form.field("direction").control.isVisibleTo(form))
    assert "pooling" not in session.plan.current.configuration.used_for("tagging")
    session.training.start()
    qtbot.waitUntil(lambda: session.training.state.phase == "finished")
    assert session.training.state.subject == stated
    qtbot.waitUntil(lambda: session.library.model is not None)
    assert session.library.model.description.task == "tagging"
    panel = tagging.findChild(QWidget, "loss_view")
    assert isinstance(panel, LossPanel)
    plot = panel.findChild(LinePlot, "loss_plot")
    qtbot.waitUntil(lambda: "validation" in plot.curve_names())
    assert panel.card.title == "Loss per tag"
    assert references(plot) == pytest.approx({"floor": FLOOR}, abs=1e-4)
    unit = next(box for box in panel.findChildren(QComboBox) if box.accessibleName() == "unit of the loss")
    assert [unit.itemText(index) for index in range(unit.count())] == ["nats", "accuracy"]
    unit.setCurrentText("accuracy")
    qtbot.waitUntil(lambda: "training" not in plot.curve_names())
    _, values = plot.points()["validation"].T
    measured = session.training.state.history.validation_accuracy.values
    assert values == pytest.approx(100 * measured)
    assert not references(plot)


def references(plot: LinePlot) -> dict[str, float]:
    """The dashed lines, by name."""
    items = plot.findChild(pyqtgraph.PlotWidget).getPlotItem().items
    return dict(item.reference for item in items if isinstance(item, ReferenceLine))
