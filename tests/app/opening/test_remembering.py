"""What is open is written down soon after it changes, and not at every step of a training."""

from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Signal
from pytestqt.qtbot import QtBot

from lmviz.app.opening import remembering
from lmviz.app.opening.remembering import Remembering
from lmviz.app.opening.settings import Settings
from lmviz.app.session.session import Session
from lmviz.app.session.training_state import TrainingState


class Training(QObject):
    """A training of which only the state is known."""

    changed = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.state = TrainingState()

    def show(self, state: TrainingState) -> None:
        self.state = state
        self.changed.emit()

    def close(self) -> None:
        """There is nothing to stop."""


class Window(QObject):
    """As much of the window as is remembered."""

    perspective_changed = Signal(str)
    perspective_name = "train"
    is_untouched = False

    def __init__(self, session: Session, settings: Settings) -> None:
        super().__init__()
        self.session, self.settings = session, settings


def test_the_phases_of_a_training_are_written_down_and_its_steps_are_not(
    session: Session, settings: Settings, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembering, "SOON", 1)
    training = Training(session)
    monkeypatch.setattr(session, "training", training)
    window, written = Window(session, settings), []
    Remembering(window, window, window)
    monkeypatch.setattr(settings, "write", lambda: written.append(settings.last_session.training))
    for number, phase in enumerate(("running", "finished"), start=1):
        training.show(TrainingState(phase, folder=tmp_path))
        qtbot.waitUntil(lambda number=number: len(written) == number)
    training.show(TrainingState("finished", folder=tmp_path, sentence=""))
    session.library.follow_live(True)  # which is written down, and nothing else is
    qtbot.waitUntil(lambda: len(written) == 3)
    assert written == [str(tmp_path), "", ""]
