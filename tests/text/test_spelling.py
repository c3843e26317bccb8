"""Spelling out the words that a vocabulary lacks."""

import math

import pytest

from lmviz.text.corpus import text_corpus
from lmviz.text.spelling import UNICODE, SpellingModel, unknown_words


def test_a_word_costs_its_letters_and_its_end() -> None:
    spelling = SpellingModel(text_corpus("ab b ab b\n", validation=0).tokenizer)
    # The words are ab, b and the line end: a once, b twice, the line end once, three ends, two more symbols.
    total = 1 + 2 + 1 + 3 + 3 + 2
    expected = -math.log(3 / total) - math.log(2 / total) - math.log(4 / total)
    assert spelling.nats("ba") == pytest.approx(expected)
    other = -math.log(1 / total) + math.log(UNICODE - 3)
    assert spelling.nats("baz") == pytest.approx(expected + other)


def test_the_probabilities_of_all_symbols_sum_to_one() -> None:
    spelling = SpellingModel(text_corpus("ab b ab b\n", validation=0).tokenizer)
    end = math.exp(-spelling.nats(""))
    known = sum(math.exp(-spelling.nats(symbol)) / end for symbol in "ab\n")
    others = (UNICODE - 3) * math.exp(-spelling.nats("z")) / end
    assert end + known + others == pytest.approx(1.0)


def test_an_unknown_character_is_one_of_those_that_are_not_known() -> None:
    spelling = SpellingModel(text_corpus("abab", tokenizer="characters", validation=0).tokenizer)
    assert spelling.nats("z") == pytest.approx(math.log(UNICODE - 2))


def test_capitals_are_spelled_as_the_vocabulary_has_them() -> None:
    spelling = SpellingModel(text_corpus("ab b ab b", lower_case=True, validation=0).tokenizer)
    assert spelling.nats("BA") == spelling.nats("ba")


@pytest.mark.parametrize(
    ("kind", "expected"), [("words", {"zebra": 2, "Zoo": 1}), ("characters", {"z": 2, "r": 2, "Z": 1})]
)
def test_unknown_words_are_counted_as_they_are_written(kind: str, expected: dict[str, int]) -> None:
    tokenizer = text_corpus("a b e o, a b e o.", tokenizer=kind, validation=0).tokenizer
    assert unknown_words(["a zebra, a", "zebra. Zoo"], tokenizer) == expected


def test_byte_pairs_know_every_word() -> None:
    tokenizer = text_corpus("a b e o, a b e o.", tokenizer="bpe:300", validation=0).tokenizer
    assert not unknown_words(["a zebra"], tokenizer)
