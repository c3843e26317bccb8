"""Passages that stand in a stream, against a search place by place."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmviz.text import suffix_array as module
from lmviz.text.suffix_array import PassageIndex, suffix_array

streams = st.lists(st.integers(0, 3), max_size=60)


def naive(text: list[int], question: list[int], start: int) -> tuple[int, list[int]]:
    """The longest passage from a place of the question on, and where it stands."""
    for length in range(len(question) - start, 0, -1):
        wanted = question[start : start + length]
        if places := [at for at in range(len(text)) if text[at : at + length] == wanted]:
            return length, places
    return 0, []


def in_order(ids: np.ndarray) -> None:
    """Checks that every class has its places, in the order of their suffixes."""
    order, ends = suffix_array(ids)
    text = ids.tolist()
    for remainder, found in enumerate(np.split(order, ends[:-1])):
        places = range(remainder, len(text), len(ends))
        assert found.tolist() == sorted(places, key=lambda place: text[place:])


@settings(max_examples=40)
@given(streams, st.sampled_from([0, 252, 253, 65_532, 70_000]), st.sampled_from([1, 5, 2**17]), st.booleans())
def test_suffixes_stand_in_their_order(text, lowest, at_once, few_kinds):
    before = module.AT_ONCE, module.MANY_KINDS
    module.AT_ONCE, module.MANY_KINDS = at_once, 2**20 if few_kinds else 1  # so that every way has its turn
    try:
        in_order(lowest + np.array(text, dtype=np.int64))
    finally:
        module.AT_ONCE, module.MANY_KINDS = before


@settings(max_examples=40)
@given(streams, st.lists(st.integers(-1, 4), max_size=30))
def test_the_longest_passages_and_their_places_are_those_of_a_naive_search(text, question):
    index = PassageIndex(np.array(text, dtype=np.uint16))
    found = index.longest(np.array(question, dtype=np.int64))
    for start in range(len(question)):
        length, places = naive(text, question, start)
        assert (found.lengths[start], found.counts[start]) == (length, len(places))
        assert index.places(found.parts(start), 3).tolist() == places[:3]


@settings(max_examples=40)
@given(streams, st.lists(st.integers(0, 3), min_size=1, max_size=8))
def test_counts_are_those_of_a_naive_search(text, question):
    index = PassageIndex(np.array(text, dtype=np.uint16))
    starts = np.arange(len(question))
    lengths = np.minimum(2, len(question) - starts)
    counted = [
        sum(text[at : at + n] == question[start : start + n] for at in range(len(text) - n + 1))
        for start, n in zip(starts, lengths, strict=True)
    ]
    assert index.counts(np.array(question), starts, lengths).tolist() == counted


def test_a_long_repetition_is_told_apart():
    text = np.zeros(700, dtype=np.uint8)
    index = PassageIndex(text)
    in_order(text)
    found = index.longest(np.zeros(500, dtype=np.int64))
    assert found.lengths.tolist() == list(range(500, 0, -1))
    assert found.counts[0] == 201


def test_the_work_can_be_ended():
    def stop(share: float) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        suffix_array(np.zeros(10, dtype=np.uint8), stop)


@pytest.mark.parametrize("largest", [1, 7, 300, 200_000])
def test_it_begins_alike_with_any_number_of_different_ids(largest, monkeypatch):
    monkeypatch.setattr(module, "AT_ONCE", 16)
    ids = np.random.default_rng(largest).integers(0, largest, 200)
    ids[-1] = largest
    in_order(ids)
