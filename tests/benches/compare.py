"""What a person does at the Compare perspective, and what the core says of it."""

from pathlib import Path

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from lmviz.api.training import open_model
from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.decoding.continuation import Continuation
from lmviz.decoding.distribution import next_distribution

LONG = 30_000
PREFIX = "the cows eat"


def open_all(session: Session, qtbot: QtBot, *folders: Path) -> None:
    for folder in folders:
        session.library.open(folder)
        qtbot.waitUntil(
            lambda folder=folder: (
                session.library.model is not None and session.library.model.folder == folder.resolve()
            ),
            timeout=LONG,
        )


def panel(window: MainWindow, name: str) -> Panel:
    return next(found for found in window.perspective.panels if found.objectName() == name)


def bring_to_front(window: MainWindow, name: str, qtbot: QtBot) -> Panel:
    found = panel(window, name)
    found.parentWidget().raise_()
    qtbot.waitUntil(lambda: found.is_in_sight)
    return found


def click(window: MainWindow, name: str, qtbot: QtBot) -> None:
    qtbot.mouseClick(window.findChild(QPushButton, name), Qt.MouseButton.LeftButton)


def wait_for_distributions(window: MainWindow, count: int, qtbot: QtBot) -> Panel:
    """Those of the models that are compared now: before, there may be as many of others."""
    view = panel(window, "compare_view")
    qtbot.waitUntil(
        lambda: len(view.found) == count == len(view.cards) and view.models == view.session.comparison.models,
        timeout=LONG,
    )
    return view


def core_distributions(*runs: tuple[Path, int], text: str = PREFIX) -> list[np.ndarray]:
    models = [open_model(folder, step) for folder, step in runs]
    return [next_distribution(Continuation.of(model, text).logits).probabilities for model in models]
