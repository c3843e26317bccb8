"""A circuit is walked through by keys: along a layer, and from one to the next."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from lmviz.app.widgets.diagrams.circuit_picture import CircuitNode, CircuitPath, CircuitPicture

NODES = [  # row, column, slot
    (-1, 0, 0),
    (-1, 1, 0),
    (0, 0, 0),
    (0, 0, 1),
    (0, 1, 0),
    (2, 1, 0),
]


@pytest.fixture
def picture(shown):
    nodes = [CircuitNode(str(number), *place, 0.5) for number, place in enumerate(NODES)]
    made = shown(CircuitPicture(), 640, 420)
    made.set_circuit(nodes, [CircuitPath(0, 2, 0.5)], ("1", "2", "3"), ("the", "cows"), "eat")
    return made


def walk(picture, keys):
    """The nodes to which some keys lead, one after the other."""
    passed = []
    for key in keys:
        QTest.keyClick(picture, getattr(Qt.Key, f"Key_{key}"))
        passed.append(picture.hovered)
    return passed


def test_every_part_is_reached(picture):
    there = walk(picture, ["Right", "Right", "Up", "Left", "Left", "Up", "Up", "Down"])
    assert there == [0, 1, 4, 3, 2, 5, 5, 4]


def test_enter_marks_a_part_and_takes_the_mark_away(picture):
    walk(picture, ["Right", "Up", "Return"])
    assert picture.current == 2
    walk(picture, ["Return"])
    assert picture.current == -1


def test_keys_go_on_from_the_part_that_was_clicked(picture):
    picture.set_current(4)
    assert walk(picture, ["Up"]) == [5]
