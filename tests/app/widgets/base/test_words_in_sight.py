"""Words in sight: whole ones, the current one among them, as many as there is room for."""

from hypothesis import given
from hypothesis import strategies as st

from lmviz.app.widgets.base.words_in_sight import words_in_sight

WIDTHS = st.lists(st.integers(1, 90).map(float), min_size=1, max_size=30)


def test_a_short_text_is_in_sight_as_a_whole() -> None:
    assert words_in_sight([10, 10, 10], 0, 30) == range(3)
    assert words_in_sight([], -1, 30) == range(0)


def test_without_a_current_word_the_end_is_in_sight() -> None:
    assert words_in_sight([10] * 9, -1, 35) == range(6, 9)


def test_what_is_in_sight_stays_as_long_as_the_current_word_is() -> None:
    assert words_in_sight([10] * 9, 5, 35, 4) == range(4, 7)
    assert words_in_sight([10] * 9, 7, 35, 4) == range(5, 8)
    assert words_in_sight([10] * 9, 2, 35, 4) == range(2, 5)


def test_room_for_dots_is_left_only_where_not_all_words_fit() -> None:
    assert words_in_sight([10] * 3, -1, 30, more=10) == range(3)
    assert words_in_sight([10] * 4, -1, 39, more=10) == range(2, 4)


@given(WIDTHS, st.integers(-1, 40), st.integers(0, 400), st.integers(-3, 40))
def test_the_current_word_is_in_sight_and_no_word_more_would_fit(
    widths: list[float], current: int, room: int, first: int
) -> None:
    seen = words_in_sight(widths, current, room, first)
    last = len(widths) - 1
    assert (current if 0 <= current <= last else last) in seen
    used = sum(widths[at] for at in seen)
    assert used <= room or len(seen) == 1
    for beyond in (seen.start - 1, seen.stop):
        assert not 0 <= beyond <= last or used + widths[beyond] > room
