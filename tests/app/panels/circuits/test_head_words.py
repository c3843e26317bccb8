"""Heads as words, in the window."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.panels.circuits.head_words import HeadWordsPanel
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow

ONLY_PANELS = ("head_words",)


def test_directions_and_scores_are_what_python_gives(
    window: MainWindow, session: Session, transformer_run: Path, qtbot: QtBot
) -> None:
    [panel] = [item for item in window.perspective.panels if isinstance(item, HeadWordsPanel)]
    session.library.open(transformer_run)
    qtbot.waitUntil(lambda: panel.found is not None)
    expected = lmviz.head_words(transformer_run, 0, 0, count=5, words=5)
    assert panel.exported_arrays()["values"] == pytest.approx(expected.values)
    scores = lmviz.compositions(transformer_run)
    assert np.array_equal(panel.found.scores.array, scores.array, equal_nan=True)
    matrices = panel.findChild(QComboBox, "head_matrix_picker")
    matrices.setCurrentIndex(1)
    matrices.activated.emit(1)
    qtbot.waitUntil(lambda: panel.found.words.matrix == "qk")
    known: dict[str, object] = {}
    exec(panel.recipe(), known)
    assert known["values"] == pytest.approx(panel.exported_arrays()["values"])
