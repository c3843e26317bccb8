"""What is written after the prefix, as the session has it."""

import threading

import pytest
from pytestqt.qtbot import QtBot

from lmviz.app.session import writing
from lmviz.app.session.session import Session
from lmviz.base.errors import LmvizError


def test_where_a_choice_fails_it_is_said_that_none_is_awaited(
    read: Session, gate: threading.Event, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    """Panels draw nothing while it is, and would wait for ever."""

    def fail(*_: object) -> None:
        gate.wait()
        raise LmvizError("It failed.")

    monkeypatch.setattr(writing, "choose", fail)
    read.writing.look_ahead()
    qtbot.waitUntil(lambda: not read.writing.is_late)
    late: list[bool] = []
    read.writing.late_changed.connect(lambda: late.append(read.writing.is_late))
    read.writing.roll()
    with qtbot.waitSignal(read.writing.failed):
        gate.set()
    assert late == [True, False]
