"""Measures of text compare words: what a model writes as unknown is never the word that was wanted."""

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

import lmviz
from lmviz.decoding.bleu import bleu
from lmviz.decoding.compared_words import compared_words
from lmviz.decoding.judged_pairs import judged_pairs
from lmviz.decoding.quality_by_length import quality_by_length
from lmviz.runs.evaluating import evaluate_corpus
from lmviz.text.corpus import text_corpus
from lmviz.text.words import UNKNOWN_TEXT

KNOWN = ["a", "b", "c", "d"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Greetings, in each of which a name stands that no other has."""
    chance = np.random.default_rng(0)
    lines = [f"{' '.join('hi' for _ in range(chance.integers(1, 4)))} Name{n}" for n in range(120)]
    path = tmp_path_factory.mktemp("pairs") / "names.tsv"
    path.write_text("".join(f"{line}\t{line.replace('hi', 'ho')}\n" for line in lines), encoding="utf-8")
    return lmviz.load_corpus(path, task="translation", tokenizer="words", minimum_count=2, validation=0.3)


@pytest.fixture(scope="module")
def run(corpus, tmp_path_factory):
    options = {"width": 16, "batch": 16, "learning_rate": 0.03, "warmup": 0, "attention": "dot"}
    return lmviz.train("gru", corpus, tmp_path_factory.mktemp("runs") / "run", steps=100, **options)


@pytest.fixture(scope="module")
def model(run):
    """One that writes ⟨unknown⟩ where a name should stand."""
    return lmviz.open_model(run.folder)


def test_a_name_that_was_written_as_unknown_is_not_the_name(corpus, model):
    assert lmviz.predict(model, "hi hi Name7").text == f"ho ho {UNKNOWN_TEXT}"
    told = evaluate_corpus(model, corpus)
    assert told.exact_match == 0
    assert 0.3 < told.accuracy < 0.8  # "ho" and END, but no name
    assert all(score.exact_match == 0 for score in told.by_length.values())
    file = lmviz.evaluate(model, corpus.sources[0])
    assert (file.exact_match, file.bleu) == (0, 0)  # no four words in a row without the name
    assert told.perplexity < 2  # of tokens, among which ⟨unknown⟩ is one like others


def test_quality_by_length_counts_no_name_either(corpus, model):
    found = quality_by_length(model, judged_pairs(corpus), corpus.target_tokenizer)
    assert all(quality.exact_match.value == 0 for quality in found.values())
    worst = found[4].worst
    assert worst.wanted.startswith("ho ho ho Name")
    assert worst.source.startswith("hi hi hi Name")
    assert worst.written == f"ho ho ho {UNKNOWN_TEXT}"


def test_the_accuracy_of_training_counts_no_name_either(run, corpus, model):
    told = evaluate_corpus(model, corpus)
    assert told.accuracy < 0.8
    assert run.metrics()[-1]["validation_accuracy"] == pytest.approx(told.accuracy, abs=1e-6)


@pytest.mark.slow
def test_a_word_that_the_corpus_lacks_and_the_model_knows_is_right(tmp_path):
    """The corpus is read with a vocabulary of its own, in which no name is left."""
    names = ["Ada", "Bo", "Cy", "Di"]
    lines = "".join(f"{'hi ' * n}{name}\t{'ho ' * n}{name}\n" for name in names for n in (1, 2, 3))
    (tmp_path / "few.tsv").write_text(lines, encoding="utf-8")
    everything, greetings = (
        lmviz.load_corpus(
            tmp_path / "few.tsv", task="translation", tokenizer="words", validation=0, minimum_count=count
        )
        for count in (1, 4)
    )
    assert "Ada" not in greetings.target_tokenizer.tokens()
    options = {"width": 24, "batch": 12, "learning_rate": 0.02, "warmup": 0, "attention": "dot"}
    knowing = lmviz.open_model(lmviz.train("gru", everything, tmp_path / "run", steps=200, **options).folder)
    assert evaluate_corpus(knowing, everything, "training").exact_match == 1
    assert evaluate_corpus(knowing, greetings, "training").exact_match == 1


WORDS = st.lists(st.sampled_from([*KNOWN, "Zoe", "Max", UNKNOWN_TEXT]), min_size=1, max_size=12)


@settings(max_examples=100)
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=6))
def test_bleu_is_what_sacrebleu_computes_of_the_texts(pairs):
    tokenizer = text_corpus(" ".join(KNOWN), tokenizer="words", validation=0).tokenizer
    texts = [[" ".join(side) for side in pair] for pair in pairs]
    written, wanted = (
        [text.replace(UNKNOWN_TEXT, mark) for text in side]
        for side, mark in zip(zip(*texts, strict=True), ("⟨written⟩", "⟨wanted⟩"), strict=True)
    )
    settings = {"tokenize": "none", "force": True, "smooth_method": "none"}
    expected = sacrebleu.BLEU(**settings).corpus_score(written, [wanted]).score / 100
    ours = [[compared_words(text, tokenizer) for text in pair] for pair in texts]
    assert bleu(ours) == pytest.approx(expected, abs=1e-9)


def test_words_are_cut_and_cased_as_the_tokenizer_has_them():
    tokenizer = text_corpus("the cat sat.", lower_case=True, validation=0).tokenizer
    assert compared_words("The Dog sat.", tokenizer) == ("the", "dog", "sat", ".")
    letters = text_corpus("abc", tokenizer="characters", validation=0).tokenizer
    assert compared_words("abz", letters) == ("a", "b", "z")
    pieces = text_corpus("abc abc", tokenizer="bpe:260", validation=0).tokenizer
    assert compared_words(pieces.decode(pieces.encode("häß abc")), pieces) == compared_words(
        "häß abc", pieces
    )


def test_words_that_were_given_are_readable_and_those_that_the_model_wrote_stay_unknown(model):
    found = lmviz.predict(model, "hi hi Name7")
    assert found.source_tokens == ("hi", "hi", "Name7⟨?⟩", "⟨end⟩")
    assert found.tokens == ("ho", "ho", "⟨unknown⟩")
    traced = lmviz.trace(model, "ho Name7", source="hi Name7")
    assert traced.tokens == ("⟨start⟩", "ho", "Name7⟨?⟩")
    assert traced.further["source"].tokens[1] == "Name7⟨?⟩"
