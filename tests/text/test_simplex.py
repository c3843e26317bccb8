"""The simplex: the likelihood of the counts after a context, and its way uphill."""

import numpy as np
import pytest

from lmviz.base.errors import LmvizError
from lmviz.text.corpus import Corpus, load_corpus, text_corpus
from lmviz.text.corpus_options import CorpusOptions
from lmviz.text.simplex import CountedWords, counted_words, example_context, with_share


@pytest.fixture(scope="module")
def farm() -> Corpus:
    return load_corpus("farm")


@pytest.fixture(scope="module")
def cows_eat(farm: Corpus) -> CountedWords:
    return counted_words(farm, "cows eat")


def test_the_counts_after_cows_eat(cows_eat: CountedWords) -> None:
    found = dict(zip(cows_eat.words, cows_eat.counts.tolist(), strict=True))
    assert found == {"corn": 4, "grass": 3, "hay": 2, "if": 1, "which": 1}


def test_the_likelihood_is_largest_at_the_counts(cows_eat: CountedWords) -> None:
    assert cows_eat.log_likelihood(cows_eat.best) == pytest.approx(-16.1495, abs=5e-5)
    assert cows_eat.log_likelihood(cows_eat.uniform) == pytest.approx(-17.7038, abs=5e-5)
    elsewhere = np.random.default_rng(0).dirichlet(np.ones(5), 500)
    assert all(cows_eat.log_likelihood(shares) < -16.1495 for shares in elsewhere)


def test_there_every_word_has_the_gradient_of_the_multiplier(cows_eat: CountedWords) -> None:
    assert cows_eat.total == 11
    assert cows_eat.gradient(cows_eat.best) == pytest.approx(np.full(5, 11.0))
    assert cows_eat.surplus(cows_eat.uniform) == pytest.approx(np.array([9, 4, -1, -6, -6]))


def test_a_gradient_is_the_derivative_of_the_likelihood(cows_eat: CountedWords) -> None:
    shares, nudge = np.array([0.3, 0.1, 0.2, 0.25, 0.15]), 1e-6
    for word in range(5):
        step = nudge * np.eye(5)[word]
        rise = cows_eat.log_likelihood(shares + step) - cows_eat.log_likelihood(shares - step)
        assert rise / (2 * nudge) == pytest.approx(cows_eat.gradient(shares)[word], rel=1e-6)


def test_raising_one_lowers_the_others_in_proportion() -> None:
    moved = with_share(np.array([0.4, 0.3, 0.2, 0.1]), 1, 0.65)
    assert moved == pytest.approx(np.array([0.2, 0.65, 0.1, 0.05]))


def test_all_of_it_can_be_given_to_one_word_and_taken_away_again() -> None:
    alone = with_share(np.array([0.5, 0.25, 0.25]), 0, 1.7)
    assert alone.tolist() == [1, 0, 0]
    assert with_share(alone, 0, 0.4) == pytest.approx(np.array([0.4, 0.3, 0.3]))


def test_a_word_without_a_share_makes_the_text_impossible(cows_eat: CountedWords) -> None:
    without = with_share(cows_eat.best, 3, 0.0)
    assert cows_eat.log_likelihood(without) == -np.inf
    assert cows_eat.gradient(without)[3] == np.inf


def test_the_ascent_rises_on_the_simplex_and_rests_at_the_counts(cows_eat: CountedWords) -> None:
    start = np.array([0.01, 0.01, 0.01, 0.01, 0.96])
    path = [start, *cows_eat.ascent(start, 0.1 / cows_eat.total)]
    assert len(path) > 20
    likelihoods = [cows_eat.log_likelihood(shares) for shares in path]
    assert (np.diff(likelihoods) > 0).all()
    assert all(shares.sum() == pytest.approx(1) and (shares > 0).all() for shares in path)
    assert np.array_equal(path[-1], cows_eat.best)


def test_along_one_word_the_likelihood_peaks_at_its_own_count(cows_eat: CountedWords) -> None:
    places = np.linspace(0.001, 0.999, 999)
    curve = cows_eat.along(np.array([0.1, 0.2, 0.3, 0.25, 0.15]), 0, places)
    assert places[curve.argmax()] == pytest.approx(4 / 11, abs=1e-3)


@pytest.mark.parametrize(
    ("context", "sentence"),
    [
        ("cows sing", "Nothing follows “cows sing”"),
        ("the", "different words follow “the”, and at most 8 can be drawn"),
    ],
)
def test_what_cannot_be_drawn_is_said(farm: Corpus, context: str, sentence: str) -> None:
    with pytest.raises(LmvizError, match=sentence):
        counted_words(farm, context)


def test_what_leaves_no_choice_is_said() -> None:
    corpus = text_corpus("a b a b a b", "twice", options=CorpusOptions(tokenizer="words", validation=0.0))
    with pytest.raises(LmvizError, match="Only “b” follows “a”"):
        counted_words(corpus, "a")


def test_an_example_is_found_in_any_text(farm: Corpus) -> None:
    assert example_context(farm) == "cows eat"
    text = "to be or not to be that is to be seen " * 3
    corpus = text_corpus(text, "own", options=CorpusOptions(tokenizer="words", validation=0.0))
    assert example_context(corpus) == "to be"
    assert set(counted_words(corpus, "to be").words) == {"or", "that", "seen"}


def test_where_nothing_leaves_a_choice_there_is_no_example() -> None:
    corpus = text_corpus("a b", "short", options=CorpusOptions(tokenizer="words", validation=0.0))
    assert example_context(corpus) == ""
