"""Whether a lecture is behind its plan."""

from pathlib import Path

import pytest

from lmviz.lectures.lecture import LectureItem, ShownPoll
from lmviz.lectures.pace import minutes_behind, pace_in_words
from lmviz.polls.poll import Poll


def items(*minutes: float | None) -> list[LectureItem]:
    shown = ShownPoll(Poll("t", "q", ()), Path("a.poll"))
    return [LectureItem("x", shown, minutes=each) for each in minutes]


@pytest.mark.parametrize(
    ("number", "minutes", "words"),
    [
        (0, 4.9, "on time"),
        (0, 8.2, "3 minutes behind"),
        (1, 4.0, "1 minute ahead"),
        (1, 5.0, "on time"),
        (1, 15.9, "on time"),
        (1, 17.0, "2 minutes behind"),
        (2, 17.0, ""),
    ],
)
def test_an_item_has_the_minutes_from_the_one_before_it_to_its_end(
    number: int, minutes: float, words: str
) -> None:
    assert pace_in_words(minutes_behind(items(5, 10, None, 5), number, minutes)) == words
