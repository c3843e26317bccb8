"""The halo follows the pointer, takes no clicks and goes away again."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QCursor
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from lmviz.app.widgets.base.pointer_halo import PointerHalo
from lmviz.app.window.main_window import MainWindow


@pytest.fixture
def pointer(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> list[QPoint]:
    """Where the pointer is, in the window; there may be no screen to move a real one over."""
    place = [QPoint(300, 200)]
    monkeypatch.setattr(QCursor, "pos", lambda: window.mapToGlobal(place[0]))
    return place


def halo_of(window: MainWindow) -> PointerHalo:
    halo = window.findChild(PointerHalo)
    assert halo is not None
    return halo


def test_it_follows_the_pointer_until_it_is_switched_off(
    window: MainWindow, pointer: list[QPoint], qtbot: QtBot
) -> None:
    QTest.keyClick(window, Qt.Key.Key_F7)
    halo = halo_of(window)
    assert halo.isVisible()
    assert (halo.middle - pointer[0]).manhattanLength() <= 2
    pointer[0] = QPoint(500, 320)
    qtbot.waitUntil(lambda: (halo.middle - pointer[0]).manhattanLength() <= 2)
    pointer[0] = QPoint(-50, 10)
    qtbot.waitUntil(lambda: not halo.isVisible())
    pointer[0] = QPoint(400, 300)
    qtbot.waitUntil(halo.isVisible)
    QTest.keyClick(window, Qt.Key.Key_F7)
    assert not halo.isVisible()
    assert not halo.is_on


@pytest.mark.slow
def test_what_lies_under_it_is_what_is_clicked(window: MainWindow, pointer: list[QPoint]) -> None:
    target = window.find_control("perspective_train")
    assert target is not None
    pointer[0] = target.mapTo(window, target.rect().center())
    QTest.keyClick(window, Qt.Key.Key_F7)
    assert halo_of(window).geometry().contains(pointer[0])
    assert window.childAt(pointer[0]) is target
    QTest.keyClick(window, Qt.Key.Key_F7)
