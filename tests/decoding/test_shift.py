"""The words that a change moved most, and which of them lost."""

import numpy as np
import pytest

from lmviz.decoding.shift import largest_shifts


def logits(*shares):
    return np.log(np.array(shares))


def test_what_lost_most_stands_first_and_the_others_by_how_far_they_moved():
    before, after = logits(0.9, 0.04, 0.03, 0.03), logits(0.05, 0.3, 0.6, 0.05)
    shift = largest_shifts(before, after, 3)
    assert shift.lost
    assert shift.ids.tolist() == [0, 2, 1]
    assert shift.before == pytest.approx([0.9, 0.03, 0.04])
    assert shift.after == pytest.approx([0.05, 0.6, 0.3])
    assert shift.entropy_before < shift.entropy_after


def test_the_loser_stands_first_even_where_another_gained_more():
    shift = largest_shifts(logits(0.4, 0.4, 0.2), logits(0.2, 0.3, 0.5), 2)
    assert shift.ids.tolist() == [0, 2]


def test_where_nothing_moved_the_likeliest_come_first_and_nothing_has_lost():
    same = logits(0.2, 0.5, 0.3)
    shift = largest_shifts(same, same + 1.0, 5)
    assert not shift.lost
    assert shift.ids.tolist() == [1, 2, 0]


def test_a_word_that_cannot_follow_any_more_has_lost_everything():
    shift = largest_shifts(logits(0.5, 0.5), np.array([0.0, -np.inf]), 2)
    assert (shift.ids.tolist(), shift.after.tolist()) == ([1, 0], [0.0, 1.0])
