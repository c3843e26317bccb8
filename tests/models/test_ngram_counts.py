"""Counting by sorting gives what counting one by one gives."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmviz.models.ngram import counts as ngram_counts
from lmviz.models.ngram.counts import count_ngrams
from lmviz.models.ngram.level import ABSENT


def counted(counts, order):
    """The n-grams of an order and their counts, spelt out in tokens."""
    grams = [()]
    for level in counts.levels[:order]:
        contexts, words = np.divmod(level.keys, level.vocabulary_size)
        grams = [(*grams[context], int(word)) for context, word in zip(contexts, words, strict=True)]
    assert grams == sorted(grams)
    numbers = counts.levels[order - 1].counts
    return {gram: int(number) for gram, number in zip(grams, numbers, strict=True) if number}


def counted_one_by_one(tokens, order, start_id):
    """The same, slowly."""
    grams = (tuple(tokens[begin : begin + order]) for begin in range(len(tokens) - order + 1))
    return Counter(gram for gram in grams if start_id not in gram[1:] and gram != (start_id,))


streams = st.lists(st.integers(0, 4), max_size=40)


@given(tokens=streams, start_id=st.sampled_from([None, 0, 4]))
def test_counts_are_those_of_counting_one_by_one(tokens, start_id):
    counts = count_ngrams(np.array(tokens, dtype=np.uint8), 4, 5, start_id)
    for order in range(1, 5):
        assert counted(counts, order) == counted_one_by_one(tokens, order, start_id)


@given(tokens=streams, start_id=st.sampled_from([None, 0]))
def test_suffixes_leave_the_first_token_out(tokens, start_id):
    counts = count_ngrams(np.array(tokens, dtype=np.uint8), 3, 5, start_id)
    trigrams = sorted(counted_one_by_one(tokens, 3, start_id))
    bigrams = sorted(counted_one_by_one(tokens, 2, start_id))
    assert [bigrams[suffix] for suffix in counts.suffixes[2]] == [gram[1:] for gram in trigrams]


@pytest.mark.parametrize("bits", [14, 20, 30])
def test_keys_that_outgrow_an_integer_are_ranked(monkeypatch, bits):
    tokens = np.random.default_rng(0).integers(0, 30, 500)
    expected = count_ngrams(tokens, 6, 30, 7)
    monkeypatch.setattr(ngram_counts, "KEY_BITS", bits)
    found = count_ngrams(tokens, 6, 30, 7)
    for order in range(1, 7):
        assert counted(found, order) == counted(expected, order)


def test_adjusted_counts_are_of_different_tokens_before_and_START_keeps_its_own():
    """⟨0⟩ is START: 0 1 2 | 0 1 2 | 0 3 2."""
    counts = count_ngrams(np.array([0, 1, 2, 0, 1, 2, 0, 3, 2]), 3, 4, 0)
    unigrams, bigrams, trigrams = counts.adjusted()
    np.testing.assert_array_equal(unigrams.counts, [0, 1, 2, 1])
    assert counted(counts, 2) == {(0, 1): 2, (0, 3): 1, (1, 2): 2, (3, 2): 1}
    np.testing.assert_array_equal(bigrams.counts, [2, 1, 1, 1])
    np.testing.assert_array_equal(trigrams.counts, [2, 1])


def test_fewer_orders_are_the_lower_ones():
    tokens = np.random.default_rng(1).integers(0, 9, 300)
    lower = count_ngrams(tokens, 5, 9, 2).up_to(3)
    assert lower.order == 3
    np.testing.assert_array_equal(lower.levels[2].counts, count_ngrams(tokens, 3, 9, 2).levels[2].counts)


def test_find_and_followers():
    counts = count_ngrams(np.array([2, 1, 2, 3, 2, 1]), 2, 4, None)
    bigrams = counts.levels[1]  # 1 2, 2 1, 2 3, 3 2
    found = bigrams.find(np.array([[2, 2], [0, ABSENT]]), np.array([[1, 2], [1, 2]]))
    np.testing.assert_array_equal(found, [[1, ABSENT], [ABSENT, ABSENT]])
    outside = bigrams.find(np.array([2, 1]), np.array([ABSENT, 5]))  # as a key, 1 5 would be 2 1
    np.testing.assert_array_equal(outside, [ABSENT, ABSENT])
    rows, ids = bigrams.followers(np.array([2, ABSENT, 0, 3]))
    np.testing.assert_array_equal(rows, [0, 0, 3])
    np.testing.assert_array_equal(bigrams.words[ids], [1, 3, 2])
