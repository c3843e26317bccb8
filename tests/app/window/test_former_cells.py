"""A cell can be pinned that the reading does not have: by a click on a picture that will be replaced."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from covering import others_slow, walk_through
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from tests.app.conftest import wait_for_reading


@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", others_slow(["transformer", "lstm"], "transformer"))
@walk_through("attention")
def test_every_panel_stands_a_pinned_cell_that_has_gone(
    window: MainWindow,
    session: Session,
    transformer_run: Path,
    lstm_run: Path,
    drawn: Callable[[], None],
    answered: Callable[[], None],
    qtbot: QtBot,
    kind: str,
    perspectives: tuple[str, ...],
) -> None:
    session.library.open({"transformer": transformer_run, "lstm": lstm_run}[kind])
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix("the cows eat")
    wait_for_reading(session, qtbot)
    arrays = session.reading.current.trace.arrays
    by_axes = {array.axes: address for address, array in arrays.items()}  # one of each shape
    assert len(by_axes) >= 3
    said: list[str] = []
    session.work.any_failed.connect(said.append)
    for name in perspectives:
        window.show_perspective(name)
        drawn()
        for panel in window.perspective.panels:
            window.perspective.bring_forward(panel.objectName())
            for axes, address in by_axes.items():
                session.focus.choose_cell((address, tuple(size + 7 for size in arrays[address].shape)))
                qtbot.waitUntil(lambda panel=panel: panel.is_in_sight)
                panel.refresh_soon()
                drawn()
                assert session.focus.cell is None or session.focus.cell[0] == address, axes
        answered()
    assert said == []
