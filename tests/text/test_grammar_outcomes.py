"""Exact probabilities, against every way in which the dice could fall."""

import itertools
from collections import Counter

import pytest
from covering import parametrize_few

from lmviz.base.errors import LmvizError
from lmviz.text.grammar import Grammar
from tests.text.dice import Dice
from tests.text.grammar_outcomes import outcomes

GRAMMARS = {
    "weights": "[story]\n3 * a\nb\n2 * {c} {c}\n[c]\nx\n2 * y\n",
    "optional": "[story]\n{a?} {b:b} {b?}\n[a]\nx\n[b]\ny\nz\n",
    "remembered": "[story]\n{a:w} {b:w} {a} {b}\n[w]\n2 * x\ny\nz\n",
    "exhausted": "[story]\n{a:w} {b:w} {c:w}\n[w]\nx\n2 * y\n",
    "forms": "[story: one two]\n{a:w.hi} {b:w.lo} | {b.hi} {w.lo}\n[w: hi lo]\nX | x\nY | y\n",
    "nested": "[story]\n{a:p}, {a} and {n:w}\n[p]\n{n:w} {n}\n{w}\n[w]\nx\n2 * y\n",
    "one string in two ways": "[story]\n{a}{b}\n[a]\nx\nxx\n[b]\nxx\nx\n",
}
DICE = {"optional": (2, 5), "weights": (6, 3), "one string in two ways": (2, 3)}
"""How many faces the dice need, so that each choice has whole faces, and how often they are thrown."""


@parametrize_few("name", GRAMMARS, quick=3)
def test_outcomes_are_those_of_every_throw_of_the_dice(name):
    grammar = Grammar.parse(GRAMMARS[name])
    faces, throws = DICE.get(name, (12, 4))
    told = Counter()
    for thrown in itertools.product(range(faces), repeat=throws):
        told[grammar.tell_forms("story", Dice(thrown, faces))] += 1
    expected = {forms: count / faces**throws for forms, count in told.items()}
    assert outcomes(grammar, "story") == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[story]\n{story}\n", "never ends"),
        ("[story]\n{later} {later:word}\n[word]\na\n", "before anything is drawn"),
    ],
)
def test_a_grammar_without_an_end_is_refused(text, sentence):
    with pytest.raises(LmvizError, match=sentence):
        outcomes(Grammar.parse(text), "story")


def test_a_grammar_that_says_too_much_is_refused(monkeypatch):
    monkeypatch.setattr("tests.text.grammar_outcomes.MOST_OUTCOMES", 3)
    with pytest.raises(LmvizError, match="more than 3 things"):
        outcomes(Grammar.parse("[story]\na\nb\nc\nd\n"), "story")
