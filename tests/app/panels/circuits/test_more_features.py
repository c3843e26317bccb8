"""More features at a word, in the window: the curves are those of Python."""

from collections.abc import Callable

import numpy as np
from pytestqt.qtbot import QtBot
from told import words_of

from lmviz.app.panels.circuits.more_features import MoreFeaturesPanel
from lmviz.app.window.main_window import MainWindow

ONLY_PANELS = ("more_features",)


def test_the_curves_are_those_of_python(window: MainWindow, open_features: Callable[[], None], qtbot: QtBot):
    [panel] = [item for item in window.perspective.panels if isinstance(item, MoreFeaturesPanel)]
    open_features()
    qtbot.waitUntil(lambda: panel.found is not None)
    known: dict[str, object] = {}
    exec(panel.recipe(), known)
    np.testing.assert_allclose(panel.exported_arrays()["errors"], known["values"], atol=1e-4)
    assert words_of(panel, "more_features_sentence").startswith("With 3 at a word")
