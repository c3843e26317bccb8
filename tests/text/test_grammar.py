from random import Random

import pytest

from lmviz.base.errors import LmvizError
from lmviz.text.grammar import Grammar
from lmviz.text.resources import resource_path


def tell(text: str, seed: int = 0) -> str:
    return Grammar.parse(text).tell("story", Random(seed))


def test_choices_are_drawn_and_remembered():
    text = "[story]\n{cat:animal} saw {animal}. {cat} ran.\n[animal]\nmim\nnon\npip\n"
    stories = {tell(text, seed) for seed in range(50)}
    assert len(stories) == 9
    assert all(story.split()[0] == story.split()[3] for story in stories)


def test_remembered_choices_of_one_list_differ():
    text = "[story]\n{one:word} {two:word} {three:word}\n[word]\na\nb\nc\n"
    for seed in range(20):
        assert sorted(tell(text, seed).lower().split()) == ["a", "b", "c"]


def test_words_have_forms():
    text = "[story]\n{who:person.name} lost {who.his} {thing.many}, and so {who.he} cried.\n"
    text += "[person: name he his]\nMira | she | her\n[thing: one many]\nkey | keys\n"
    assert tell(text) == "Mira lost her keys, and so she cried."


def test_a_list_under_its_own_name_is_remembered_too():
    text = "[story]\n{word:word} {word} {word}\n[word]\nb\nc\nd\n"
    assert {len(set(tell(text, seed).lower().split())) for seed in range(9)} == {1}


def test_weights_and_options():
    drawn = [tell("[story]\n9 * a{more?}\nb\n[more]\n!\n", seed) for seed in range(300)]
    assert 10 < drawn.count("B") < 60
    assert 90 < drawn.count("A!") < 180


def test_sentences_are_put_right():
    text = '[story]\n# a comment\nthere was a {what}. "who?" "a {what}," said\n   he. "no!" he said.\n'
    text += "[what]\nowl\n"
    assert tell(text) == 'There was an owl. "Who?" "An owl," said he. "No!" he said.'


def test_the_same_seed_tells_the_same():
    grammar = Grammar.parse(resource_path("corpora", "stories.grammar").read_text(encoding="utf-8"))
    assert grammar.tell("story", Random(5)) == grammar.tell("story", Random(5))
    assert grammar.tell("story", Random(5)) != grammar.tell("story", Random(6))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a line\n[story]\nb\n", "Line 1 of the grammar is before"),
        ("[story]\n{word}\n", r"no list \[word\]"),
        ("[story]\n{a:word}\n", r"no list \[word\]"),
        ("[story]\n{word.many}\n[word: one]\nx\n", "no form 'many'"),
        ("[story]\n{word\n", "Line 2 of the grammar has a brace"),
        ("[story: one two]\nonly one\n", "Line 2 of the grammar has 1 forms in place of 2"),
        ("[story]\na\n[story]\nb\n", "Line 3 of the grammar begins"),
        ("[story]\na\n[word]\n", r"\[word\] of the grammar is empty"),
    ],
)
def test_a_grammar_that_does_not_fit_is_refused(text, sentence):
    with pytest.raises(LmvizError, match=sentence):
        Grammar.parse(text)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[story]\n{story}\n", "never ends"),
        ("[story]\n{later} {later:word}\n[word]\na\n", "before anything is drawn"),
    ],
)
def test_a_story_that_cannot_be_told_is_refused(text, sentence):
    with pytest.raises(LmvizError, match=sentence):
        tell(text)
