"""Attention in the text: a token isolates what it looks at, with Shift who looks at it."""

import time

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.text.attention_text import AttentionText

WORDS = ["the", "bat", "made", "noise"]
MASKED = -np.inf
WEIGHTS = np.array([[1, MASKED, MASKED, MASKED], [0.9, 0.1, np.nan, 0], [0, 0, 1, 0], [0.25, 0, 0.5, 0.25]])


@pytest.fixture
def view(shown):
    view = AttentionText()
    view.set_attention(WORDS, WEIGHTS)
    return shown(view, 500, 200)


def ink_between(view, first, second):
    """Whether something is drawn over the middle between two tokens, above the text."""
    picture = view.grab().toImage()
    ratio = picture.devicePixelRatio()
    middle = (view.token_place(first).x() + view.token_place(second).x()) / 2
    bottom = int(view.token_place(first).y() - 14)
    column = [picture.pixelColor(QPointF(middle * ratio, y * ratio).toPoint()) for y in range(bottom)]
    return any(color != view.theme.background for color in column)


def test_the_pointer_says_which_token_and_what_it_looks_at(view, qtbot):
    with qtbot.waitSignal(view.token_hovered) as signal:
        QTest.mouseMove(view, (view.token_place(3) + QPointF(0, 10)).toPoint())
    assert signal.args == [3]
    card = view.window().findChild(HoverCard)
    assert card.title == "noise looks at"
    assert card.lines == ("50.0 %  made", "25.0 %  the", "25.0 %  noise")
    with qtbot.waitSignal(view.token_hovered) as signal:
        QTest.mouseMove(view, QPoint(2, 2))
    assert signal.args == [-1]


def test_a_hovered_token_leaves_only_its_own_arcs(view):
    assert ink_between(view, 0, 1)
    assert ink_between(view, 2, 3)
    view.set_hovered(1)
    assert ink_between(view, 0, 1)
    assert not ink_between(view, 2, 3)


def test_with_shift_it_shows_who_looks_at_it(view):
    view.set_hovered(2)
    assert not ink_between(view, 2, 3)
    QTest.keyPress(view, Qt.Key.Key_Shift)
    assert ink_between(view, 2, 3)
    QTest.keyRelease(view, Qt.Key.Key_Shift)
    assert not ink_between(view, 2, 3)


def test_click_and_keys_pin(view):
    clicked = []
    view.token_clicked.connect(clicked.append)
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=(view.token_place(2) + QPointF(0, 8)).toPoint())
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Left):
        QTest.keyClick(view, key)
    assert clicked == [2, 3, 3, 2]
    assert view.accessibleDescription().startswith("made looks at made 100.0 %")


def test_no_text(shown):
    view = shown(AttentionText(), 300, 150)
    view.grab()
    QTest.mouseMove(view, QPoint(100, 120))
    QTest.keyClick(view, Qt.Key.Key_Right)


def test_a_long_text_is_painted_within_a_frame_or_two(shown):
    view = AttentionText()
    weights = np.random.default_rng(0).dirichlet(np.ones(512) * 0.05, 512)
    view.set_attention([f"word{index}" for index in range(512)], weights)
    shown(view, view.sizeHint().width(), 200)
    view.set_hovered(500)
    region = view.token_place(500).toPoint()
    start = time.perf_counter()
    view.grab(view.rect().adjusted(region.x() - 600, 0, -(view.width() - region.x() - 400), 0))
    assert time.perf_counter() - start < 0.2


def test_a_pin_beyond_a_shorter_text_goes_to_its_end(view):
    view.set_current(3)
    view.set_attention(WORDS[:3], WEIGHTS[:3, :3])
    assert view.accessibleDescription().startswith("made looks at made")


def test_who_looks_at_a_token_is_underlined(view):
    view.set_hovered(2)
    below = view.token_place(3) + QPointF(0, 36)
    for looked_at in (False, True):
        view.set_looked_at(looked_at)
        picture = view.grab().toImage()
        underlined = picture.pixelColor((below * picture.devicePixelRatio()).toPoint())
        assert (underlined != view.theme.background) == looked_at


def test_leaving_turns_attention_the_usual_way_round(view):
    view.set_looked_at(True)
    QApplication.sendEvent(view, QEvent(QEvent.Type.Leave))
    view.set_hovered(2)
    assert not ink_between(view, 2, 3)


def test_between_two_words_that_stand_far_apart_is_no_word(shown):
    view = AttentionText()
    view.set_attention(["a", "b"], np.eye(2))
    shown(view, 500, 200)
    told = []
    view.token_hovered.connect(told.append)
    QTest.mouseMove(view, ((view.token_place(0) + view.token_place(1)) / 2 + QPointF(0, 8)).toPoint())
    assert told == []


def test_the_card_follows_shift_and_new_weights_while_the_pointer_rests(view, qtbot):
    QTest.mouseMove(view, (view.token_place(2) + QPointF(0, 10)).toPoint())
    card = view.window().findChild(HoverCard)
    assert card.title == "made looks at"
    QTest.keyPress(view, Qt.Key.Key_Shift)
    assert card.title == "made is looked at by"
    assert card.lines == ("100.0 %  made", "50.0 %  noise")
    QTest.keyRelease(view, Qt.Key.Key_Shift)
    assert card.title == "made looks at"
    view.set_attention(WORDS, np.eye(4)[[0, 0, 1, 1]])
    assert card.lines == ("100.0 %  bat",)
    view.set_attention(WORDS[:2], np.eye(2))
    assert not card.isVisible()
