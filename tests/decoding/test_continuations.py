"""A tree of branches is read once, and never with another model's or another moment's numbers."""

import numpy as np
import pytest
from family_cases import IDS, trained

from lmviz.decoding.beam import beam_search
from lmviz.decoding.continuation import Continuation
from lmviz.decoding.continuations import Continuations
from lmviz.decoding.options import BeamOptions


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


@pytest.mark.parametrize("family", ["transformer", "gru", "ngram"])
def test_several_texts_are_continued_together_as_one_by_one(family):
    model = trained(family, ())
    begun = [Continuation.of(model, IDS[:4]).extended(id) for id in (1, 2, 3)]
    together = Continuation.extended_together(list(zip(begun, (4, 5, 6), strict=True)))
    again = Continuation.extended_together([(each, 2) for each in together])
    for each, id, joined, further in zip(begun, (4, 5, 6), together, again, strict=True):
        alone = each.extended(id)
        assert joined.chosen == alone.chosen
        assert joined.text == alone.text
        assert np.allclose(joined.logits, alone.logits, atol=1e-5)
        assert np.allclose(further.logits, alone.extended(2).logits, atol=1e-5)


def test_texts_of_different_lengths_are_continued_as_well():
    model = trained("transformer", ())
    short, long = Continuation.of(model, IDS[:3]), Continuation.of(model, IDS[:5])
    found = Continuation.extended_together([(short, 1), (long, 2)])
    assert np.array_equal(found[0].logits, short.extended(1).logits)
    assert np.array_equal(found[1].logits, long.extended(2).logits)


def test_a_beam_reads_the_weights_once_for_each_step(monkeypatch):
    model, passes = trained("transformer", ()), []
    plain = type(model).advance

    def counting(self, tokens, state=None):
        passes.append(tuple(tokens.shape))
        return plain(self, tokens, state)

    monkeypatch.setattr(type(model), "advance", counting)
    beam_search(model, IDS[:4], BeamOptions(width=3, length=3))
    assert passes == [(1, 4), (3, 1), (3, 1)]
