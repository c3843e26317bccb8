"""By which pairs translators are judged: of each length enough, and none that was learned from."""

from collections import Counter

import pytest

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.decoding.judged_pairs import FURTHEST, judged_lengths, judged_pairs


@pytest.fixture(scope="module")
def twin():
    return lmviz.load_corpus("twin", span=6)


@pytest.fixture(scope="module")
def pairs(twin):
    return judged_pairs(twin, each=7)


@pytest.mark.slow
def test_a_text_that_lmviz_writes_is_judged_far_beyond_its_own_length(pairs):
    counts = Counter(pair.length for pair in pairs)
    assert list(counts) == [5, 10, 15, 20, 25, 30, 35, 40, 45, FURTHEST]
    assert set(counts.values()) == {7}
    assert all(len(pair.source.split()) == pair.length for pair in pairs)


def test_no_source_was_learned_from(twin, pairs):
    learned = {twin.tokenizer.decode(ids) for ids in twin.training_examples.source}
    short = [pair.source for pair in pairs if pair.length == 5]
    assert sum(source in learned for source in map(twin.tokenizer.decode, twin.validation_examples.source))
    assert short
    assert not learned & set(short)


def test_the_words_stand_as_they_are_written_known_or_not(tmp_path):
    lines = [f"good day Name{n}\tguten Tag Name{n}" for n in range(20)]
    (tmp_path / "pairs.tsv").write_text("\n".join(lines), encoding="utf-8")
    corpus = lmviz.load_corpus(
        tmp_path / "pairs.tsv", task="translation", tokenizer="words", minimum_count=2, validation=0.5
    )
    pairs = judged_pairs(corpus)
    assert len(pairs) == 10
    assert all(f"{pair.source}\t{pair.target}" in lines for pair in pairs)


def test_another_text_is_judged_by_its_held_out_part(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{'a ' * (1 + n % 3)}\t{'b ' * (1 + n % 3)}\n" for n in range(90)), "utf-8")
    corpus = lmviz.load_corpus(path, task="translation", validation=0.5)
    pairs = judged_pairs(corpus)
    assert len(pairs) == len(corpus.validation_examples)
    assert [pair.source.count("a") for pair in pairs] == [pair.length for pair in pairs]
    assert {pair.target.strip() for pair in pairs if pair.length == 2} == {"b b"}
    with pytest.raises(LmvizError, match="no held-out part"):
        judged_pairs(lmviz.load_corpus(path, task="translation", validation=0.0))


def test_a_text_without_pairs_is_refused():
    with pytest.raises(LmvizError, match="farm has no pairs of texts"):
        judged_pairs(lmviz.load_corpus("farm"))


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ([3] * 9 + [4] * 9, (3, 4)),
        ([3] * 9 + [4] * 2, (3,)),  # too few of 4
        ([3, 4], (3, 4)),  # too few of all
        ([n for n in range(3, 51) for _ in range(5)], tuple(range(5, 51, 5))),
        ([n for n in range(1, 15) for _ in range(5)], (2, 4, 6, 8, 10, 12, 14)),
    ],
)
def test_lengths_are_few_and_round(lengths, expected):
    assert judged_lengths(lengths) == expected
