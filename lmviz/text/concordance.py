"""Counts what follows a phrase in the training part, and lists the places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lmviz.text.corpus import Corpus
from lmviz.text.stretch import Stretches

_STEP = 1 << 20  # ids compared at a time, so that a memory-mapped corpus stays on the disk
_AROUND = {"characters": 60, "bpe": 20}  # tokens shown on either side of a match
_WORDS_AROUND = 12


@dataclass(frozen=True)
class NextWord:
    """A token that follows the phrase; `share` is its count divided by all of them."""

    id: int
    token: str
    count: int
    share: float


@dataclass(frozen=True)
class Occurrence:
    """One match: the text before it, itself, the token that follows, and the text after that.

    The texts are those of the file, with the words that the vocabulary lacks. `position` is the place of the
    match's first token in the training stream.
    """

    before: str
    match: str
    after: str
    token: str
    position: int


@dataclass(frozen=True)
class Concordance:
    """The words that follow a phrase, the most frequent first, and the first of its places."""

    words: tuple[NextWord, ...]
    places: tuple[Occurrence, ...]
    total: int


def concordance(corpus: Corpus, phrase: str, limit: int = 200) -> Concordance:
    """Look a phrase up in the training part, and count the tokens that come next.

    These are the counts from which an n-gram model is estimated. At most `limit` places are told in
    full; `words` and `total` count all of them. An empty phrase, or one with a word that is not in
    the vocabulary, is found nowhere.
    """
    return _look_up(corpus, _spellings(corpus, phrase), limit)


def concordance_of_ids(corpus: Corpus, ids: np.ndarray, limit: int = 200) -> Concordance:
    """The same for token ids (token,), such as the context that an n-gram model matched."""
    return _look_up(corpus, [np.asarray(ids)] if len(ids) else [], limit)


def _look_up(corpus: Corpus, spellings: list[np.ndarray], limit: int) -> Concordance:
    found = [_find(corpus, ids) for ids in spellings]
    sizes = [len(matches) for matches in found]
    lengths = np.repeat(np.array([len(ids) for ids in spellings], dtype=np.int64), sizes)
    places = np.concatenate([np.zeros(0, dtype=np.int64), *found])
    followers = corpus.training[places + lengths]
    order = np.argsort(places)[:limit]
    stretches = Stretches(corpus.training_stream)
    return Concordance(
        words=_count(corpus, followers),
        places=tuple(_place(corpus, stretches, int(places[n]), int(lengths[n])) for n in order),
        total=len(places),
    )


def _count(corpus: Corpus, followers: np.ndarray) -> tuple[NextWord, ...]:
    ids, counts = np.unique(followers, return_counts=True)
    return tuple(
        NextWord(
            id=int(ids[n]),
            token=corpus.tokenizer.token(int(ids[n])),
            count=int(counts[n]),
            share=int(counts[n]) / len(followers),
        )
        for n in np.lexsort((ids, -counts))
    )


def _spellings(corpus: Corpus, phrase: str) -> list[np.ndarray]:
    """The ids to look for; byte pairs write a word in one way after a space and in another without."""
    texts = [phrase, f" {phrase}"] if corpus.tokenizer.kind == "bpe" and phrase.strip() else [phrase]
    spellings = [corpus.tokenizer.encode(text) for text in texts]
    return [ids for ids in spellings if len(ids) and corpus.tokenizer.unknown_id not in ids]


def _find(corpus: Corpus, phrase: np.ndarray) -> np.ndarray:
    """The places where the phrase occurs with a token after it, (match,) int64, ascending."""
    stream = corpus.training
    rarest = int(np.argmin(corpus.statistics().counts[phrase]))
    last = len(stream) - len(phrase)
    candidates = np.concatenate(
        [
            start + np.flatnonzero(stream[start : start + _STEP] == phrase[rarest])
            for start in range(0, len(stream), _STEP)
        ]
    )
    candidates = candidates - rarest
    candidates = candidates[(candidates >= 0) & (candidates < last)]
    for offset, wanted in enumerate(phrase):
        candidates = candidates[stream[candidates + offset] == wanted]
    examples = corpus.training_examples
    if examples is not None:  # the token after it is of the same one
        ends = examples.source.starts[np.searchsorted(examples.source.starts, candidates, side="right")]
        candidates = candidates[candidates + len(phrase) < ends]
    return candidates


def _place(corpus: Corpus, stretches: Stretches, position: int, length: int) -> Occurrence:
    stream = corpus.training_stream
    around = _AROUND.get(corpus.tokenizer.kind, _WORDS_AROUND)
    next_one = position + length
    number = int(np.searchsorted(stream.starts, position, side="right"))
    first = max(position - around, int(stream.starts[number - 1]) + stream.front)
    found = stretches.at(first, min(next_one + 1 + around, int(stream.starts[number])))
    begin, next_one = position - first, next_one - first
    starts, ends = zip(*found.places, strict=True)
    return Occurrence(
        before=found.text[: min(ends[begin - 1], starts[begin]) if begin else 0],
        match=found.written(begin, next_one),
        after=found.text[starts[next_one + 1] if next_one + 1 < len(starts) else len(found.text) :],
        token=found.tokens[next_one],
        position=position,
    )
