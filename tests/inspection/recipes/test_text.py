"""The lines of Python that reproduce what a corpus shows do reproduce it."""

from collections import Counter
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

import lmviz
from lmviz.base.configuration import Configuration, setting
from lmviz.inspection.recipes import text as recipes
from lmviz.text.catalogue import find_entry
from lmviz.text.corpus_options import CorpusOptions
from lmviz.text.simplex import counted_words

SETTINGS = {"tokenizer": "words", "validation": 0.25}


@pytest.fixture(scope="module")
def sources(small_text):
    return (str(small_text),)


@pytest.fixture(scope="module")
def corpus(sources):
    return lmviz.load_corpus(*sources, **SETTINGS)


def run(source):
    found = {}
    exec(source, found)
    return found


def test_settings_are_those_that_are_not_usual(corpus, sources):
    found = recipes.settings_of(corpus)
    assert found.items() >= {"validation": 0.25}.items()
    assert lmviz.load_corpus(*sources, **found).fingerprint == corpus.fingerprint
    assert "validation" not in recipes.settings_of(lmviz.load_corpus(*sources, tokenizer="words"))


def test_what_is_usual_depends_on_the_source():
    usual = find_entry("farm").options
    assert usual["lower_case"]
    for options, expected in (
        (usual, {}),
        (usual | {"lower_case": False, "validation": 0.5}, {"lower_case": False, "validation": 0.5}),
    ):
        corpus = SimpleNamespace(sources=("farm",), target_sources=(), options=CorpusOptions(**options))
        assert recipes.settings_of(corpus) == expected
    pairs = SimpleNamespace(sources=("x.en",), target_sources=("x.de",), options=CorpusOptions(seed=1))
    assert recipes.settings_of(pairs) == {"target": "x.de", "seed": 1}


def test_a_vocabulary(corpus, sources):
    found = run(recipes.vocabulary_recipe(sources, SETTINGS))["vocabulary"]
    counted = Counter(corpus.tokenizer.token(int(id)) for id in corpus.training)
    assert dict(found) == counted
    assert [count for _, count in found] == sorted(counted.values(), reverse=True)


def test_a_page(corpus, sources):
    found = run(recipes.page_recipe(sources, SETTINGS, 3, 5))
    assert found["ids"].tolist() == corpus.training[3:8].tolist()
    assert found["tokens"] == [corpus.tokenizer.token(int(id)) for id in corpus.training[3:8]]


def test_merges(sources):
    settings = SETTINGS | {"tokenizer": "bpe", "vocabulary": 300}
    whole = lmviz.load_corpus(*sources, **settings)
    few = run(recipes.merges_recipe(sources, settings, 2, 6, 0))["pieces"]
    many = run(recipes.merges_recipe(sources, settings, 2, 6, 1000))["pieces"]
    text = whole.tokenizer.decode(whole.training[2:8])
    assert len(few) > len(many)
    assert "".join(few) == "".join(many)
    assert text.split()[0] in "".join(many)


def test_a_concordance(corpus, sources):
    found = run(recipes.concordance_recipe(sources, SETTINGS, "The cow"))["words"]
    text = corpus.tokenizer.decode(corpus.training).split()
    followers = Counter(
        text[place + 2] for place in range(len(text) - 2) if text[place : place + 2] == ["The", "cow"]
    )
    assert dict(found) == followers


def test_places(corpus, sources):
    ids = [corpus.tokenizer.id_of("The"), corpus.tokenizer.id_of("bat")]
    found = run(recipes.places_recipe(sources, SETTINGS, ids))["places"]
    stream = corpus.training.tolist()
    expected = [place for place in range(len(stream) - 1) if stream[place : place + 2] == ids]
    assert len(found) == len(expected) > 3
    assert {match for _, _, match, _, _ in found} == {"The bat"}


def test_shares_of_the_words_after_a_context(corpus, sources):
    counted = counted_words(corpus, "The cow")
    shares = np.full(3, 1 / 3)
    found = run(recipes.simplex_recipe(sources, SETTINGS, "The cow", shares))
    assert found["corpus"].fingerprint == corpus.fingerprint
    assert found["likelihood"] == pytest.approx(counted.log_likelihood(shares))
    assert found["most"] == counted.log_likelihood(counted.best) >= found["likelihood"]


@dataclass(frozen=True)
class Turns(Configuration):
    """How often, for the recipe of what is trained in turn."""

    rounds: int = setting(2, "How many.")


def in_turn(options, corpus):
    """Stands for a training: fractions, and what is known so far."""
    yield 0.5
    for number in range(options.rounds):
        yield (number, len(corpus.training))


def test_models_that_are_trained_in_turn(corpus, sources, capsys):
    found = run(recipes.turns_recipe(sources, SETTINGS, in_turn, Turns(rounds=3), "trained", "'tokens'"))
    assert found["options"] == Turns(rounds=3)
    assert found["trained"] == len(corpus.training)
    assert capsys.readouterr().out == f"2 tokens\n{len(corpus.training)} tokens\n"


def test_several_sources_are_named_one_by_one(small_text):
    sources = (str(small_text), str(small_text))
    found = run(recipes.page_recipe(sources, SETTINGS, 0, 4))
    assert found["corpus"].sources == sources
