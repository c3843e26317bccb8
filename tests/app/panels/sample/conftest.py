"""The bench on which the panels of the Sample perspective are tried."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from benches.sample import LONG, Bench
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow


@pytest.fixture(params=["lstm"])
def bench(
    window: MainWindow,
    session: Session,
    drawn: Callable[[], None],
    answered: Callable[[], None],
    request: pytest.FixtureRequest,
    qtbot: QtBot,
) -> Bench:
    run = request.getfixturevalue(f"{request.param}_run")
    session.library.open(run)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    window.show_perspective("sample")
    session.reading.set_prefix("the cows")
    made = Bench(window, session, run, drawn, answered, qtbot)
    made.wait_for_prospect()
    made.settle()
    return made
