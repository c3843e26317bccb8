"""A tree of branches is read once, and never with another model's or another moment's numbers."""

import numpy as np

from lmviz.decoding.continuation import Continuation
from lmviz.decoding.continuations import Continuations


def test_a_branch_says_what_reading_it_whole_says(running):
    known = Continuations()
    for chosen in ((), (3,), (3, 4), (3, 5), (3, 4, 6)):
        whole = Continuation.of(running, "cows eat", chosen)
        found = known.after(running, "cows eat", chosen)
        np.testing.assert_allclose(found.logits, whole.logits)
        assert found.text == whole.text


def test_one_step_on_reads_one_token_and_going_back_none(running):
    known = Continuations()
    known.after(running, "cows eat")
    running.lengths.clear()
    known.after(running, "cows eat", (3,))
    known.after(running, "cows eat")
    known.after(running, "cows eat", (3,))
    assert running.lengths == [1]


def test_other_weights_are_read_anew(running):
    known = Continuations()
    before = known.after(running, "cows eat").logits
    running.table.data *= 2
    running.step += 1
    np.testing.assert_allclose(known.after(running, "cows eat").logits, 2 * before)


def test_the_oldest_are_forgotten(running):
    known = Continuations(most=2)
    for id in (3, 4, 5):
        known.after(running, "cows eat", (id,))
    running.lengths.clear()
    known.after(running, "cows eat", (5,))
    assert running.lengths == []
    known.after(running, "cows eat", (3,))
    assert running.lengths != []
