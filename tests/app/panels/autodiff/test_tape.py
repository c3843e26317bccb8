"""The tape of the lecture's net is stepped forward and back, and every number read off the cells."""

import time

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
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


def test_gathering_gives_the_same_gradients(scene: Scene) -> None:
    scene.click("version_a_button")
    scene.click("tape_backward")
    assert scene.picture.figure(ValueCell("ŷ", (0,), True)) == ""  # it is gathered when it is popped itself
    scene.click("tape_run_backward")
    for name, numbers in GRADIENTS.items():
        for index, expected in np.ndenumerate(numbers):
            assert scene.read(name, index, gradient=True) == pytest.approx(expected, abs=5e-7)


def test_one_step_is_painted_within_a_frame(scene: Scene, qapp) -> None:
    taken = []
    for _ in range(12):
        for act in (scene.session.network.pop, scene.session.network.push):
            began = time.thread_time()
            act()
            scene.panel("graph_view").catch_up()
            scene.panel("tape_view").catch_up()
            scene.picture.repaint()
            taken.append(time.thread_time() - began)
            scene.settle()
    assert sorted(taken)[len(taken) // 4] < 0.016


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
