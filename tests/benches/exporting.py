"""What leaves the window, taken as a person takes it."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import (
    QFileDialog,
)
from pytestqt.qtbot import QtBot

from lmviz.app.window.main_window import MainWindow

LONG = 30_000


def choose(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))


def exported(panel, qtbot: QtBot) -> tuple[dict[str, np.ndarray], dict[str, object]]:
    """What a panel exports as numbers, and what its Python binds."""
    qtbot.waitUntil(lambda: bool(panel.exported_arrays()) and bool(panel.recipe()), timeout=LONG)
    scope: dict[str, object] = {}
    exec(panel.recipe(), scope)
    return panel.exported_arrays(), scope


def shown(window: MainWindow, perspective: str) -> dict[str, object]:
    window.show_perspective(perspective)
    return {panel.objectName(): panel for panel in window.perspective.panels}
