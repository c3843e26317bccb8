"""More features at a word, in the window: the curves are those of Python."""

from pathlib import Path

import numpy as np
from made_features import made_features
from pytestqt.qtbot import QtBot
from told import words_of

import lmviz
from lmviz.app.panels.circuits.more_features import MoreFeaturesPanel
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow

ONLY_PANELS = ("more_features",)
TEXT = "the cows eat"


def test_the_curves_are_those_of_python(
    window: MainWindow, session: Session, transformer_run: Path, tmp_path: Path, qtbot: QtBot
):
    [panel] = [item for item in window.perspective.panels if isinstance(item, MoreFeaturesPanel)]
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open(transformer_run)
    session.reading.set_prefix(TEXT)
    made = made_features(lmviz.open_model(transformer_run), "layers/0/residual2", TEXT)
    session.features.open_file(made.save(tmp_path / "drawn.safetensors"))
    session.contrast.set_other("the cows see")
    qtbot.waitUntil(lambda: panel.found is not None)
    known: dict[str, object] = {}
    exec(panel.recipe(), known)
    np.testing.assert_allclose(panel.exported_arrays()["errors"], known["values"], atol=1e-4)
    assert words_of(panel, "more_features_sentence").startswith("With 3 at a word")
