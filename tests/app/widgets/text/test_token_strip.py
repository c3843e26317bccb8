"""Token strips: the right token answers to pointer and keys, however the lines are broken."""

import numpy as np
import pytest
from layout_faults import noted_texts
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QPolygonF
from PySide6.QtTest import QTest

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.text.answered_strip import AnsweredStrip, TokenAnswer
from lmviz.app.widgets.text.token_strip import TokenStrip

WORDS = ["the", "bat", "made", "noise", "at", "night", "and", "the", "cat", "slept"]


@pytest.fixture
def strip(shown):
    strip = TokenStrip()
    strip.set_tokens(WORDS)
    return shown(strip, 180, 120)


def test_hover_and_click_say_which_token(strip, point, qtbot):
    hovered = []
    strip.part_hovered.connect(hovered.append)
    for index in (0, 5, 9):
        with qtbot.waitSignal(strip.part_clicked) as signal:
            point(strip, strip.token_rectangle(index).center(), click=True)
        assert signal.args == [index]
        assert hovered[-1] == index


def test_lines_are_broken_to_fit(strip):
    assert all(strip.token_rectangle(index).right() <= 180 for index in range(len(WORDS)))
    assert strip.token_rectangle(9).top() > strip.token_rectangle(0).top()
    assert strip.heightForWidth(180) > strip.heightForWidth(800)


def test_the_pointer_beside_all_tokens_hovers_none(strip, point):
    hovered = []
    strip.part_hovered.connect(hovered.append)
    point(strip, strip.token_rectangle(3).center())
    point(strip, QPoint(175, 118))
    assert hovered[-1] == -1


def test_dragging_selects_a_stretch(strip, qtbot):
    start, end = (strip.token_rectangle(index).center().toPoint() for index in (6, 2))
    with qtbot.waitSignal(strip.tokens_brushed) as signal:
        QTest.mousePress(strip, Qt.MouseButton.LeftButton, pos=start)
        QTest.mouseMove(strip, end)
        QTest.mouseRelease(strip, Qt.MouseButton.LeftButton, pos=end)
    assert signal.args == [2, 6]


def test_arrow_keys_walk_and_stop_at_the_ends(strip, qtbot):
    clicked = []
    strip.part_clicked.connect(clicked.append)
    strip.set_current(8)
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Home):
        QTest.keyClick(strip, key)
    assert clicked == [9, 9, 8, 0]


def test_hebrew_runs_from_the_right_and_so_do_its_keys(shown):
    strip = TokenStrip()
    strip.set_tokens(["שלום", "עולם", "טוב"])
    shown(strip, 300, 40)
    assert strip.token_rectangle(0).left() > strip.token_rectangle(1).left()
    strip.set_current(0)
    QTest.keyClick(strip, Qt.Key.Key_Left)
    assert strip.accessibleDescription().startswith("עולם")


def test_shades_colour_the_chips_and_leave_unknown_values_plain(strip):
    shares = np.array([0, 1] + [np.nan] * 8)
    strip.set_shades(shares)
    picture = strip.grab().toImage()

    def background(index):
        place = strip.token_rectangle(index).topLeft().toPoint() + QPoint(4, 10)
        return picture.pixelColor(place * picture.devicePixelRatio())

    assert background(0) == current_theme().share_none
    assert background(1) == current_theme().share_all
    assert background(2) == current_theme().chip


def test_an_empty_strip_takes_keys_and_pointer(shown, point):
    strip = shown(TokenStrip(), 200, 40)
    strip.set_tokens([])
    QTest.keyClick(strip, Qt.Key.Key_Right)
    point(strip, QPoint(20, 10), click=True)
    assert strip.accessibleDescription() == "0 tokens"


def test_fewer_tokens_forget_the_mark_beyond_the_end(strip):
    strip.set_current(9)
    strip.set_tokens(WORDS[:3])
    strip.grab()
    assert strip.accessibleDescription() == "made, 3 of 3"


def test_under_a_word_its_label_and_what_is_right_are_read_in_full(shown):
    strip = AnsweredStrip()
    words = ("I", "saw", "a", "hippopotamus", ".")
    strip.set_tokens(words)
    tags = ("PRON", "VERB", "DET", "NOUN", "PUNCT")
    strip.set_answers(
        [TokenAnswer(tag, 0.9, right=right) for tag, right in zip(tags, (*tags[:4], "SYM"), strict=True)]
    )
    texts: list[tuple[str, QPolygonF, bool]] = []
    with noted_texts(texts):
        shown(strip, 700, 60).grab()
    written = [text for text, _, _ in texts]
    assert {*tags, "✓", "gold SYM"} <= set(written)
    assert not any(is_cut for _, _, is_cut in texts)


def test_what_a_template_wrote_is_hollow_and_what_was_said_is_blue(strip):
    def fill(index):
        picture, place = strip.grab().toImage(), strip.token_rectangle(index)
        at = QPoint(round(place.left()) + 3, round(place.center().y()))
        return picture.pixelColor(at * picture.devicePixelRatio())

    assert fill(0) == fill(1) == current_theme().chip
    strip.set_tokens(WORDS, quiet=[0, 2], special=[2])
    assert fill(0) == current_theme().surface
    assert fill(2) == current_theme().text  # a special token stays black
    assert fill(1).blue() > fill(1).red()
    strip.set_current(0)
    assert strip.accessibleDescription() == "the, 1 of 10, written by the template"
    strip.set_current(1)
    assert strip.accessibleDescription() == "bat, 2 of 10"


def test_words_stay_where_they_are_while_their_answers_change(shown):
    strip = AnsweredStrip()
    strip.set_tokens(["a", "dog", "barks"])
    shown(strip, 600, 80)

    def places(*answers: TokenAnswer) -> list[float]:
        strip.set_answers(answers)
        return [strip.token_rectangle(place).left() for place in range(3)]

    wide, narrow = TokenAnswer("adjective", 0.5, "noun", wrong=True), TokenAnswer("noun", 0.9, "noun")
    other = TokenAnswer("verb", 0.9)
    before = places(wide, wide, other)
    assert places(narrow, narrow, other) == before
    strip.set_tokens(["a", "dog", "ran"])
    assert places(narrow, narrow, other)[1] < before[1]
