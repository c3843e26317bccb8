"""The Health panel shows the model that is shown: nothing of another, trained, counted or in training."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from lmviz.api.training import open_model
from lmviz.app.panels.train.health import COUNTED, HealthPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.empty_text import EmptyText
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.plots.bars import BarsView
from lmviz.app.window.main_window import MainWindow
from lmviz.families import FAMILIES
from lmviz.training.options import TrainingOptions
from lmviz.training.run import Run
from lmviz.training.weight_sizes import weight_sizes

ONLY_PANELS = ("health",)


@pytest.fixture
def health(window: MainWindow) -> HealthPanel:
    return next(panel for panel in window.perspective.panels if isinstance(panel, HealthPanel))


def open_run(session: Session, folder: Path, qtbot: QtBot) -> None:
    session.library.open(folder)
    qtbot.waitUntil(lambda: session.library.model is not None and session.library.model.folder == folder)


def weights_of(folder: Path) -> dict[str, float]:
    """The bars that a run should have, by layer."""
    return {f"weights/{layer}": size for layer, size in weight_sizes(open_model(folder)).items()}


def bars_of(health: HealthPanel) -> dict[str, float]:
    """The bars that are drawn, by what was measured and layer."""
    return {name: float(values[0]) for name, values in health.exported_arrays().items() if "/" in name}


def curves_of(health: HealthPanel) -> dict[str, tuple[str, list[float]]]:
    """What stands beside each curve in sight, and its values."""
    labels = {name: health.findChild(QLabel, f"{name}_label") for name in ("gradient_norm", "learning_rate")}
    arrays = health.exported_arrays()
    return {
        name: (label.text(), arrays[name][:, 1].tolist())
        for name, label in labels.items()
        if label.isVisible()
    }


def is_health_of(health: HealthPanel, folder: Path) -> bool:
    """Whether bars and curves are those of a recorded run, and of no other."""
    expected, drawn = weights_of(folder), bars_of(health)
    if drawn.keys() != expected.keys() or not np.allclose(list(drawn.values()), list(expected.values())):
        return False
    norms = [line["gradient_norm"] for line in Run.open(folder).metrics() if "gradient_norm" in line]
    said, values = curves_of(health).get("gradient_norm", ("", []))
    return values == norms and said == f"gradient norm {number(norms[-1], 2)}"


def test_after_another_model_is_chosen_it_shows_that_one(
    health: HealthPanel, session: Session, lstm_run: Path, transformer_run: Path, qtbot: QtBot
) -> None:
    open_run(session, lstm_run, qtbot)
    qtbot.waitUntil(lambda: is_health_of(health, lstm_run))
    open_run(session, transformer_run, qtbot)
    qtbot.waitUntil(lambda: is_health_of(health, transformer_run))
    [lstm] = [model for model in session.library.models if model.folder == lstm_run]
    session.library.choose(lstm)
    qtbot.waitUntil(lambda: is_health_of(health, lstm_run))


@pytest.mark.slow
def test_a_counted_model_has_no_bars_and_no_curves_of_the_one_before(
    health: HealthPanel, session: Session, lstm_run: Path, make_run: Callable[..., Path], qtbot: QtBot
) -> None:
    open_run(session, lstm_run, qtbot)
    qtbot.waitUntil(lambda: is_health_of(health, lstm_run))
    open_run(session, make_run("ngram", 3, order=2), qtbot)
    sentence = health.findChild(EmptyText, "health_sentence")
    qtbot.waitUntil(lambda: sentence.isVisible() and sentence.text() == COUNTED)
    assert not health.findChild(BarsView).isVisible()
    assert bars_of(health) == curves_of(health) == {}


@pytest.mark.slow
def test_a_training_under_way_is_not_shown_as_the_health_of_a_model_that_is_chosen(
    health: HealthPanel,
    session: Session,
    text_file: Path,
    transformer_run: Path,
    options: TrainingOptions,
    qtbot: QtBot,
) -> None:
    with qtbot.waitSignal(session.text.changed):
        session.text.open(text_file, documents="line")
    session.plan.set("lstm", FAMILIES["lstm"].configuration(width=8), options)
    session.training.start()
    qtbot.waitUntil(lambda: any(name.startswith("update_over_weight/") for name in bars_of(health)))
    open_run(session, transformer_run, qtbot)
    qtbot.waitUntil(lambda: is_health_of(health, transformer_run))
    assert session.training.state.is_active
    session.training.stop()
    qtbot.waitUntil(lambda: not session.training.state.is_active)
    qtbot.waitUntil(lambda: health.is_up_to_date)
    assert session.library.model.folder != transformer_run or is_health_of(health, transformer_run)
