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


class Rail(QObject):
    chosen = Signal(str)


class Named:
    """Whatever has the attributes it is told."""

    def __init__(self, **attributes: object) -> None:
        self.__dict__.update(attributes)


class Window(QObject):
    """As much of the window as is remembered."""

    def __init__(self, session: Session, settings: Settings) -> None:
        super().__init__()
        self.session, self.settings, self.rail = session, settings, Rail(self)
        self.beginning, self.perspective = Named(is_untouched=False), Named(name="train")


def test_the_phases_of_a_training_are_written_down_and_its_steps_are_not(
    session: Session, settings: Settings, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembering, "SOON", 1)
    window, written = Window(session, settings), []
    Remembering(window)
    monkeypatch.setattr(settings, "write", lambda: written.append(settings.last_session.training))
    for number, phase in enumerate(("running", "finished"), start=1):
        session._take_training(TrainingState(phase, folder=tmp_path))
        qtbot.waitUntil(lambda number=number: len(written) == number)
    session._take_training(TrainingState("finished", folder=tmp_path, sentence=""))
    qtbot.wait(20)
    assert written == [str(tmp_path), ""]
