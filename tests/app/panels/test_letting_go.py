"""Where all models are closed, no panel keeps one, seen or not: its trace may have tens of megabytes."""

import gc
from collections.abc import Callable
from pathlib import Path

import pytest
from covering import others_slow
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from lmviz.app.panels.table import shown_perspectives
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.inspection.trace import Trace
from lmviz.models.model import Model

NAMES = [row.name for row in shown_perspectives()]


@pytest.mark.parametrize("perspective", others_slow(NAMES, "circuits"))
def test_no_panel_keeps_what_it_has_drawn_of_a_closed_model(
    perspective: str,
    window: MainWindow,
    session: Session,
    transformer_run: Path,
    text_file: Path,
    drawn: Callable[[], None],
    qtbot: QtBot,
) -> None:
    def kept() -> list[str]:
        QApplication.processEvents()
        gc.collect()
        things = [thing for thing in gc.get_objects() if isinstance(thing, Trace | Model)]
        return [type(thing).__name__ for thing in things]

    before = len(kept())
    session.text.open(text_file)
    session.library.open(transformer_run)
    session.reading.set_prefix("the cows eat")
    qtbot.waitUntil(lambda: session.reading.current is not None and not session.reading.is_busy)
    window.show_perspective(perspective)
    for panel in window.perspective.panels:
        window.bring_in_front(panel.objectName())
        drawn()
    window.show_perspective("polls")
    session.library.close(session.library.model)
    qtbot.waitUntil(lambda: not session.work.jobs)
    qtbot.waitUntil(lambda: len(kept()) == before)
