"""The same held-out text under several tokenizers."""

import math

import numpy as np
import pytest
import torch

from lmviz.models.lstm import LSTMModel
from lmviz.models.recurrent_configuration import LSTMConfiguration
from lmviz.text.corpus import Corpus, text_corpus
from lmviz.text.tokenizer import Tokenizer
from lmviz.training.evaluation import evaluate_ids
from lmviz.training.held_out import evaluate_documents

LINES = "the cows eat grass\nthe hens eat corn\nthe dog sees the cows\n" * 20


def corpus_of(tokenizer: str, documents: str) -> Corpus:
    return text_corpus(LINES, tokenizer=tokenizer, documents=documents)


def model_for(tokenizer: Tokenizer) -> LSTMModel:
    torch.manual_seed(0)
    model = LSTMModel(LSTMConfiguration(width=8), tokenizer.vocabulary_size)
    model.tokenizer = tokenizer
    return model


def test_with_the_corpus_s_own_tokenizer_it_is_the_corpus_s_own_validation() -> None:
    corpus = corpus_of("words", "line")
    model, start = model_for(corpus.tokenizer), corpus.tokenizer.start_id
    told = evaluate_documents(model, corpus.validation_documents)
    documents = np.split(corpus.validation, np.flatnonzero(corpus.validation == start)[1:])
    expected = evaluate_ids(model, documents, start, characters=corpus.validation_characters)
    assert told == expected


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
