"""A muted line never cuts a word: it leaves out parts, then words, and says all of it on hover."""

import pytest

from lmviz.app.look.theme import theme_switch
from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.base.muted_line import MutedLine

PARTS = "after “was a little” · entropy 1.91 bits · 3.75 effective choices"
SENTENCE = "each diagonal is one amount of compute"


def width_of(text):
    return round(metrics(12).horizontalAdvance(text)) + 2


@pytest.fixture
def line(shown):
    return shown(MutedLine(PARTS), width_of(PARTS), 18)


def test_all_of_it_is_shown_where_there_is_room(line):
    assert line.shown == PARTS


def test_parts_are_left_out_whole(line):
    line.resize(width_of(PARTS) - 5, 18)
    assert line.shown == "after “was a little” · entropy 1.91 bits"
    line.resize(width_of("after “was a little” ·"), 18)
    assert line.shown == "after “was a little”"
    assert "effective" in line.toolTip()


def test_of_a_phrase_whole_words_are_left_and_of_half_a_phrase_nothing(line):
    line.set_text(SENTENCE)
    line.resize(width_of(SENTENCE) - 5, 18)
    assert line.shown == "each diagonal is one amount of…"
    line.resize(width_of("each diagonal is"), 18)
    assert line.shown == ""


def test_in_projector_mode_type_grows_smaller_before_anything_is_left_out(line):
    theme_switch().set_projector(True)
    line.resize(width_of(PARTS) - 10, 24)
    assert line.shown == PARTS
    theme_switch().set_projector(False)
    line.resize(width_of(PARTS) - 10, 24)
    assert line.shown != PARTS


def test_of_a_name_the_beginning_is_left(shown):
    name = "layer 1, attention weighted sum of v, head 1 := 0"
    line = shown(MutedLine(name, is_name=True), width_of("layer 1, atten"), 18)
    assert line.shown.startswith("layer 1")
    assert line.shown.endswith("…")


def test_the_end_of_a_line_is_seen_and_makes_no_second_line(line):
    line.set_text("\nAnd · 5 draws kept")
    assert line.text == "⏎And · 5 draws kept"
