"""Panels are made before somebody goes to them, and nobody notices."""

import threading
from collections.abc import Callable

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QTimer
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from lmviz.app.board.board import Board
from lmviz.app.board.page import PanelPage
from lmviz.app.look.theme import current_theme
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.panel_row import PanelRow
from lmviz.app.panels.table import PANELS, shown_perspectives
from lmviz.app.session.session import Session
from lmviz.app.widgets.text import typesetting
from lmviz.app.window import building_ahead
from lmviz.app.window.main_window import MainWindow
from tests.app.conftest import missing_panels

LONG = 20_000


@pytest.fixture
def missing(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[PanelRow]]:
    """Call it for the panels that are still to be made."""
    monkeypatch.setattr(building_ahead, "QUIET", 20)
    monkeypatch.setattr(building_ahead, "BETWEEN", 1)
    window.show_perspective("attention")
    window.build_ahead()
    window.session.work.ready_changed.emit()
    return lambda: missing_panels(window)


def test_every_panel_is_made_and_none_is_in_the_window_before_it_is_shown(
    window: MainWindow, missing: Callable[[], list[PanelRow]], qtbot: QtBot
) -> None:
    assert missing()
    qtbot.waitUntil(lambda: not missing(), timeout=LONG)
    [shown] = window.findChildren(QWidget, "next_word_view")
    assert shown.isVisible()
    for perspective in shown_perspectives():
        window.show_perspective(perspective.name)
        rows = [row for row in PANELS if row.perspective == perspective.name and row.name != "preview"]
        assert len(window.perspective.panels) == len(rows)
        assert all(panel.window() is window for panel in window.perspective.panels)


def test_the_type_of_equations_is_loaded_before_anybody_sees_one(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(typesetting, "load_in_background", lambda: asked.append(True))
    window.build_ahead()
    building = window.findChild(building_ahead.BuildingAhead)
    building._begin()
    building._do_one()
    assert asked
    assert missing_panels(window), "no panel is waited for"


@pytest.fixture
def importing(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The threads in which panels are imported."""
    found: set[str] = set()
    load = PanelRow.load

    def noted(row: PanelRow) -> type[Panel]:
        found.add(threading.current_thread().name)
        return load(row)

    monkeypatch.setattr(PanelRow, "load", noted)
    return found


@pytest.mark.slow
def test_panels_are_imported_in_the_thread_of_the_window(
    importing: set[str], missing: Callable[[], list[PanelRow]], qtbot: QtBot
) -> None:
    """Another thread must not define classes of Qt's while Qt is at work in this one."""
    qtbot.waitUntil(lambda: not missing(), timeout=LONG)
    assert importing == {threading.main_thread().name}


@pytest.mark.slow
def test_it_waits_while_somebody_does_something(
    window: MainWindow, missing: Callable[[], list[PanelRow]], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    timer = window.findChild(building_ahead.BuildingAhead).findChild(QTimer)
    qtbot.waitUntil(lambda: len(missing()) < 20, timeout=LONG)
    assert timer.remainingTime() <= 20
    monkeypatch.setattr(building_ahead, "QUIET", 60_000)
    window.session.reading.set_prefix("the hens")
    assert missing()
    assert timer.remainingTime() > 30_000


@pytest.mark.slow
def test_type_grows_in_panels_that_were_made_before_projector_mode_and_shown_after(
    window: MainWindow, missing: Callable[[], list[PanelRow]], qtbot: QtBot
) -> None:
    qtbot.waitUntil(lambda: not missing(), timeout=LONG)
    window.set_projector(True)
    window.show_perspective("train")
    page = next(
        edit for edit in window.findChildren(QPlainTextEdit) if edit.accessibleName() == "sampled text"
    )
    wanted = current_theme().token_font(12.5).pixelSize()
    assert wanted > 15
    qtbot.waitUntil(lambda: page.document().defaultFont().pixelSize() == wanted)


def test_panels_that_were_made_ahead_go_with_their_perspective(session: Session) -> None:
    view = Board("polls", session)
    view.build_next()
    view.build_next()
    [panel, _] = made = [widget for widget in QApplication.topLevelWidgets() if isinstance(widget, PanelPage)]
    assert panel.parent() is None
    view.deleteLater()
    for _ in made:  # first the view, and then what it asked to go with it
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert not any(isValid(dock) for dock in made)
