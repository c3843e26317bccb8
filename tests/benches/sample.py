"""The window at the Sample perspective, with a person's hands and the core beside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from lmviz.api.training import open_model
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.window.main_window import MainWindow
from lmviz.decoding.continuation import Continuation
from lmviz.inspection.changed_model import ChangedModel
from lmviz.models.model import Model

LONG = 20_000


class Bench:
    """The window at the Sample perspective, and the same model read without it."""

    def __init__(
        self,
        window: MainWindow,
        session: Session,
        run: Path,
        settle: Callable[[], None],
        answered: Callable[[], None],
        qtbot: QtBot,
    ) -> None:
        self.window, self.session, self.qtbot = window, session, qtbot
        self.settle, self.answered = settle, answered
        self.model: Model = open_model(run)

    def find(self, name: str) -> QWidget:
        found = self.window.perspective.findChild(QObject, name)
        assert found is not None, name
        return found

    def bring(self, view: str) -> QWidget:
        """A panel that shares its place with others, in front of them."""
        panel = self.find(view)
        panel.parentWidget().raise_()
        self.wait(lambda: panel.is_in_sight)
        return panel

    def wait(self, condition: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(condition, timeout=LONG)

    def click(self, name: str) -> None:
        self.qtbot.mouseClick(self.find(name), Qt.MouseButton.LeftButton)

    def logits(self) -> np.ndarray:
        """What the core says comes next where one stands."""
        branches = self.session.writing.branches
        return Continuation.of(self.changed, branches.prefix, branches.chosen()).logits

    @property
    def changed(self) -> Model:
        """The core's model with the interventions in force."""
        return ChangedModel(self.model, self.session.surgery.interventions)

    def says(self, view: str, sentence: str) -> bool:
        found = self.find(view)
        said = [label.text() for label in found.findChildren(QLabel)]
        said += [line.text for line in found.findChildren(MutedLine)]
        return any(sentence in text for text in said)

    def wait_for_prospect(self) -> None:
        """Until what comes next where one stands is shown."""
        session = self.session

        def shown() -> bool:
            prospect = session.writing.prospect
            return (
                prospect is not None
                and prospect.node == session.writing.branches.current
                and np.allclose(prospect.distribution.logits, self.logits(), atol=1e-6)
            )

        self.wait(shown)

    def roll(self) -> None:
        before = self.session.writing.branches
        self.click("sample_step_button")
        self.wait(
            lambda: self.session.writing.branches is not before and not self.session.writing.is_choosing
        )
        self.settle()
