"""Where an answer is read and used, in the window."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.panels.circuits.read_and_used import ReadAndUsedPanel
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow

ONLY_PANELS = ("read_and_used",)


def test_the_maps_are_what_python_gives(
    window: MainWindow, session: Session, transformer_run: Path, qtbot: QtBot
) -> None:
    [panel] = [item for item in window.perspective.panels if isinstance(item, ReadAndUsedPanel)]
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open(transformer_run)
    button = panel.findChild(QPushButton, "read_and_used_button")
    qtbot.waitUntil(lambda: "Make a set" in panel.findChild(QLabel, "read_and_used_sentence").text())
    assert not button.isEnabled()
    rows = [
        {"text": f"the {word} eat", "wanted": wanted}
        for word in ("cows", "hens")
        for wanted in ("grass", "the")
        for _ in range(8)
    ]
    given = lmviz.text_set(rows)
    session.many.take(given)
    qtbot.waitUntil(button.isEnabled)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.found is not None and panel.found.is_complete and not session.work.jobs)
    found = lmviz.use_map(str(transformer_run), given)
    qtbot.waitUntil(lambda: np.isfinite(panel.exported_arrays()["used"]).all())
    for name in ("read", "shuffled", "used", "random"):
        assert panel.exported_arrays()[name] == pytest.approx(getattr(found, name))
    known: dict[str, object] = {}
    exec(panel.recipe(), known)
    assert known["values"] == pytest.approx(found.used)
