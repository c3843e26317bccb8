"""The first window lies within the screen, with its title bar and all of its rows."""

import pytest
from PySide6.QtCore import QRect
from pytestqt.qtbot import QtBot

from lmviz.app.opening.settings import Settings
from lmviz.app.session.session import Session
from lmviz.app.window.frame import FRAME, USUAL, first_place, least_size
from lmviz.app.window.main_window import MainWindow

SCREENS = [
    QRect(0, 0, 1440, 900),
    QRect(0, 25, 1440, 875),
    QRect(0, 0, 960, 540),
    QRect(1920, 0, 1280, 720),
    QRect(0, 0, 2560, 1440),
]


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: f"{screen.width()} x {screen.height()}")
def test_the_window_and_its_frame_lie_within_the_screen(screen: QRect) -> None:
    place = first_place(screen)
    assert screen.contains(place.marginsAdded(FRAME))
    least = least_size(screen)
    assert least.width() <= place.width()
    assert least.height() <= place.height()


def test_on_a_large_screen_it_has_its_usual_size_in_the_middle() -> None:
    place = first_place(SCREENS[-1])
    assert place.size() == USUAL
    assert abs(place.center().x() - SCREENS[-1].center().x()) <= 1


def test_the_first_window_is_shown_whole(session: Session, settings: Settings, qtbot: QtBot) -> None:
    window = MainWindow(session, settings)
    qtbot.addWidget(window)
    window.show_settled()
    available = window.screen().availableGeometry()
    assert available.contains(window.geometry())
    transport = window.transport
    bottom = transport.mapToGlobal(transport.rect().bottomLeft()).y()
    assert transport.isVisible()
    assert bottom <= available.bottom()
