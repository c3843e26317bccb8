"""Spans are counted as CoNLL's own script counts them, tag by tag; a tagger of names is judged by them."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lmviz
from lmviz.text.tag_schemes import find_scheme
from lmviz.training.span_evaluation import SpanScore, score_spans

TAGS = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
NAMES = (
    "Ada/B-PER Byron/I-PER met/O Charles/B-PER in/O New/B-LOC York/I-LOC\n"
    "Ada/B-PER left/O New/B-LOC York/I-LOC\nCharles/B-PER Babbage/I-PER and/O Ada/B-PER wrote/O\n"
    "York/B-LOC saw/O Zoe/B-PER Byron/I-PER\nin/O Leeds/B-LOC Charles/B-PER met/O Ada/B-PER Byron/I-PER\n"
)


def conlleval(texts: Sequence[tuple[Sequence[str], Sequence[str]]]) -> dict[str, tuple[int, int, int]]:
    """By kind how many chunks are wanted, given and found: the loop of conlleval, word by word."""
    counts: dict[str, list[int]] = {}

    def parted(tag: str) -> tuple[str, str]:
        return (tag, "") if tag == "O" else (tag[0], tag[2:])

    def ends(before: tuple[str, str], now: tuple[str, str]) -> bool:
        return before[0] in "BI" and (now[0] in "BO" or before[1] != now[1])

    def starts(before: tuple[str, str], now: tuple[str, str]) -> bool:
        return now[0] == "B" or (now[0] == "I" and (before[0] == "O" or before[1] != now[1]))

    def add(kind: str, place: int) -> None:
        counts.setdefault(kind, [0, 0, 0])[place] += 1

    for right, answered in texts:
        last_right = last_answered = ("O", "")
        in_both = False
        for one, other in zip(
            [*map(parted, right), ("O", "")], [*map(parted, answered), ("O", "")], strict=True
        ):
            if in_both:
                over = ends(last_right, one), ends(last_answered, other)
                if all(over):
                    add(last_right[1], 2)
                if any(over) or one[1] != other[1]:
                    in_both = False
            if starts(last_right, one) and starts(last_answered, other) and one[1] == other[1]:
                in_both = True
            if starts(last_right, one):
                add(one[1], 0)
            if starts(last_answered, other):
                add(other[1], 1)
            last_right, last_answered = one, other
    return {kind: (wanted, given_, found) for kind, (wanted, given_, found) in counts.items()}


def pairs(length: int) -> st.SearchStrategy[tuple[list[str], list[str]]]:
    tags = st.lists(st.sampled_from(TAGS), min_size=length, max_size=length)
    return st.tuples(tags, tags)


@given(st.lists(st.integers(1, 7).flatmap(pairs), max_size=5))
def test_spans_are_counted_as_conlleval_counts_them(texts: list[tuple[list[str], list[str]]]) -> None:
    scheme = find_scheme(TAGS)
    assert scheme is not None
    found = score_spans(scheme, texts)
    assert {kind: (item.wanted, item.given, item.found) for kind, item in found.items()} == conlleval(texts)


def test_shares_of_nothing_are_none() -> None:
    nothing = SpanScore(0, 0, 0)
    assert (nothing.precision, nothing.recall, nothing.f1) == (None, None, None)
    missed = SpanScore(wanted=2, given=0, found=0)
    assert (missed.precision, missed.recall, missed.f1) == (None, 0.0, 0.0)
    assert SpanScore(wanted=4, given=2, found=1).f1 == pytest.approx(1 / 3)


def test_a_tagger_of_names_is_judged_by_spans_and_by_words_it_knows(tmp_path: Path) -> None:
    """Learned from all but the last line; Leeds and Zoe it has never read, or once and so not learned."""
    (tmp_path / "learned.txt").write_text(NAMES * 2, encoding="utf-8")
    (tmp_path / "judged.txt").write_text(NAMES + "Zoe/B-PER in/O Hull/B-LOC\n", encoding="utf-8")
    corpus = lmviz.load_corpus(tmp_path / "learned.txt", validation=0.0, minimum_count=4)
    lmviz.train("gru", corpus, tmp_path / "run", steps=12, batch=2, width=6, learning_rate=0.02)
    model = lmviz.open_model(tmp_path / "run")
    score = lmviz.evaluate(model, tmp_path / "judged.txt")
    lines = [line.split() for line in (tmp_path / "judged.txt").read_text(encoding="utf-8").splitlines()]
    words = [[pair.split("/")[0] for pair in line] for line in lines]
    right = [[pair.split("/")[1] for pair in line] for line in lines]
    answered = [list(lmviz.predict(model, " ".join(line)).labels) for line in words]
    expected = conlleval(list(zip(right, answered, strict=True)))
    assert {k: (s.wanted, s.given, s.found) for k, s in score.by_span.items()} == expected
    assert (score.spans.wanted, score.spans.given, score.spans.found) == tuple(
        np.sum(list(expected.values()), axis=0)
    )
    assert score.scheme == "IOB2"
    assert 0 < score.spans.f1 < 1
    vocabulary = set(model.tokenizer.tokens())
    hits = [
        (word in vocabulary, one == other)
        for line in range(len(lines))
        for word, one, other in zip(words[line], right[line], answered[line], strict=True)
    ]
    for is_known, item in ((True, score.known), (False, score.unknown)):
        chosen = [hit for known, hit in hits if known == is_known]
        assert item.count == len(chosen) > 0
        assert item.accuracy == pytest.approx(np.mean(chosen))
    assert score.known.count + score.unknown.count == score.tokens
