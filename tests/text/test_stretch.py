"""A stretch of a stream of ids is the text that it was made of."""

import numpy as np
import pytest
from covering import in_turn
from hypothesis import given, settings
from hypothesis import strategies as st

from lmviz.text.corpus import text_corpus
from lmviz.text.stretch import Stretches

LINES = "the cat saw a zebra.\nThe cat saw  the yak.\nthe cat saw the cat.\n"


def test_unknown_words_are_as_written():
    corpus = text_corpus(
        LINES, tokenizer="words", minimum_count=2, lower_case=True, documents="line", validation=0
    )
    shown = Stretches(corpus.training_stream).at(0, len(corpus.training))
    assert shown.words() == [
        *("⟨start⟩", "the", "cat", "saw", "a", "zebra", ".", "⟨end⟩"),
        *("⟨start⟩", "the", "cat", "saw", "the", "yak", ".", "⟨end⟩"),
        *("⟨start⟩", "the", "cat", "saw", "the", "cat", ".", "⟨end⟩"),
    ]
    assert [shown.tokens[n] for n in shown.unknown] == ["a⟨?⟩", "zebra⟨?⟩", "yak⟨?⟩"]
    assert shown.text == LINES.removesuffix("\n")
    assert shown.written(9, 14) == "The cat saw  the yak"


def test_parts_of_a_character_have_its_place():
    corpus = text_corpus("é 鼠 ü 鳥 " * 3, tokenizer="bpe:258", validation=0)
    stretches = Stretches(corpus.training_stream)
    whole = stretches.at(0, 5)
    assert whole.tokens == ("é⟨1/2⟩", "é⟨2/2⟩", " 鼠⟨1/3⟩", "鼠⟨2/3⟩", "鼠⟨3/3⟩")
    assert whole.text == "é 鼠"
    assert [stretches.at(*part).text for part in ((0, 1), (1, 2), (1, 4), (3, 4))] == ["é", "é", "é 鼠", "鼠"]


@settings(max_examples=5)
@given(data=st.data())
@pytest.mark.parametrize(
    ("kind", "documents"), in_turn(["words", "characters", "spaces", "bpe:300"], ["file", "line"])
)
def test_every_stretch_is_found(kind, documents, data):
    words = ["the", "cat", "Zoë", "İ", "鼠", "rare", ".", "\n", "  "]
    seed = data.draw(st.integers(0, 1000))
    chance = np.random.default_rng(seed)
    # longer than what is encoded at a time
    text = "the cat " + " ".join(chance.choice(words, size=data.draw(st.sampled_from([5, 900, 15_000]))))
    rare = {} if kind.startswith("bpe") else {"minimum_count": 2}
    corpus = text_corpus(text, tokenizer=kind, documents=documents, validation=0, **rare)
    stream = corpus.training_stream
    stretches = Stretches(stream)
    assert stretches.at(0, len(stream.ids)).text == corpus.training_text
    for _ in range(5):
        first = data.draw(st.integers(0, len(stream.ids) - 1))
        found = stretches.at(first, first + data.draw(st.integers(1, 40)))
        assert found.text in corpus.training_text
        assert found.ids.tolist() == stream.ids[first : first + len(found.ids)].tolist()
        assert len(found.tokens) == len(found.places) == len(found.ids)
        for n in range(len(found.ids)):
            if n not in found.unknown and not kind.startswith("bpe"):
                assert found.tokens[n] == corpus.tokenizer.token(int(found.ids[n]))
