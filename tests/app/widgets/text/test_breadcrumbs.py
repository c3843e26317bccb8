"""Breadcrumbs lead back, and give way at the old end where there is no room."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from lmviz.app.widgets.text.breadcrumbs import Breadcrumbs

STEPS = ["logit of king", "hidden 41", "forget gate 17", "h 17"]


@pytest.fixture
def way(shown):
    way = Breadcrumbs()
    way.set_steps(STEPS)
    return shown(way, 500, 24)


def test_a_click_leads_back_but_not_to_where_one_is(way):
    clicked = []
    way.step_clicked.connect(clicked.append)
    for index in (0, 2, 3):
        QTest.mouseClick(way, Qt.MouseButton.LeftButton, pos=way.step_rectangles()[index].center().toPoint())
    QTest.keyClick(way, Qt.Key.Key_Backspace)
    assert clicked == [0, 2, 2]


def test_the_oldest_give_way(way):
    way.resize(180, 24)
    assert list(way.step_rectangles())[-1] == 3
    assert 0 not in way.step_rectangles()
    way.resize(10, 24)
    assert list(way.step_rectangles()) == [3]


def test_no_steps(way):
    way.set_steps([])
    way.grab()
    QTest.keyClick(way, Qt.Key.Key_Left)
