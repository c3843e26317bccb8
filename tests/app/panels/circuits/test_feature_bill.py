"""The bill of features in the window: what Python gives, with the error in sight."""

from pathlib import Path

import numpy as np
import pytest
from made_features import made_features
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.panels.circuits.feature_bill import FeatureBillPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.plots.signed_bars import SignedBars
from lmviz.app.window.main_window import MainWindow

ONLY_PANELS = ("feature_bill",)
TEXT = "the cows eat"


def test_the_bill_is_that_of_python_and_adds_up(
    window: MainWindow, session: Session, transformer_run: Path, tmp_path: Path, qtbot: QtBot
):
    [panel] = [item for item in window.perspective.panels if isinstance(item, FeatureBillPanel)]
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open(transformer_run)
    session.reading.set_prefix(TEXT)
    qtbot.waitUntil(
        lambda: any(
            "Open features" in found.text() for found in panel.findChildren(QLabel) if found.isVisible()
        )
    )
    made = made_features(lmviz.open_model(transformer_run), "layers/0/residual2", TEXT)
    session.features.open_file(made.save(tmp_path / "drawn.safetensors"))
    session.contrast.set_other("the cows see")
    qtbot.waitUntil(lambda: panel.found is not None and panel.found.alone is not None)
    known: dict[str, object] = {}
    exec(panel.recipe(), known)
    np.testing.assert_allclose(panel.exported_arrays()["share"], known["values"], atol=1e-5)
    bars = panel.findChild(SignedBars, "feature_bill_bars")
    assert bars.values[:-1].sum() == pytest.approx(bars.values[-1], abs=1e-5)
    assert bars.values[-1] == pytest.approx(panel.found.value)
    assert any(label.startswith("error") for label in bars.labels)
    assert "unexplained" in panel.findChild(QLabel, "feature_bill_sentence").text()
