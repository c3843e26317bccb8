"""The tape of the lecture's net is stepped forward and back, and every number read off the cells."""

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.app.widgets.diagrams.network_values import ValueCell
from lmviz.app.window.main_window import MainWindow
from tests.app.panels.autodiff.conftest import Scene

ONLY_PANELS = ("graph", "tape")

GRADIENTS = {
    "ŷ": (0, -1.384106, 0),
    "b": (0.143355, -0.277512, 0.134157),
    "β": ((0.071677, 0.089233), (-0.138756, -0.172740), (0.067079, 0.083507)),
    "z": (-0.129558, -0.631300),
    "a": (-0.032390, -0.148358),
    "α": ((-0.032390, -0.064779), (-0.148358, -0.296716)),
    "x": (0.132163, -0.103171),
}
ARRIVING = (("ŷ",), ("b",), ("β", "z"), ("a",), ("α", "x"))
"""Which gradients each pop sends back, when they are added up."""


def test_the_tape_of_the_lectures_net_forward_and_back(scene: Scene) -> None:
    scene.click("tape_rewind")
    assert scene.picture.figure(ValueCell("J", (), False)) == ""
    for count in range(1, 6):
        scene.click("tape_forward")
        assert f"{count} pushed · 0 popped" in scene.panel("tape_view").card.aside
    assert scene.read("J") == pytest.approx(0.325054, abs=5e-7)
    assert not scene.find(QPushButton, "tape_forward").isEnabled()
    for count, names in enumerate(ARRIVING, start=1):
        scene.click("tape_backward")
        assert f"5 pushed · {count} popped" in scene.panel("tape_view").card.aside
        for name in names:
            for index, expected in np.ndenumerate(GRADIENTS[name]):
                assert scene.read(name, index, gradient=True) == pytest.approx(expected, abs=5e-7)
        later = [name for names in ARRIVING[count:] for name in names]
        for name in later:
            assert scene.picture.figure(ValueCell(name, (0,) * np.ndim(GRADIENTS[name]), True)) == ""
    assert not scene.find(QPushButton, "tape_backward").isEnabled()
    scene.click("tape_forward")
    assert scene.picture.figure(ValueCell("α", (0, 0), True)) == ""


@pytest.mark.slow
def test_gathering_gives_the_same_gradients(scene: Scene) -> None:
    scene.click("version_a_button")
    scene.click("tape_backward")
    assert scene.picture.figure(ValueCell("ŷ", (0,), True)) == ""  # it is gathered when it is popped itself
    scene.click("tape_run_backward")
    for name, numbers in GRADIENTS.items():
        for index, expected in np.ndenumerate(numbers):
            assert scene.read(name, index, gradient=True) == pytest.approx(expected, abs=5e-7)


class PaintedArea(QObject):
    """The share of a widget that was painted last."""

    share = 0.0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QPaintEvent) and isinstance(watched, QWidget):
            area = sum(part.width() * part.height() for part in event.region())
            self.share = area / (watched.width() * watched.height())
        return False


def test_one_step_paints_only_the_cells_that_change(scene: Scene, qtbot: QtBot) -> None:
    """How long that takes is measured by the bench."""
    painted, shares = PaintedArea(), []
    scene.picture.installEventFilter(painted)
    for _ in range(4):
        for act in (scene.session.network.pop, scene.session.network.push):
            painted.share = 0.0
            act()
            qtbot.waitUntil(lambda: painted.share > 0)
            shares.append(painted.share)
    assert np.median(shares) < 0.2


@pytest.mark.slow
def test_the_space_bar_plays_the_tape(window: MainWindow, session: Session, qtbot: QtBot) -> None:
    window.resize(1440, 900)
    window.show_perspective("autodiff")
    scene = Scene(window.perspective, session, qtbot)
    scene.settle()
    scene.click("tape_rewind")
    window.setFocus()
    QTest.keyClick(window, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: session.network.current.tape.pushed >= 2, timeout=5000)
    QTest.keyClick(window, Qt.Key.Key_Space)
    assert not scene.panel("tape_view").is_playing


@pytest.mark.slow
def test_the_tape_is_scrolled_to_what_comes_next(scene: Scene, qtbot: QtBot) -> None:
    scene.view.resize(1100, 460)
    scene.session.network.open_shipped("lstm")
    scene.settle()
    tape = scene.panel("tape_view").tape
    area = tape.parentWidget().parentWidget()
    for _ in range(12):
        scene.click("tape_backward")
    at = len(scene.session.network.current.tape) - 1

    def is_in_sight() -> bool:
        top = tape.part_rectangle(at).top() - area.verticalScrollBar().value()
        return 0 < top < area.viewport().height()

    qtbot.waitUntil(is_in_sight)
    assert area.verticalScrollBar().value() > 0
