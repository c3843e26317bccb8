"""The corpus `stories` begins as a student begins: the words typed first are in it."""

import re

import pytest

import lmviz
from lmviz.text.catalogue import corpus_path

ASKED = re.compile(
    r'"Tell me a story," said the (\w+)\.'
    r'|"Please tell me a story,"|Then the [\w ]+ told \w+ a story\.'
    r'|wanted to hear a story|"I know a good story\."'
)
"""Somebody asks for the story that follows, or is told it."""


@pytest.fixture(scope="module")
def corpus():
    return lmviz.load_corpus("stories")


@pytest.fixture(scope="module")
def told() -> list[str]:
    return corpus_path("stories").read_text(encoding="utf-8").strip().split("\n\n")


@pytest.mark.parametrize(
    "prefix",
    [
        "Once upon a time there was a little girl",
        "Once upon a time, in a small town, there lived a boy",
        "Once upon a town",
        "There was once a king",
        "One day the king went to the forest",
        "The cat sat on the mat",
        "The dog was happy",
        "The queen had a big castle",
        "The princess loved the prince",
        "A little girl went to school",
        "The old man and the woman were very sad",
        "She was happy, and he was tired",
        "They went home. The end.",
        "He said",
        "It was a dark and stormy night",
        "The sun was shining",
        "My name is",
        "I am happy",
        "I like",
        "Hello",
        "Today",
        "Yesterday I went to the",
        "And they all lived happily ever after",
    ],
)
def test_what_a_student_types_first_is_known(corpus, prefix):
    assert not any(corpus.tokenizer.encode_prefix(prefix).unknown)


def test_no_story_that_is_held_out_has_a_word_that_the_others_lack(corpus):
    assert corpus.tokenizer.unknown_id not in corpus.validation
    assert corpus.floor == pytest.approx(0.537, abs=0.0005)


def test_a_word_of_another_world_is_unknown(corpus):
    assert any(corpus.tokenizer.encode_prefix("The spaceship").unknown)


def test_some_stories_begin_once_upon_a_time_and_most_at_once(told):
    opened = sum(story.startswith("Once upon a time") for story in told)
    asked = sum(bool(ASKED.search(story)) for story in told)
    assert 0.15 < opened / len(told) < 0.35
    assert 0.1 < asked / len(told) < 0.25


def test_whoever_asked_for_the_story_is_there_at_its_end(told):
    found = [(asked[1], story) for story in told if (asked := ASKED.search(story)) and asked[1]]
    assert len({figure for figure, _ in found}) > 15
    for figure, story in found:
        assert f"the {figure}" in " ".join(story.lower().split()[-12:]), story
