import numpy as np
import pytest

from lmviz.base.errors import LmvizError
from lmviz.decoding.options import SamplingOptions
from lmviz.decoding.which_is_real import (
    HeldOutPassage,
    Pair,
    RealGame,
    choose_passages,
    fitting_passages,
    invent,
)
from lmviz.text.corpus import text_corpus


def stream(tokenizer, texts):
    documents = "line" if tokenizer.marks_boundaries else "file"
    return text_corpus(
        "\n".join(texts), tokenizer=tokenizer, documents=documents, validation=0
    ).training_stream


TEXTS = ["cows eat corn . bats sleep .", "the cows sleep . cows eat grass .", "cows sleep ."]


def test_passages_lie_within_documents_and_do_not_overlap(bigram):
    tokenizer = bigram.tokenizer
    passages = choose_passages(stream(tokenizer, TEXTS), 5, before=2, length=4)
    texts = [tokenizer.decode(tokenizer.encode(text)) for text in TEXTS]
    assert 1 <= len(passages) <= 2
    for passage in passages:
        assert any(passage.beginning + passage.real in text for text in texts)
        assert len(tokenizer.encode(passage.real)) == 4


def test_no_document_long_enough_is_said(bigram):
    with pytest.raises(LmvizError, match="36 tokens"):
        choose_passages(stream(bigram.tokenizer, TEXTS), 5)


@pytest.mark.parametrize("specification", ["words", "characters"])
def test_the_invented_passage_is_as_long_as_the_real_one(make, specification):
    model = make(specification=specification)
    pair = invent(model, HeldOutPassage("cows eat", " corn . bats sleep ."), SamplingOptions(seed=3))
    assert (pair.beginning, pair.real) == ("cows eat", " corn . bats sleep .")
    assert len(pair.real) <= len(pair.invented) <= len(pair.real) + 6
    assert "\ufffd" not in pair.invented
    assert pair == invent(model, HeldOutPassage("cows eat", " corn . bats sleep ."), SamplingOptions(seed=3))


def test_either_may_be_shown_first(bigram):
    pairs = [
        invent(bigram, HeldOutPassage("cows", " eat corn ."), SamplingOptions(seed=s)) for s in range(20)
    ]
    assert {pair.real_first for pair in pairs} == {True, False}
    assert all(pair.shown[0 if pair.real_first else 1] == pair.real for pair in pairs)


def test_a_model_that_can_only_end_stays_short(bigram):
    bigram.table.data[:] = -np.inf
    bigram.table.data[:, bigram.tokenizer.end_id] = 0
    assert invent(bigram, HeldOutPassage("cows", " eat corn ."), SamplingOptions()).invented == ""


def test_the_game_counts_the_real_ones_found():
    pair = Pair("cows", " eat corn", " corn corn", real_first=False)
    game = RealGame((pair, pair)).answered(first=False).answered(first=True)
    assert game.found == (True, False)
    assert game.score == 1
    assert game.current is None
    with pytest.raises(LmvizError, match="over"):
        game.answered(True)


def test_passages_become_shorter_until_a_document_has_them(bigram):
    tokenizer = bigram.tokenizer
    (passage, *_) = fitting_passages(stream(tokenizer, TEXTS), 5)
    assert len(tokenizer.encode(passage.real)) == 3
    [shortest] = fitting_passages(stream(tokenizer, TEXTS[2:]), 5, before=2, length=2)
    assert (shortest.beginning, shortest.real) == ("cows", " sleep.")
    with pytest.raises(LmvizError, match="3 tokens"):
        fitting_passages(stream(tokenizer, ["cows sleep"]), 5)


@pytest.mark.parametrize("kind", ["words", "spaces", "characters", "bpe:258"])
def test_passages_are_in_the_words_of_the_text(kind):
    text = "\n".join(f"the cows number{n} eat the corn of farm{n} with ü and 鳥 ." for n in range(30))
    rare = {} if kind.startswith("bpe") else {"minimum_count": 2}
    corpus = text_corpus(text, tokenizer=kind, documents="line", validation=0, **rare)
    for passage in choose_passages(corpus.training_stream, 10, before=3, length=4):
        assert passage.beginning
        assert passage.beginning + passage.real in text
