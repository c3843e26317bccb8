"""The lines of an algorithm: what has not run yet says nothing, and a line answers to mouse and keys."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from lmviz.app.widgets.text.algorithm_lines import AlgorithmLine, AlgorithmLines

LINES = [
    AlgorithmLine("batch", "batch ← 2 texts", "16 targets"),
    AlgorithmLine("loss", "L ← mean", "2.3 nats", 1),
    AlgorithmLine("update", "θ ← θ − g", "η = 0.1", 1),
]


@pytest.fixture
def view(shown):
    view = AlgorithmLines()
    view.set_lines(LINES)
    return shown(view, 320, 120)


def test_figures_appear_as_their_lines_are_lit(view):
    view.set_lit(1)
    assert view.accessibleDescription() == "batch ← 2 texts: 16 targets; L ← mean: 2.3 nats; θ ← θ − g"
    view.set_lit(-1)
    assert "η = 0.1" in view.accessibleDescription()


def test_lines_are_clicked_and_reached_by_keys(view):
    clicked = []
    view.part_clicked.connect(clicked.append)
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=view.part_rectangle(1).center().toPoint())
    view.set_current(1)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Return):
        QTest.keyClick(view, key)
    assert clicked == [1, 2, 0, 1]


def test_no_lines(view):
    view.set_lines([])
    view.grab()
    QTest.keyClick(view, Qt.Key.Key_Down)
