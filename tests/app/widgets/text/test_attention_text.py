"""Attention in the text: a token isolates what it looks at, with Shift who looks at it."""

from itertools import chain

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from quickest import quickest

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
    with qtbot.waitSignal(view.part_hovered) as signal:
        QTest.mouseMove(view, (view.token_place(3) + QPointF(0, 10)).toPoint())
    assert signal.args == [3]
    card = view.window().findChild(HoverCard)
    assert card.title == "noise looks at"
    assert card.lines == ("50.0 %  made", "25.0 %  the", "25.0 %  noise")
    with qtbot.waitSignal(view.part_hovered) as signal:
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
    view.part_clicked.connect(clicked.append)
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
    region = view.token_place(500).toPoint()
    around = view.rect().adjusted(region.x() - 600, 0, -(view.width() - region.x() - 400), 0)

    def hover() -> None:
        view.set_hovered(400)
        view.set_hovered(500)

    assert quickest(lambda: view.grab(around), 0.2, before=hover) < 0.2


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
    view.part_hovered.connect(told.append)
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


def long_view(shown, words, width):
    view = AttentionText()
    view.set_attention([f"word{index:02}" for index in range(words)], np.tri(words) / words)
    return shown(view, width, max(200, view.heightForWidth(width)))


def rows_of(view, words):
    """The words by the height at which they stand, from above."""
    rows = {}
    for index in range(words):
        rows.setdefault(round(view.token_place(index).y()), []).append(index)
    return [rows[height] for height in sorted(rows)]


def test_a_long_text_is_wrapped_into_lines_of_about_the_same_length(shown):
    view = long_view(shown, 30, 700)
    rows = rows_of(view, 30)
    assert list(chain.from_iterable(rows)) == list(range(30)), "in the order of reading"
    assert len(rows) == 3
    assert {len(row) for row in rows} == {10}
    for index in range(30):
        assert 0 < view.token_place(index).x() < 700
    assert view.minimumSizeHint().width() < 200
    assert view.heightForWidth(700) > view.heightForWidth(3000)
    view.resize(3000, 200)
    assert len(rows_of(view, 30)) == 1


def test_smaller_type_keeps_a_text_in_one_line(shown):
    view = AttentionText()
    view.set_attention(WORDS * 4, np.eye(16))
    usual = view.sizeHint().width() - 15 * (34 - 14)  # with the least gaps
    shown(view, usual, 200)
    assert len(rows_of(view, 16)) == 1
    ends = view.token_place(15).x() - view.token_place(0).x()
    view.resize(usual - 60, 200)
    assert len(rows_of(view, 16)) == 1
    assert view.token_place(15).x() - view.token_place(0).x() < ends
    view.resize(usual // 2, 200)
    assert len(rows_of(view, 16)) > 1


def test_words_of_every_line_are_pointed_at_and_clicked(shown, qtbot):
    view = long_view(shown, 30, 700)
    clicked = []
    view.part_clicked.connect(clicked.append)
    for index in (0, 9, 10, 25, 29):
        place = (view.token_place(index) + QPointF(0, 8)).toPoint()
        with qtbot.waitSignal(view.part_hovered) as signal:
            QTest.mouseMove(view, place)
        assert signal.args == [index]
        QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=place)
    assert clicked == [0, 9, 10, 25, 29]


def test_an_arc_leads_from_line_to_line(shown):
    view = AttentionText()
    weights = np.zeros((30, 30))
    weights[25, 3] = 1.0
    view.set_attention([f"word{index:02}" for index in range(30)], weights)
    shown(view, 700, 200)
    below, above = view.token_place(25), view.token_place(3)
    middle = round((below.y() + above.y()) / 2)
    assert middle > above.y()
    picture = view.grab().toImage()
    inked = lambda y: any(  # noqa: E731
        picture.pixelColor(x, round(y * picture.devicePixelRatio())) != view.theme.background
        for x in range(picture.width())
    )
    gap = round(below.y()) - 6
    assert inked(gap), "above the word that looks"
    weights[25, 3] = 0.0
    view.set_attention([f"word{index:02}" for index in range(30)], weights)
    picture = view.grab().toImage()
    assert not inked(gap)


def test_a_part_of_a_long_text_looks_as_it_does_in_the_whole(shown):
    """Only the words in sight are drawn: wherever an area ends, none of them is missing."""
    view = long_view(shown, 60, 400)
    view.set_hovered(40)
    whole = view.grab()
    top = view.token_place(40).y()
    for above in range(-3, 32, 5):
        part = QRect(13, round(top) + above, 201, 33)
        assert view.grab(part).toImage() == whole.copy(part).toImage(), above
