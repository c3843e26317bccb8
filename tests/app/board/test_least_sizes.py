"""A board in a small window: every panel keeps the room it needs, and nothing lies beside it."""

import pytest
from covering import in_turn
from pytestqt.qtbot import QtBot

from lmviz.app.board.page import PanelPage
from lmviz.app.look.theme import current_theme
from lmviz.app.panels.table import PERSPECTIVES
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow

NAMES = [perspective.name for perspective in PERSPECTIVES]
SMALL = (1000, 640)


def cut_off(window: MainWindow) -> list[str]:
    """The panels in sight that are smaller than they need to be, or than their pages let them be."""
    view, scale = window.perspective, current_theme().scale
    found = []
    is_projected = scale > 1  # where few panels share the height there is
    for panel in view.panels:
        page = panel.parentWidget()
        assert isinstance(page, PanelPage)
        row = page.row
        height = row.least[1] if is_projected else round(row.least[1] * scale)
        is_small = panel.width() < round(row.least[0] * scale) or panel.height() < height
        if panel.is_in_sight and (is_small or not panel.parentWidget().rect().contains(panel.geometry())):
            found.append(row.name)
    return found


@pytest.mark.parametrize(
    ("perspective", "is_projected"), in_turn(NAMES, (True, False), among=("train", "circuits"))
)
def test_every_panel_has_the_room_it_needs_however_small_the_window(
    window: MainWindow, read: Session, perspective: str, is_projected: bool, qtbot: QtBot
) -> None:
    window.set_projector(is_projected)
    window.resize(*SMALL)
    window.show_perspective(perspective)
    qtbot.waitUntil(lambda: any(panel.is_in_sight for panel in window.perspective.panels))
    qtbot.waitUntil(lambda: cut_off(window) == [])
    view = window.perspective
    if not is_projected:  # or it would have to be scrolled sideways; the rail gives way where it has to
        qtbot.waitUntil(lambda: view.width() <= view.parentWidget().width())
