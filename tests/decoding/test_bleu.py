"""BLEU against the lecture's numbers and a second, naive computation."""

import math

import pytest

from lmviz.decoding.bleu import bleu


@pytest.mark.parametrize(
    ("written", "wanted", "expected"),
    [
        ("a b c d e", "a b c d e f", 0.8187),
        ("a b c d x f", "a b c d e f", 0.5373),
        ("a b c d e f", "a b c d e f", 1.0),
        ("a b c", "a b c", 0.0),  # no 4-gram, and nothing is smoothed
        ("", "a b", 0.0),
    ],
)
def test_the_lectures_sentences(written, wanted, expected):
    assert bleu([(written.split(), wanted.split())]) == pytest.approx(expected, abs=5e-5)


def test_repeating_a_wanted_word_is_counted_no_more_often_than_it_is_wanted():
    # 1-grams 3 of 6, 2-grams 2 of 5, 3-grams 1 of 4: never a 4-gram without the second pair's 1
    first, second = ("the cat sat the the the", "the cat sat"), ("a b c d", "a b c d")
    precisions = [(3 + 4) / (6 + 4), (2 + 3) / (5 + 3), (1 + 2) / (4 + 2), (0 + 1) / (3 + 1)]
    expected = math.exp(sum(map(math.log, precisions)) / 4)
    assert bleu([(one.split(), two.split()) for one, two in (first, second)]) == pytest.approx(expected)


def test_a_corpus_is_one_count_and_not_a_mean_of_sentences():
    short, long = ("a b c d", "a b c d e f g h"), ("e f g h i j k l", "e f g h i j k l")
    assert bleu([(one.split(), two.split()) for one, two in (short, long)]) == pytest.approx(
        math.exp(1 - 16 / 12)
    )
