import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmviz.text.concordance import concordance, concordance_of_ids
from lmviz.text.corpus import load_corpus, text_corpus


@pytest.fixture(scope="module")
def farm():
    return load_corpus("farm")


@pytest.mark.parametrize("phrase", ["cows eat", "Cows  EAT"])
def test_what_cows_eat(farm, phrase):
    found = concordance(farm, phrase)
    assert {word.token: word.count for word in found.words} == {
        "corn": 4, "grass": 3, "hay": 2, "if": 1, "which": 1
    }  # fmt: skip
    assert found.total == 11
    assert found.words[0].token == "corn"
    assert found.words[0].share == pytest.approx(4 / 11)
    assert len(found.places) == 11


def test_places_show_the_text_around(farm):
    place = concordance(farm, "cows eat").places[4]
    assert (place.before, place.match, place.token, place.after) == (
        "In the summer the", "cows eat", "grass", "."
    )  # fmt: skip
    ids = farm.training[place.position : place.position + 2]
    assert farm.tokenizer.decode(ids) == "cows eat"


def test_the_end_of_a_document_is_a_next_token(farm):
    found = concordance(farm, "cows eat hay.")
    assert [word.token for word in found.words] == ["⟨end⟩"]
    assert found.places[0].before == "After the harvest the"
    assert found.places[0].after == ""


def test_few_places_are_told_but_all_are_counted(farm):
    found = concordance(farm, "the", limit=3)
    assert len(found.places) == 3
    assert found.total == sum(word.count for word in found.words) > 100
    positions = [place.position for place in found.places]
    assert positions == sorted(positions)


@pytest.mark.parametrize("phrase", ["", "  ", "cows eat unicorns"])
def test_what_is_not_there_is_found_nowhere(farm, phrase):
    assert concordance(farm, phrase).total == 0


@pytest.mark.parametrize("kind", ["bpe:400", "characters"])
def test_other_tokenizers_are_searched_too(kind):
    corpus = load_corpus("farm", kind)
    found = concordance(corpus, "cows eat")
    assert found.total == 11
    assert concordance(corpus, "cows eat cor").total == (4 if kind == "characters" else found.total * 0)


@given(text=st.text(alphabet="ab ", min_size=5), phrase=st.text(alphabet="ab ", min_size=1, max_size=3))
def test_every_place_is_found(text, phrase):
    corpus = text_corpus("a" + text + "a", tokenizer="characters", validation=0)
    whole = corpus.training_text
    expected = [found.start() for found in re.finditer(f"(?={re.escape(phrase)}.)", whole)]
    found = concordance(corpus, phrase)
    if set(phrase) <= set(whole):
        assert [place.position for place in found.places] == expected
        assert found.total == len(expected)


def test_words_that_the_vocabulary_lacks_are_as_written():
    text = "a zebra saw the cat by night\nthe cat saw a yak\nthe cat ran\nby night saw ran\n"
    corpus = text_corpus(text, tokenizer="words", minimum_count=2, documents="line", validation=0)
    places = concordance(corpus, "saw").places
    assert [(place.before, place.match, place.token, place.after) for place in places] == [
        ("a zebra", "saw", "the", "cat by night"),
        ("the cat", "saw", "a", "yak"),
        ("by night", "saw", "ran", ""),
    ]
    assert [place.token for place in concordance(corpus, "a").places] == ["zebra⟨?⟩", "yak⟨?⟩"]


def test_characters_that_tokens_split_are_shown_whole():
    corpus = text_corpus("é 鼠 ü 鳥 " * 30, tokenizer="bpe:258", validation=0)
    for first in range(5):
        for place in concordance_of_ids(corpus, corpus.training[first : first + 2]).places:
            assert "\ufffd" not in place.before + place.match + place.token + place.after
            assert place.before + place.match in corpus.training_text
