"""Since which step layers can say a word, in the window."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QComboBox, QLabel
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.panels.inside.lens_over_training import LensOverTrainingPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.window.main_window import MainWindow
from tests.app.conftest import wait_for_reading

ONLY_PANELS = ("lens_over_training",)
TEXT = "the cows eat"


def test_each_layer_and_step_is_what_python_gives(
    window: MainWindow, session: Session, transformer_run: Path, text_file: Path, qtbot: QtBot
) -> None:
    session.text.open(text_file)
    session.library.open(transformer_run)
    qtbot.waitUntil(lambda: session.library.model is not None and session.text.corpus is not None)
    session.reading.set_prefix(TEXT)
    wait_for_reading(session, qtbot)
    window.perspective.bring_forward("lens_over_training_view")
    [panel] = window.findChildren(LensOverTrainingPanel)
    steps = session.library.model.snapshots
    sentence = panel.findChild(QLabel, "lens_over_training_sentence")
    qtbot.waitUntil(lambda: len(panel.known) == len(steps) and "said at the end" in sentence.text())
    reading = session.reading.current
    word = reading.model.tokenizer.tokens()[int(reading.trace["probabilities"].array[-1].argmax())]
    expected = lmviz.lens_over_training(transformer_run, TEXT, word)
    assert panel.exported_arrays()["ranks"].tolist() == expected.ranks.T.tolist()
    known: dict[str, object] = {}
    exec(panel.recipe(), known)
    assert known["values"] == pytest.approx(panel.exported_arrays()["probabilities"], abs=1e-6)

    panel.findChild(HeatmapView).cell_clicked.emit(0, 0)
    assert session.library.step == steps[0]
    session.library.choose_step(steps[-1])
    kinds = panel.findChild(QComboBox, "lens_over_training_picker")
    kinds.setCurrentIndex(2)
    kinds.activated.emit(2)
    qtbot.waitUntil(lambda: "passages at each step" in panel.card.aside and len(panel.known) == len(steps))
    found = lmviz.lens_over_training(
        transformer_run, TEXT, word, kind="jacobian", texts=session.text.corpus, passages=10
    )
    qtbot.waitUntil(lambda: panel.exported_arrays()["ranks"].shape[1] == len(steps))
    assert panel.exported_arrays()["probabilities"] == pytest.approx(found.probabilities.T, abs=1e-5)
