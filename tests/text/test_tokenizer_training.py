import re

import pytest

from lmviz.base.errors import LmvizError
from lmviz.text.tokenizer_options import TokenizerOptions
from lmviz.text.tokenizer_training import train_tokenizer, without_long_runs

TEXT = "b b b a a c"


@pytest.mark.parametrize("text", ["characters", "words", "spaces", "bpe:4096"])
def test_a_specification_is_read_and_written(text):
    assert TokenizerOptions.from_specification(text).specification == text


@pytest.mark.parametrize(
    "text", ["", "word", "bpe:", "bpe:x", "bpe:-5", "bpe:100", "words:50", "bpe:٣٠٠", "bpe:9999999999"]
)
def test_a_specification_that_cannot_be_is_refused(text):
    with pytest.raises(LmvizError):
        TokenizerOptions.from_specification(text)


def learn(text: str = TEXT, **options):
    return train_tokenizer([text], TokenizerOptions(**options), marks_boundaries=False).tokens()


def test_words_stand_in_the_order_of_their_counts():
    assert learn(kind="words") == ["⟨unknown⟩", "b", "a", "c"]


def test_characters_stand_in_the_order_of_their_code_points():
    assert learn(kind="characters") == ["⟨unknown⟩", " ", "a", "b", "c"]


@pytest.mark.parametrize("kind", ["words", "characters"])
def test_rare_tokens_are_left_out(kind):
    tokens = learn(kind=kind, minimum_count=2)
    assert "c" not in tokens
    assert {"a", "b"} <= set(tokens)


def test_the_largest_vocabulary_keeps_the_most_frequent():
    assert learn(kind="words", vocabulary=2) == ["⟨unknown⟩", "b"]
    assert learn(kind="characters", vocabulary=3) == ["⟨unknown⟩", " ", "b"]
    assert learn(kind="words", vocabulary=1) == ["⟨unknown⟩"]


def test_lower_case_joins_the_counts():
    assert learn("The the THE x x İ", kind="words", lower_case=True)[1:3] == ["the", "x"]
    assert learn("Aa", kind="characters", lower_case=True) == ["⟨unknown⟩", "a"]


def test_byte_pairs_reach_the_vocabulary_that_was_asked_for():
    text = " ".join(f"word{n}" for n in range(300))
    assert len(learn(text, kind="bpe", vocabulary=300)) == 300


def test_a_text_in_parts_counts_like_the_whole():
    whole = train_tokenizer(["a b b\n c c c"], TokenizerOptions(), marks_boundaries=True)
    parts = train_tokenizer(["a b b", "\n c c c"], TokenizerOptions(), marks_boundaries=True)
    assert whole.tokens() == parts.tokens()


def test_no_text_at_all_gives_the_special_tokens():
    for kind in ("words", "characters"):
        empty = train_tokenizer([], TokenizerOptions(kind=kind), marks_boundaries=True)
        assert empty.tokens() == ["⟨start⟩", "⟨end⟩", "⟨unknown⟩"]


def test_byte_pairs_are_learned_from_runs_of_bounded_length():
    text = "some words " + "ACGT" * 5000 + " " * 9000 + "more words"
    pieces = list(without_long_runs([text, "plain words"]))
    assert "".join(pieces) == text + "plain words"
    assert pieces[-1] == "plain words"
    assert max(len(run) for piece in pieces for run in re.findall(r"\S+|\s+", piece)) <= 2048


def test_a_genome_becomes_byte_pairs():
    tokens = learn("ACGT" * 30_000, kind="bpe", vocabulary=270)
    assert "ACGTACGT" in tokens
