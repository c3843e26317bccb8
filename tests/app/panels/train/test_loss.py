"""The loss plot: its unit, scale and smoothing, several runs over one another, and honest references."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyqtgraph
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QPen
from PySide6.QtWidgets import QCheckBox, QComboBox
from pytestqt.qtbot import QtBot

from lmviz.api.training import train
from lmviz.app.look.theme import current_theme
from lmviz.app.panels.train.loss import LossPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.kit.axes import Axes, ReferenceLine
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.app.window.main_window import MainWindow
from lmviz.text.corpus import load_corpus
from lmviz.training.units import smooth
from tests.app.conftest import open_other_text

ONLY_PANELS = ("loss",)

LONG = 30_000


@pytest.fixture
def loss(
    window: MainWindow,
    session: Session,
    text_file: Path,
    lstm_run: Path,
    transformer_run: Path,
    qtbot: QtBot,
) -> LossPanel:
    """The panel with two runs open, the Transformer's shown, on the text that both learned from."""
    session.text.open(text_file, documents="line")
    for number, folder in enumerate((lstm_run, transformer_run), start=1):
        session.library.open(folder)
        qtbot.waitUntil(lambda number=number: len(session.library.models) == number, timeout=LONG)
    window.show_perspective("train")
    panel = next(panel for panel in window.perspective.panels if isinstance(panel, LossPanel))
    plot = panel.findChild(LinePlot)
    qtbot.waitUntil(lambda: "lstm" in plot.points() and bool(panel.references), timeout=LONG)
    return panel


def choose(panel: LossPanel, what: str, choice: str, qtbot: QtBot) -> None:
    picker = next(item for item in panel.findChildren(QComboBox) if item.accessibleName() == what)
    picker.setCurrentText(choice)
    qtbot.waitUntil(lambda: panel.is_up_to_date)


def references(panel: LossPanel) -> dict[str, float]:
    """The dashed lines, by name."""
    items = panel.findChild(Axes).items_drawn
    return dict(item.reference for item in items if isinstance(item, ReferenceLine))


def points(panel: LossPanel, curve: str) -> np.ndarray:
    return panel.exported_arrays()[curve][:, 1]


def measured(session: Session, name: str) -> np.ndarray:
    [model] = [model for model in session.library.models if model.name == name]
    return np.array([line["loss"] for line in model.run.metrics() if "loss" in line])


def test_every_unit_is_computed_from_the_same_nats(loss: LossPanel, session: Session, qtbot: QtBot) -> None:
    choose(loss, "smoothing", "raw", qtbot)
    nats = measured(session, "transformer")
    np.testing.assert_allclose(points(loss, "training"), nats)
    choose(loss, "unit of the loss", "perplexity", qtbot)
    np.testing.assert_allclose(points(loss, "training"), np.exp(nats))
    assert references(loss)["bigram"] == pytest.approx(math.exp(loss.references["bigram"]))
    choose(loss, "unit of the loss", "bits per character", qtbot)
    characters = session.text.corpus.characters_per_token
    np.testing.assert_allclose(points(loss, "training"), nats / math.log(2) / characters)


def test_smoothing_is_that_of_the_core_and_leaves_validation_alone(
    loss: LossPanel, session: Session, qtbot: QtBot
) -> None:
    choose(loss, "smoothing", "smoother", qtbot)
    np.testing.assert_allclose(points(loss, "training"), smooth(measured(session, "transformer"), 0.98))
    [model] = [model for model in session.library.models if model.name == "transformer"]
    validation = [line["validation_loss"] for line in model.run.metrics() if "validation_loss" in line]
    np.testing.assert_allclose(points(loss, "validation"), validation)


@pytest.mark.slow
def test_a_logarithmic_axis_keeps_the_values(loss: LossPanel, qtbot: QtBot) -> None:
    before = points(loss, "training").copy()
    choose(loss, "scale of the loss", "logarithmic", qtbot)
    np.testing.assert_array_equal(points(loss, "training"), before)
    bottom, top = loss.findChild(Axes).box.viewRange()[1]
    assert bottom < math.log10(before.min()) < top


@pytest.mark.slow
def test_runs_lie_over_one_another_and_a_closed_one_goes(
    loss: LossPanel, session: Session, qtbot: QtBot
) -> None:
    plot = loss.findChild(LinePlot)
    assert set(plot.points()) == {"training", "validation", "lstm"}
    [lstm] = [model for model in session.library.models if model.name == "lstm"]
    session.library.choose(lstm)
    qtbot.waitUntil(lambda: set(plot.points()) == {"training", "validation", "transformer"})
    session.library.close(next(model for model in session.library.models if model.name == "transformer"))
    qtbot.waitUntil(lambda: set(plot.points()) == {"training", "validation"})


@pytest.mark.slow
def test_a_run_on_another_text_keeps_its_own_figures(
    loss: LossPanel, session: Session, text_file: Path, qtbot: QtBot
) -> None:
    choose(loss, "smoothing", "raw", qtbot)
    choose(loss, "unit of the loss", "bits per character", qtbot)
    before = points(loss, "training").copy()
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(text_file, tokenizer="characters")
    qtbot.waitUntil(lambda: not references(loss), timeout=LONG)
    np.testing.assert_allclose(points(loss, "training"), before)


@pytest.mark.slow
def test_controls_are_readable_in_a_narrow_window(loss: LossPanel, window: MainWindow, qtbot: QtBot) -> None:
    def unreadable() -> list[str]:
        return [picker.accessibleName() for picker in loss.findChildren(QComboBox) if not can_be_read(picker)]

    def can_be_read(picker: QComboBox) -> bool:
        words = picker.fontMetrics().horizontalAdvance(picker.currentText())
        right = picker.mapTo(loss, picker.rect().topRight()).x()
        return picker.isVisible() and picker.width() >= words + 20 and right <= loss.width()

    for width, height in ((860, 560), (1000, 640), (1440, 900)):
        window.resize(width, height)
        qtbot.waitUntil(lambda: not unreadable())


@pytest.fixture
def beside_another_text(
    loss: LossPanel, session: Session, small_text: Path, tmp_path: Path, qtbot: QtBot
) -> LossPanel:
    """The panel with a third run open, four times as long and on another text; the Transformer is shown."""
    shown = session.library.model
    train("rnn", load_corpus(small_text), tmp_path / "long", steps=24, batch=2, length=8, width=4)
    session.library.open(tmp_path / "long")
    qtbot.waitUntil(lambda: len(session.library.models) == 3, timeout=LONG)
    session.library.choose(shown)
    qtbot.waitUntil(lambda: "lstm" in loss.findChild(LinePlot).points())
    return loss


@pytest.mark.slow
def test_runs_on_other_texts_are_drawn_only_where_wanted_and_in_bits_per_character(
    beside_another_text: LossPanel, session: Session, qtbot: QtBot
) -> None:
    loss, plot = beside_another_text, beside_another_text.findChild(LinePlot)
    own = {"training", "validation", "lstm"}
    qtbot.waitUntil(lambda: set(plot.points()) == own)
    toggle = loss.findChild(QCheckBox, "other_texts")
    assert not toggle.isChecked()
    choose(loss, "smoothing", "raw", qtbot)
    toggle.click()
    qtbot.waitUntil(lambda: set(plot.points()) == {*own, "long"})
    assert loss.findChild(Card).title == "Loss, bits per character"
    nats = measured(session, "transformer")
    characters = session.text.corpus.characters_per_token
    np.testing.assert_allclose(points(loss, "training"), nats / math.log(2) / characters)
    [other] = [model for model in session.library.models if model.name == "long"]
    validation = [line["validation_loss"] for line in other.run.metrics() if "validation_loss" in line]
    bits = np.array(validation) / math.log(2) / other.description.characters_per_token
    np.testing.assert_allclose(points(loss, "long"), bits)
    session.library.close(other)
    qtbot.waitUntil(lambda: not toggle.isVisible())
    assert loss.findChild(Card).title == "Loss per token"


@pytest.mark.slow
def test_the_axis_ends_with_the_run_that_is_shown_whatever_else_is_open(
    beside_another_text: LossPanel, session: Session, make_run: Callable[..., Path], qtbot: QtBot
) -> None:
    loss = beside_another_text
    box = loss.findChild(Axes).box
    with qtbot.waitSignal(session.library.model_changed, timeout=LONG):
        session.library.open(make_run("gru", 2, width=8))
    loss.findChild(QCheckBox, "other_texts").click()
    qtbot.waitUntil(lambda: "long" in loss.findChild(LinePlot).points())
    qtbot.waitUntil(lambda: box.viewRange()[0] == pytest.approx([0, 2]))
    session.training.resume()  # to twice as many
    qtbot.waitUntil(lambda: session.training.state.phase == "finished", timeout=LONG)
    qtbot.waitUntil(lambda: box.viewRange()[0] == pytest.approx([0, 4]), timeout=LONG)


@pytest.mark.slow
def test_a_run_on_another_text_is_drawn_alone_when_it_is_shown(
    beside_another_text: LossPanel, session: Session, qtbot: QtBot
) -> None:
    plot = beside_another_text.findChild(LinePlot)
    session.library.choose(next(model for model in session.library.models if model.name == "long"))
    qtbot.waitUntil(lambda: set(plot.points()) == {"training", "validation"})
    assert len(points(beside_another_text, "training")) == 24


def pen_of(panel: LossPanel, curve: str) -> QPen:
    """What a curve is drawn with, found by its points."""
    items = panel.findChild(Axes).items_drawn
    values = points(panel, curve)
    found = [
        item
        for item in items
        if isinstance(item, pyqtgraph.PlotDataItem)
        and item.yData is not None
        and len(item.yData) == len(values)
        and np.allclose(item.yData, values)
    ]
    assert found, curve
    return found[0].opts["pen"]


@pytest.mark.slow
def test_the_own_curve_is_thick_and_those_of_other_runs_thin_and_grey(
    loss: LossPanel, session: Session, qtbot: QtBot
) -> None:
    theme, plot = current_theme(), loss.findChild(LinePlot)
    own, other = pen_of(loss, "training"), pen_of(loss, "lstm")
    assert own.widthF() >= 1.5 * other.widthF()
    assert own.color().getRgb()[:3] == theme.training.getRgb()[:3]
    assert other.color().getRgb()[:3] == theme.muted_text.getRgb()[:3]
    assert other.style() == own.style() == Qt.PenStyle.SolidLine
    [lstm] = [model for model in session.library.models if model.name == "lstm"]
    session.library.choose(lstm)
    qtbot.waitUntil(lambda: "transformer" in plot.points() and "lstm" not in plot.points())
    assert pen_of(loss, "training").widthF() == own.widthF()
    assert pen_of(loss, "transformer").color() == other.color()


@pytest.mark.slow
def test_a_run_on_another_text_is_thinner_still_dashed_and_fainter(
    beside_another_text: LossPanel, qtbot: QtBot
) -> None:
    loss, plot = beside_another_text, beside_another_text.findChild(LinePlot)
    loss.findChild(QCheckBox, "other_texts").click()
    qtbot.waitUntil(lambda: "long" in plot.points())
    far, near = pen_of(loss, "long"), pen_of(loss, "lstm")
    assert far.widthF() < near.widthF()
    assert far.color().getRgb()[:3] == current_theme().faint_text.getRgb()[:3]
    assert far.style() == Qt.PenStyle.CustomDashLine or far.style() == Qt.PenStyle.DashLine


def test_the_text_before_is_not_kept_for_its_references(
    loss: LossPanel, window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    other = tmp_path / "other.txt"
    other.write_text("the hen sees the dog\n" * 30, encoding="utf-8")
    window.show_perspective("polls")
    open_other_text(session, other, qtbot)
