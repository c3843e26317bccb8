"""The same held-out text under several tokenizers."""

import math

import numpy as np
import pytest
import torch
from covering import in_turn
from foreign_tokenizers import byte_pairs
from small_models import small_settings

from lmviz.families import FAMILIES, build_model
from lmviz.models.model import EVERY_LINE
from lmviz.models.ngram.configuration import NgramConfiguration
from lmviz.models.ngram.counts import count_ngrams
from lmviz.models.ngram.model import Ngram
from lmviz.models.recurrent import RecurrentModel
from lmviz.models.recurrent_configuration import LSTMConfiguration
from lmviz.text.corpus import Corpus, text_corpus
from lmviz.text.spelling import SpellingModel, unknown_words
from lmviz.text.tokenizer import Tokenizer
from lmviz.text.words import UNKNOWN_TEXT
from lmviz.training.evaluation import evaluate_ids
from lmviz.training.held_out import evaluate_documents, evaluate_lines

LINES = "the cows eat grass\nthe hens eat corn\nthe dog sees the cows\n" * 20


def corpus_of(tokenizer: str, documents: str) -> Corpus:
    return text_corpus(LINES, tokenizer=tokenizer, documents=documents)


def model_for(tokenizer: Tokenizer) -> RecurrentModel:
    torch.manual_seed(0)
    model = RecurrentModel(LSTMConfiguration(width=8), tokenizer.vocabulary_size)
    model.tokenizer = tokenizer
    return model


def test_with_the_corpus_s_own_tokenizer_it_is_the_corpus_s_own_validation() -> None:
    corpus = corpus_of("words", "line")
    model, start = model_for(corpus.tokenizer), corpus.tokenizer.start_id
    told = evaluate_documents(model, corpus.validation_documents)
    documents = np.split(corpus.validation, np.flatnonzero(corpus.validation == start)[1:])
    expected = evaluate_ids(model, documents, start, characters=corpus.validation_stream.characters)
    assert told == expected
    assert told.unknown == 0


def test_an_unknown_word_pays_for_its_spelling() -> None:
    learned = corpus_of("words", "line")
    model = model_for(learned.tokenizer)
    held_out = text_corpus("the zebra eat grass\nthe okapi eat zebra\n", documents="line", validation=0)
    told = evaluate_documents(model, held_out.training_documents)
    assert told.unknown == 3
    assert told.tokens == 10
    assert told.unknown_share == pytest.approx(0.3)
    spelling = SpellingModel(learned.tokenizer)
    nats = 10 * told.negative_log_likelihood + 2 * spelling.nats("zebra") + spelling.nats("okapi")
    assert told.bits_per_character == pytest.approx(nats / math.log(2) / 40)


def test_a_model_that_knows_few_words_does_not_win() -> None:
    """A long word that is not known, a hundred times: predicting ⟨unknown⟩ is easy, and says little."""
    few = text_corpus("a b a b\na a a a\n" * 50, minimum_count=150, documents="line", validation=0)
    assert "b" not in few.tokenizer.tokens()
    model = Ngram(NgramConfiguration(order=2), few.tokenizer.vocabulary_size)
    start = few.tokenizer.start_id
    model.fit(count_ngrams(few.training, 2, few.tokenizer.vocabulary_size, start_id=start))
    model.tokenizer = few.tokenizer
    word = "honorificabilitudinitatibus"
    long = text_corpus(" ".join([word] * 100), documents="line", validation=0)
    told = evaluate_documents(model, long.training_documents)
    assert told.unknown == 100
    assert told.bits_per_character > math.log2(26)


def test_the_first_token_is_not_judged_and_not_spelled_where_nothing_stands_before_it() -> None:
    model = model_for(corpus_of("words", "file").tokenizer)
    one = evaluate_documents(model, text_corpus("zebra grass", validation=0).training_documents)
    assert one.unknown == 0
    assert one.bits_per_character == pytest.approx(one.negative_log_likelihood / math.log(2) / len(" grass"))


def test_a_model_of_every_line_reads_line_by_line_however_a_text_was_divided() -> None:
    model = model_for(corpus_of("words", "line").tokenizer)
    model.documents = EVERY_LINE
    written = "the cows eat grass\n\nthe okapi eat corn\n"
    told = [
        evaluate_documents(model, text_corpus(written, documents=name, validation=0).training_documents)
        for name in ("file", "blank line", "line")
    ]
    assert told[0] == told[1] == told[2] == evaluate_lines(model, written)
    assert told[0].tokens == 5 + 1 + 5
    assert told[0].unknown == 1
    nats = told[0].tokens * told[0].negative_log_likelihood + SpellingModel(model.tokenizer).nats("okapi")
    assert told[0].bits_per_character == pytest.approx(nats / math.log(2) / len(written))


TEXTS = ["the cows eat grass\nthe hens eat corn\n", "  the zebra eat  the cows", "日本 cows\n\neat", "é\n"]
UNPREDICTED = {"words": (3, 5, 1, 1), "spaces": (3, 5, 2, 1), "characters": (1, 1, 1, 1)}
"""Characters up to the end of the first token of each text."""


def with_classifier_mark() -> Tokenizer:
    """A tokenizer of another program, which puts before a text what is not START."""
    from tokenizers import processors

    backend = byte_pairs(special=("[CLS]",))
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A", special_tokens=[("[CLS]", backend.token_to_id("[CLS]"))]
    )
    return Tokenizer(backend)


TOKENIZERS = {
    **{
        f"{kind} {documents}": (lambda kind=kind, documents=documents: corpus_of(kind, documents).tokenizer)
        for kind in ("words", "spaces", "characters", "bpe:300")
        for documents in ("file", "line")
    },
    "of another program": with_classifier_mark,
}


@pytest.mark.parametrize(("kind", "family"), in_turn(TOKENIZERS, ["ngram", "lstm", "transformer", "window"]))
@pytest.mark.parametrize("text", TEXTS)
def test_bits_per_character_count_the_characters_of_predicted_tokens_alone(kind, family, text) -> None:
    tokenizer = TOKENIZERS[kind]()
    settings = small_settings(family)
    model = build_model(
        family, FAMILIES[family].configuration(**settings), tokenizer.vocabulary_size, 0
    ).eval()
    if family == "ngram":
        ids = np.arange(tokenizer.vocabulary_size)
        model.fit(count_ngrams(np.concatenate([ids, ids[::-1]]), 3, len(ids), tokenizer.start_id))
    model.tokenizer = tokenizer
    ids = tokenizer.encode(text).tolist()
    if len(ids) < 2 and not tokenizer.marks_boundaries:
        return
    documents = text_corpus(text, documents="file", validation=0).training_documents
    if tokenizer.marks_boundaries:
        ids, unpredicted = [tokenizer.start_id, *ids, tokenizer.end_id], 0
    elif tokenizer.kind in UNPREDICTED:
        unpredicted = UNPREDICTED[tokenizer.kind][TEXTS.index(text)]
    else:
        first = tokenizer.decode(ids[:1])
        unpredicted = 0 if UNKNOWN_TEXT in first else len(first)  # a part of a character is the next token's
    predicted = text[unpredicted:]
    told = evaluate_documents(model, documents)
    bits = told.tokens * told.negative_log_likelihood / math.log(2)
    words = unknown_words([predicted], tokenizer)
    bits += sum(count * SpellingModel(tokenizer).nats(word) for word, count in words.items()) / math.log(2)
    assert told.tokens == len(ids) - 1
    assert bits / told.bits_per_character == pytest.approx(len(predicted))


@pytest.mark.parametrize(("documents", "ending"), [("line", "\n"), ("blank line", "\n\n"), ("file", "\n")])
def test_characters_are_counted_as_the_file_has_them(documents: str, ending: str) -> None:
    """More line ends between documents than their separator has, and fewer at the end of the file."""
    written = "the cows eat grass\n\n\n\nthe hens eat corn\n"
    text = text_corpus(written, documents="blank line", validation=0).training_documents
    learned = f"the cows eat grass{ending}the hens eat corn{ending}"
    told = evaluate_documents(
        model_for(text_corpus(learned, documents=documents, validation=0).tokenizer), text
    )
    bits = told.tokens * told.negative_log_likelihood / math.log(2)
    unjudged = len("the") if documents == "file" else 0
    assert bits / told.bits_per_character == pytest.approx(len(written) - unjudged)


@pytest.mark.parametrize("documents", ["line", "file"])
@pytest.mark.parametrize("kind", ["words", "characters", "bpe:300"])
def test_bits_per_character_spread_the_same_text_over_its_characters(kind: str, documents: str) -> None:
    text = corpus_of("words", "line").validation_documents
    told = evaluate_documents(model_for(corpus_of(kind, documents).tokenizer), text)
    bits = told.tokens * told.negative_log_likelihood / math.log(2)
    assert bits / told.bits_per_character == pytest.approx(len(text.text), abs=5)


def test_progress_grows_and_may_cancel() -> None:
    corpus = corpus_of("words", "line")
    heard: list[float] = []
    evaluate_documents(model_for(corpus.tokenizer), corpus.validation_documents, heard.append)
    assert heard == sorted(heard)
    assert heard[-1] == 1.0

    def cancel(share: float) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        evaluate_documents(model_for(corpus.tokenizer), corpus.validation_documents, cancel)


def test_line_ends_are_not_counted_where_no_END_is_predicted() -> None:
    from tokenizers import processors

    backend = byte_pairs(special=("<s>",))
    backend.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", backend.token_to_id("<s>"))]
    )
    tokenizer = Tokenizer(backend)
    assert tokenizer.marks_boundaries
    assert tokenizer.end_id is None
    told = evaluate_documents(
        model_for(tokenizer), text_corpus("ab\ncd\n", documents="line", validation=0).training_documents
    )
    bits = told.tokens * told.negative_log_likelihood / math.log(2)
    assert bits / told.bits_per_character == pytest.approx(len("ab") + len("cd"))
