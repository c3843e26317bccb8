"""The probability of a text, against every way in which the dice could fall."""

import itertools
import math
from collections import Counter

import pytest
from covering import parametrize_few

from lmviz.base.errors import LmvizError
from lmviz.text.catalogue import corpus_path, find_entry
from lmviz.text.grammar import Grammar
from lmviz.text.own_tasks import grammar_of
from tests.text.dice import Dice
from tests.text.grammar_reading import nats_of

GRAMMARS = {
    "capitals and articles": '[story]\na {w}. "a {w}," said {w}\n[w]\nowl\ncat\nan ant\n',
    "spaces": "[story]\n{w?} a {w?}  b {w?}\n[w]\nx\n",
    "remembered": "[story]\n{a:w} {b:w} {a}{b}\n[w]\n2 * x\ny\nxy\n",
    "two ways to say it": "[story]\n{a}{b}\n[a]\nx\nxx\n[b]\nxx\nx\n",
    "forms": "[story]\n{a:w.hi} {w.lo} {a.lo}\n[w: hi lo]\nX | x\n2 * Y | x\n",
    "a name like a list": "[story]\n{w} {w:w} {w} {v}\n[v]\n{w}!\n[w]\nx\ny\n",
    "drawn from lists": "[story]\n{a:p}, {a} and {n:w}\n[p]\n{n:w} {n}\n{w}\n[w]\nx\n2 * y\n",
}
DICE = {"spaces": (2, 7), "two ways to say it": (2, 3), "a name like a list": (2, 5)}


@parametrize_few("name", GRAMMARS, quick=3)
def test_a_text_is_as_likely_as_the_dice_tell_it(name):
    grammar = Grammar.parse(GRAMMARS[name])
    faces, throws = DICE.get(name, (12, 4))
    told = Counter(
        grammar.tell("story", Dice(thrown, faces))
        for thrown in itertools.product(range(faces), repeat=throws)
    )
    found = {text: math.exp(-nats_of(grammar, "story", text)) for text in told}
    assert found == pytest.approx({text: count / faces**throws for text, count in told.items()})


def test_what_is_never_told_costs_infinitely_much():
    grammar = Grammar.parse(GRAMMARS["capitals and articles"])
    assert nats_of(grammar, "story", 'An owl. "A cat," said ant') == math.inf
    assert nats_of(grammar, "story", 'an owl. "A cat," said cat') == math.inf
    assert nats_of(grammar, "story", 'An owl. "A cat," said cat') < math.inf
    assert nats_of(grammar, "story", 'An owl. "A cat," said cat and') == math.inf


def test_forms_that_remember_without_being_told_are_refused():
    grammar = Grammar.parse("[story]\n{w.hi} {x}\n[w: hi lo]\nX | {x:v}\n[v]\na\nb\n[x]\nc\n")
    with pytest.raises(LmvizError, match=r"\[w\] remembers something"):
        nats_of(grammar, "story", "X a")


def test_stories_cost_about_what_the_catalogue_says():
    nats = _nats(_stories()[::90])
    spread = (sum((value - sum(nats) / len(nats)) ** 2 for value in nats) / len(nats) ** 2) ** 0.5
    assert sum(nats) / len(nats) == pytest.approx(find_entry("stories").floor, abs=3 * spread)


@pytest.mark.slow
def test_stories_cost_exactly_what_the_catalogue_says():
    nats = _nats(_stories())
    assert sum(nats) / len(nats) == pytest.approx(find_entry("stories").floor, abs=1e-6)


def _nats(stories: list[str]) -> list[float]:
    grammar = grammar_of("stories")
    return [nats_of(grammar, "story", story) for story in stories]


def _stories() -> list[str]:
    return corpus_path("stories").read_text(encoding="utf-8").strip().split("\n\n")
