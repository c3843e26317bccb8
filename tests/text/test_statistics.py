import numpy as np

from lmviz.text import statistics
from lmviz.text.corpus import text_corpus


def test_everything_is_counted():
    corpus = text_corpus("a a b\nb c\na\nnew a", documents="line", validation=0.3, seed=0)
    found = corpus.statistics()
    texts, held_out = list(corpus.training_documents), list(corpus.validation_documents)
    words, other = " ".join(texts).split(), " ".join(held_out).split()
    assert found.training_tokens == len(words)
    assert found.validation_tokens == len(other)
    assert found.tokens == len(words) + len(other)
    assert found.types == len(set(words))
    for word in set(words):
        assert found.counts[corpus.tokenizer.id_of(word)] == words.count(word)
    assert found.counts[corpus.tokenizer.start_id] == len(texts)
    assert found.lengths.tolist() == [len(text.split()) for text in texts]
    assert found.unknown_rate == sum(word not in words for word in other) / len(other)


def test_frequency_falls_with_rank():
    found = text_corpus("c c c b b a x x x x", validation=0).statistics()
    assert found.rank_frequency.tolist() == [4, 3, 2, 1]
    assert found.by_rank.tolist() == [1, 2, 3, 4]


def test_a_single_document_has_one_length():
    corpus = text_corpus("a b c d", validation=0)
    assert corpus.statistics().lengths.tolist() == [4]


def test_counting_by_steps_is_counting(monkeypatch):
    corpus = text_corpus("a a b\nb c\na\nb b b", documents="line", validation=0)
    whole = corpus.statistics()
    monkeypatch.setattr(statistics, "_STEP", 3)
    steps = statistics.measure(corpus.training, corpus.validation, corpus.tokenizer)
    assert np.array_equal(steps.counts, whole.counts)
    assert np.array_equal(steps.lengths, whole.lengths)
