"""BLEU against the lecture's numbers, a computation by hand, and sacrebleu."""

import math

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from lmviz.decoding.bleu import bleu, sentence_bleu


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


def _reference(**settings):
    return sacrebleu.BLEU(tokenize="none", force=True, **settings)


WORDS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=12)
PAIRS = st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=6)


@settings(max_examples=100)
@given(PAIRS)
def test_it_is_what_sacrebleu_computes(pairs):
    written, wanted = ([" ".join(side) for side in sides] for sides in zip(*pairs, strict=True))
    expected = _reference(smooth_method="none").corpus_score(written, [wanted]).score / 100
    assert bleu(pairs) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=100)
@given(WORDS, WORDS)
def test_of_a_single_sentence_it_is_what_sacrebleu_computes_with_one_added(written, wanted):
    reference = _reference(smooth_method="add-k", smooth_value=1)
    expected = reference.corpus_score([" ".join(written)], [[" ".join(wanted)]]).score / 100
    assert sentence_bleu(written, wanted) == pytest.approx(expected, abs=1e-9)
