"""The bill of features in the window: what Python gives, with the error in sight."""

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from lmviz.app.panels.circuits.feature_bill import FeatureBillPanel
from lmviz.app.widgets.plots.signed_bars import SignedBars
from lmviz.app.window.main_window import MainWindow

ONLY_PANELS = ("feature_bill",)


def test_the_bill_is_that_of_python_and_adds_up(
    window: MainWindow, open_features: Callable[[], None], qtbot: QtBot
):
    [panel] = [item for item in window.perspective.panels if isinstance(item, FeatureBillPanel)]
    qtbot.waitUntil(
        lambda: any(
            "Open features" in found.text() for found in panel.findChildren(QLabel) if found.isVisible()
        )
    )
    open_features()
    qtbot.waitUntil(lambda: panel.found is not None and panel.found.alone is not None)
    known: dict[str, object] = {}
    exec(panel.recipe(), known)
    np.testing.assert_allclose(panel.exported_arrays()["share"], known["values"], atol=1e-5)
    bars = panel.findChild(SignedBars, "feature_bill_bars")
    assert bars.values[:-1].sum() == pytest.approx(bars.values[-1], abs=1e-5)
    assert bars.values[-1] == pytest.approx(panel.found.value)
    assert any(label.startswith("error") for label in bars.labels)
    assert "unexplained" in panel.findChild(QLabel, "feature_bill_sentence").text()
