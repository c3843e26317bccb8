"""Where the panels are: remembered, put back, and shared out anew in another window."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDockWidget,
)
from pytestqt.qtbot import QtBot

from lmviz.app.opening.settings import Settings
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.app.window.perspective_view import PerspectiveView


def test_the_arrangement_is_remembered_and_can_be_reset(
    window: MainWindow, session: Session, settings: Settings, qtbot: QtBot
) -> None:
    window.show_perspective("train")
    [action] = [action for action in window.perspective.toggle_actions if action.text() == "Next word"]
    action.trigger()
    shown = len(window.perspective.panels)
    window.close()
    again = MainWindow(session, settings)
    qtbot.addWidget(again)
    again.show()
    again.show_perspective("train")
    assert len(again.perspective.panels) == shown
    again.reset_arrangement()
    assert len(again.perspective.panels) == shown + 1


def test_more_room_goes_to_the_panels_in_the_middle_until_somebody_arranges_them(
    window: MainWindow, qtbot: QtBot
) -> None:
    def widths() -> dict[str, int]:
        return {panel.objectName(): panel.width() for panel in window.perspective.panels}

    window.show_perspective("train")
    window.resize(1000, 640)
    qtbot.waitUntil(lambda: widths()["loss_view"] < 400)
    window.resize(2200, 1200)
    qtbot.waitUntil(lambda: widths()["loss_view"] > 1200)
    assert 340 < widths()["plan_view"] < 400, "at the sides the panels grow, but less"
    window.toggle_rearranging()
    dock = window.findChild(QDockWidget, "dock_plan")
    heads = [window.findChild(QDockWidget, f"dock_{name}") for name in ("plan", "loss", "next_word")]
    window.perspective.resizeDocks(heads, [700, 900, 340], Qt.Orientation.Horizontal)
    qtbot.waitUntil(lambda: dock.width() > 650)
    later = PerspectiveView("train", window.session, window.perspective.arrangement())
    qtbot.addWidget(later)
    later.resize(window.perspective.size())
    later.show()
    # Panels draw at the end of the turn in which the room is shared out, or later.
    qtbot.waitUntil(lambda: all(panel.is_up_to_date or not panel.is_in_sight for panel in later.panels))
    assert later.findChild(QDockWidget, "dock_plan").width() > 650, "what a person has chosen stays"
