"""What stands word for word in a training text, and the verdict about it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lmviz
from lmviz.origins.copies import FEWEST, Copies, threshold_of
from lmviz.text.corpus import text_corpus

WORDS = ("the", "bat", "sings", "at", "night", ".")
LINES = [
    "The old miller sang a song about the sea.",
    "Rain fell on the roof all night.",
    "The old miller sang a song about rain.",
    "A cat slept on the roof.",
]


def corpus_of(text: str, **settings):
    return text_corpus(text, tokenizer="words", documents="line", validation=0.0, **settings)


def naive_lengths(training: list[list[str]], tokens: list[str]) -> list[int]:
    """For each token the longest passage round it that stands in one of the texts."""
    found = [0] * len(tokens)
    for start in range(len(tokens)):
        for stop in range(start + 1, len(tokens) + 1):
            part = tokens[start:stop]
            if any(part == text[at : at + len(part)] for text in training for at in range(len(text))):
                for place in range(start, stop):
                    found[place] = max(found[place], stop - start)
    return found


@settings(max_examples=30)
@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8), min_size=2, max_size=5),
    st.lists(st.sampled_from((*WORDS, "zebra")), min_size=1, max_size=12),
)
def test_lengths_are_those_of_a_naive_search(training, asked):
    copies = Copies(corpus_of("\n".join(map(" ".join, training))))
    found = copies.look_up(" ".join(asked))
    assert found.lengths.tolist() == naive_lengths(training, asked)


def test_a_passage_says_where_it_stands():
    copies = Copies(corpus_of("\n".join(LINES)))
    found = copies.look_up("Then the old miller sang a song about the roof.")
    longest = found.longest
    assert longest is not None
    assert found.tokens[longest.start : longest.stop] == (
        "old",
        "miller",
        "sang",
        "a",
        "song",
        "about",
        "the",
    )
    [place] = copies.places(longest)
    assert (place.document, place.passage, place.after) == (0, "old miller sang a song about the", " sea.")
    assert place.before.strip() == "The"
    assert longest.stock is None


def test_a_passage_with_a_stock_phrase_says_so():
    rhyme = "spin , little wheel , and turn"
    copies = Copies(
        corpus_of("\n".join([f"he sang {rhyme} at dusk", *[f"{n} {rhyme} {n}" for n in "abcdef"]]))
    )
    longest = copies.look_up(f"he sang {rhyme} at noon").longest
    assert longest is not None
    assert longest.count == 1
    start, stop, count = longest.stock or (0, 0, 0)
    assert (stop - start, count) == (len(rhyme.split()), 7)


def test_the_threshold_holds_95_of_100_held_out_tokens():
    assert threshold_of([np.arange(1, 101)]) == 95
    assert threshold_of([]) is None


def text_of_many_lines(seed: int, lines: int) -> str:
    chance = np.random.default_rng(seed)
    return "\n".join(" ".join(chance.choice(list("abcdefghij"), size=20)) for _ in range(lines))


def test_copied_text_is_more_and_random_text_no_more_than_chance():
    corpus = text_corpus(text_of_many_lines(0, 400), tokenizer="words", documents="line", validation=0.2)
    copied = Copies(corpus)
    fresh = copied.compare(text_of_many_lines(1, 60).split("\n"))
    assert fresh.verdict == "alike"
    assert fresh.difference is not None
    stolen = copied.compare(list(corpus.training_documents)[:60])
    assert stolen.verdict == "more"
    assert stolen.share is not None
    assert stolen.share.value == 1.0
    assert "copies more" in stolen.sentence()
    assert fresh.curve()[0] == 1.0
    assert len(fresh.curve()) == len(fresh.curve(fresh.held_out))


def test_a_few_texts_give_no_verdict():
    corpus = text_corpus(text_of_many_lines(0, 400), tokenizer="words", documents="line", validation=0.2)
    found = Copies(corpus).compare(text_of_many_lines(1, FEWEST - 1).split("\n"))
    assert found.verdict is None
    assert found.share is not None
    assert found.share.interval is None
    assert "Too few texts" in found.sentence()


def test_nothing_held_out_gives_no_threshold():
    found = Copies(corpus_of("\n".join(LINES))).compare(["Rain fell on the roof."])
    assert found.threshold is None
    assert found.share is None
    assert found.verdict is None


def test_from_python(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("\n".join(LINES * 10))
    corpus = lmviz.load_corpus(path, documents="line")
    found = lmviz.copied(corpus, "Rain fell on the roof of the miller.")
    assert found.texts[0].longest is not None
    assert len(found.texts[0].longest) == 5
    run = lmviz.train("ngram", corpus, tmp_path / "run", order=2)
    again = lmviz.copied(run.folder, ["Rain fell on the roof of the miller."])
    assert np.array_equal(again.texts[0].lengths, found.texts[0].lengths)
    with pytest.raises(lmviz.LmvizError, match="no text"):
        lmviz.copied(corpus, " ")
