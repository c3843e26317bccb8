"""The examples of a corpus as a model that learned from another corpus reads them."""

import numpy as np
import pytest

from lmviz.base.errors import LmvizError
from lmviz.text.corpus import text_corpus
from lmviz.text.examples_for import examples_for

TAGGED = "the/d cat/n runs/v\nthe/d old/n man/v the/d boats/n\n"
OTHER = "boats/n run/v run/v run/v\nthe/d cat/n\n"
PAIRS = "one two\tuno dos\ntwo three\tdos tres\n"
OTHER_PAIRS = "three two one\ttres dos uno\nthree\ttres\nthree\ttres\n"


def read(text, task):
    return text_corpus(text, task=task, validation=0)


def test_a_model_of_the_same_corpus_is_given_its_own_ids():
    corpus = read(TAGGED, "tagging")
    found = examples_for(corpus, "training", corpus.tokenizer, corpus.labels)
    assert found.source is corpus.training_examples.source
    assert found.target is corpus.training_examples.target


def test_words_and_tags_keep_their_names_under_other_ids():
    corpus, other = read(TAGGED, "tagging"), read(OTHER, "tagging")
    assert corpus.labels != other.labels
    found = examples_for(corpus, "training", other.tokenizer, other.labels)
    words = [[other.tokenizer.token(int(id)) for id in ids] for ids in found.source]
    assert words[0][:2] == ["the", "cat"]
    assert words[1][-1] == "boats"
    assert words[0][2] == other.tokenizer.token(other.tokenizer.unknown_id)  # "runs" is not in the other text
    tags = [[other.labels[int(id)] for id in ids] for ids in found.target]
    assert tags == [["d", "n", "v"], ["d", "n", "v", "d", "n"]]


def test_pairs_are_read_by_both_tokenizers_of_the_model():
    corpus, other = read(PAIRS, "translation"), read(OTHER_PAIRS, "translation")
    found = examples_for(corpus, "training", other.tokenizer, target_tokenizer=other.target_tokenizer)
    assert [other.tokenizer.decode(ids) for ids in found.source] == ["one two", "two three"]
    assert [other.target_tokenizer.decode(ids) for ids in found.target] == ["uno dos", "dos tres"]
    reader = other.target_tokenizer
    assert all((ids[0], ids[-1]) == (reader.start_id, reader.end_id) for ids in found.target)
    assert not np.array_equal(found.target.ids, corpus.training_examples.target.ids)


def test_what_does_not_fit_is_said():
    corpus, plain = read(TAGGED, "tagging"), text_corpus("the cat runs", task="next-token", validation=0)
    with pytest.raises(LmvizError, match="none of those the model knows, which are x"):
        examples_for(corpus, "training", corpus.tokenizer, ("x",))
    with pytest.raises(LmvizError, match="has no examples"):
        examples_for(plain, "training", plain.tokenizer)
    letters = text_corpus("the cat", tokenizer="characters", task="next-token", validation=0).tokenizer
    with pytest.raises(LmvizError, match="their tags do not fit"):
        examples_for(corpus, "training", letters, corpus.labels)
