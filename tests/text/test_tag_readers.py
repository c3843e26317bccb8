"""The numbers of the lecture about four tagged sentences."""

import math

import pytest

from lmviz.base.errors import LmvizError
from lmviz.text.catalogue import corpus_path
from lmviz.text.tag_readers import best_reader


@pytest.fixture(scope="module")
def four():
    lines = corpus_path("four-sentences").read_text(encoding="utf-8").splitlines()
    return [(*zip(*(item.split("/") for item in line.split()), strict=True), 1) for line in lines]


@pytest.mark.parametrize("sees", ["left", "both"])
def test_whoever_sees_the_sentence_gets_eighteen_of_twenty_tags(four, sees):
    best = best_reader(four, sees)
    assert best.accuracy == pytest.approx(18 / 20)
    assert best.nats == pytest.approx(4 * math.log(2) / 20)
    assert best.nats == pytest.approx(0.1386, abs=5e-5)


def test_the_most_frequent_tag_of_each_word_gets_as_many_but_pays_more(four):
    best = best_reader(four, "word")
    assert best.accuracy == pytest.approx(18 / 20)
    assert best.nats == pytest.approx(0.1648, abs=5e-5)


def test_likelier_sentences_count_for_more():
    sentences = [(["a"], ["x"], 0.75), (["a"], ["y"], 0.25)]
    best = best_reader(sentences, "word")
    assert best.accuracy == 0.75
    assert best.nats == pytest.approx(-0.75 * math.log(0.75) - 0.25 * math.log(0.25))


def test_what_comes_later_helps_only_who_sees_it():
    sentences = [(["a", "b"], ["x", "z"], 1), (["a", "c"], ["y", "z"], 1)]
    assert best_reader(sentences, "both").nats == 0
    assert best_reader(sentences, "left").nats == pytest.approx(math.log(2) / 2)


def test_what_came_before_helps_who_sees_it():
    sentences = [(["a", "b"], ["x", "y"], 1), (["c", "b"], ["x", "z"], 1)]
    assert best_reader(sentences, "both").nats == best_reader(sentences, "left").nats == 0
    assert best_reader(sentences, "word").nats == pytest.approx(math.log(2) / 2)


def test_what_cannot_be_asked_is_said(four):
    with pytest.raises(LmvizError, match="at least one sentence"):
        best_reader([], "both")
    with pytest.raises(LmvizError, match="choose one of word, left, both"):
        best_reader(four, "right")
