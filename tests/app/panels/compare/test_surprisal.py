"""Surprisal and disagreement over the text, as the core computes them."""

from pathlib import Path

import numpy as np
from benches.compare import LONG, PREFIX, panel
from pytestqt.qtbot import QtBot

from lmviz.api.training import open_model
from lmviz.app.session.session import Session
from lmviz.app.widgets.plots.surprisal_plot import SurprisalPlot
from lmviz.app.window.main_window import MainWindow
from lmviz.decoding.comparison import disagreement, surprisal_over
from lmviz.decoding.likelihood import text_log_probabilities
from lmviz.decoding.shared_units import shared_units

ONLY_PANELS = ("surprisal",)


def test_surprisal_and_disagreement_are_the_core_s(
    compare: MainWindow, session: Session, lstm_run: Path, transformer_run: Path, qtbot: QtBot
) -> None:
    view = panel(compare, "surprisal_view")
    qtbot.waitUntil(lambda: view.disagreement is not None and len(view.curves) == 2, timeout=LONG)
    models = [open_model(transformer_run), open_model(lstm_run)]
    spans = [(0, 3), (4, 8), (9, 12)]
    for curve, model in zip(view.curves, models, strict=True):
        expected = surprisal_over(text_log_probabilities(model, PREFIX), spans)
        np.testing.assert_allclose(curve.values, expected, rtol=1e-4)
    found = disagreement(models, PREFIX, shared_units([model.tokenizer for model in models]))
    assert found.places.tolist() == [0, 3, 8, 12]
    np.testing.assert_allclose(view.disagreement, found.divergence[1:], atol=1e-5)
    view.findChild(SurprisalPlot).part_hovered.emit(0)
    assert session.focus.hovered_position == 1  # after START
