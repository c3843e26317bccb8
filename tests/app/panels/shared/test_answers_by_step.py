"""What is known of a training by its steps: asked one after the other, while the panel is in sight."""

from __future__ import annotations

import threading

import pytest
from pytestqt.qtbot import QtBot

from lmviz.app.panels.inside.lens import KEY
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.shared.answers_by_step import AnswersByStep
from lmviz.app.session.session import Session
from lmviz.models.model import Model


class CountingPanel(Panel):
    """Knows of each snapshot how many were asked before it."""

    def __init__(self, session: Session, gate: threading.Event) -> None:
        super().__init__(session)
        self.add_card("Counting")
        self.gate = gate
        self.begun: list[int] = []
        self.known = AnswersByStep[int](self, self.refresh, key=KEY)  # any key that there is

    def refresh(self) -> None:
        model = self.session.library.model
        assert model is not None
        self.known.be_about(model)
        self.known.ask_next(model, model.snapshots, self.count)

    def count(self, model: Model) -> int:
        self.begun.append(len(self.begun))
        self.gate.wait()
        return self.begun[-1]


@pytest.fixture
def panel(read: Session, gate: threading.Event, qtbot: QtBot) -> CountingPanel:
    made = CountingPanel(read, gate)
    qtbot.addWidget(made)
    return made


def test_it_stops_behind_another_tab_and_goes_on_where_it_is_seen_again(
    panel: CountingPanel, read: Session, gate: threading.Event, qtbot: QtBot
) -> None:
    snapshots = read.library.model.snapshots
    assert len(snapshots) > 1
    panel.show()
    qtbot.waitUntil(lambda: bool(panel.begun))
    panel.hide()
    gate.set()
    qtbot.waitUntil(lambda: len(panel.known) == 1)
    assert not read.work.is_busy(KEY)
    panel.show()
    qtbot.waitUntil(lambda: list(panel.known) == list(snapshots))
    assert len(panel.begun) == len(snapshots), "each is asked once"
