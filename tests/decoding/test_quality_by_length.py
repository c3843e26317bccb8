"""Quality by the length of the source: what it adds up to, its band, and the worst translation."""

import numpy as np
import pytest

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.decoding.bleu import bleu, bleu_counts, bleu_of_counts, sentence_bleu
from lmviz.decoding.judged_pairs import TextPair, judged_pairs
from lmviz.decoding.quality_by_length import bootstrap, quality_by_length
from lmviz.decoding.translation import translate
from lmviz.decoding.translation_evaluation import evaluate_translations


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Letters and the same in reverse, two to five of them."""
    chance = np.random.default_rng(0)
    words = ["".join(chance.choice(list("abc"), 2 + n % 4)) for n in range(400)]
    path = tmp_path_factory.mktemp("pairs") / "pairs.tsv"
    path.write_text("".join(f"{word}\t{word[::-1]}\n" for word in words), encoding="utf-8")
    return lmviz.load_corpus(path, tokenizer="characters", task="translation", validation=0.2)


@pytest.fixture(scope="module")
def model(corpus, tmp_path_factory):
    settings = {"width": 16, "batch": 32, "learning_rate": 0.02, "warmup": 0, "attention": "dot"}
    run = lmviz.train("gru", corpus, tmp_path_factory.mktemp("runs") / "run", steps=100, **settings)
    return lmviz.open_model(run.folder)


@pytest.fixture(scope="module")
def pairs(corpus):
    return judged_pairs(corpus)


@pytest.fixture(scope="module")
def found(model, pairs, corpus):
    return quality_by_length(model, pairs, corpus.target_tokenizer)


def test_each_length_is_measured_as_the_evaluation_measures_it(corpus, model, found):
    examples = corpus.validation_examples
    expected = evaluate_translations(model, examples).by_length
    assert list(found) == [2, 3, 4, 5] == list(expected)
    for length, quality in found.items():
        assert quality.count == expected[length].count
        assert quality.bleu.value == pytest.approx(expected[length].bleu)
        assert quality.exact_match.value == pytest.approx(expected[length].exact_match)
        for measured in (quality.bleu, quality.exact_match):
            assert 0 <= measured.low <= measured.value <= measured.high <= 1
    assert any(0 < quality.exact_match.value < 1 for quality in found.values())  # trained, but not too well
    assert found[5].bleu.low < found[5].bleu.high


def test_the_worst_translation_is_what_the_model_writes_and_no_other_is_worse(model, pairs, found):
    worst = found[5].worst
    assert translate(model, worst.source).text == worst.written
    assert worst.wanted == worst.source[::-1]
    others = [translate(model, pair.source).text for pair in pairs if pair.length == 5]
    wanted = [pair.target for pair in pairs if pair.length == 5]
    scores = [sentence_bleu(*both) for both in zip(others, wanted, strict=True)]
    assert sentence_bleu(worst.written, worst.wanted) == pytest.approx(min(scores))


def test_progress_is_told_and_may_stop_the_work(model, pairs, corpus):
    heard = []
    quality_by_length(model, pairs, corpus.target_tokenizer, heard.append)
    assert heard[-1] == 1.0

    class Stop(Exception):
        pass

    def stop(share):
        raise Stop

    with pytest.raises(Stop):
        quality_by_length(model, pairs, corpus.target_tokenizer, stop)


def test_the_band_of_a_share_is_that_of_a_coin():
    counts = np.array([[n % 2, 1] for n in range(100)])
    share = bootstrap(counts, lambda sums: sums[..., 0] / sums[..., 1])
    assert share.value == 0.5
    assert share.low == pytest.approx(0.5 - 1.96 * 0.05, abs=0.015)
    assert share.high == pytest.approx(0.5 + 1.96 * 0.05, abs=0.015)
    assert bootstrap(counts, lambda sums: sums[..., 0] / sums[..., 1]) == share


def test_the_band_of_bleu_is_of_corpora_and_not_of_sentences():
    both = [("abcde", "abcde"), ("abcdx", "abcde")]
    counts = np.array([bleu_counts(*pair) for pair in both])
    measured = bootstrap(counts, bleu_of_counts)
    assert measured.value == pytest.approx(bleu(both))
    assert (measured.low, measured.high) == pytest.approx((bleu(both[1:]), 1.0))


def test_models_of_other_tokens_are_judged_by_what_they_write(corpus, pairs, tmp_path):
    other = lmviz.load_corpus(corpus.sources[0], tokenizer="words", task="translation", validation=0.2)
    settings = {"width": 8, "batch": 32, "learning_rate": 0.02, "attention": "none"}
    run = lmviz.train("rnn", other, tmp_path / "run", steps=20, **settings)
    found = quality_by_length(lmviz.open_model(run.folder), pairs, corpus.target_tokenizer)
    assert list(found) == [2, 3, 4, 5]


def test_lengths_beyond_what_a_model_can_read_are_left_out(corpus, pairs, tmp_path):
    settings = {"width": 8, "layers": 1, "heads": 1, "context": 5}
    run = lmviz.train("transformer", corpus, tmp_path / "run", steps=2, batch=8, **settings)
    model = lmviz.open_model(run.folder)
    assert list(quality_by_length(model, pairs, corpus.target_tokenizer)) == [2, 3, 4]  # and END
    long = [TextPair("abcab", "bacba", 5)]
    with pytest.raises(LmvizError, match="none of the pairs of texts to be judged"):
        quality_by_length(model, long, corpus.target_tokenizer)


def test_a_model_that_reads_no_source_is_refused(corpus, pairs, tmp_path):
    text = lmviz.load_corpus("farm")
    run = lmviz.train("ngram", text, tmp_path / "run", steps=2)
    with pytest.raises(LmvizError, match="reads no source"):
        quality_by_length(lmviz.open_model(run.folder), pairs, corpus.target_tokenizer)
