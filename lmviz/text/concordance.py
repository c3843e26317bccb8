"""Counts what follows a phrase in the training part, and lists the places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lmviz.text.stream import Stream
from lmviz.text.stretch import Stretches
from lmviz.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    from lmviz.text.corpus import Corpus, Side

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


def concordance(corpus: Corpus, phrase: str, limit: int = 200, side: Side = "source") -> Concordance:
    """Look a phrase up in the training part, and count the tokens that come next; of pairs on one side.

    These are the counts from which an n-gram model is estimated. At most `limit` places are told in
    full; `words` and `total` count all of them. An empty phrase, or one with a word that is not in
    the vocabulary, is found nowhere.
    """
    return _look_up(corpus, _spellings(corpus.tokenizer_of(side), phrase), limit, side)


def concordance_of_ids(corpus: Corpus, ids: np.ndarray, limit: int = 200) -> Concordance:
    """The same for token ids (token,), such as the context that an n-gram model matched."""
    return _look_up(corpus, [np.asarray(ids)] if len(ids) else [], limit, "source")


def _look_up(corpus: Corpus, spellings: list[np.ndarray], limit: int, side: Side) -> Concordance:
    stream, tokenizer = corpus.training_of(side), corpus.tokenizer_of(side)
    counts, parted = corpus.statistics(side).counts, corpus.training_examples is not None
    found = [_find(stream, counts, ids, parted=parted) for ids in spellings]
    sizes = [len(matches) for matches in found]
    lengths = np.repeat(np.array([len(ids) for ids in spellings], dtype=np.int64), sizes)
    places = np.concatenate([np.zeros(0, dtype=np.int64), *found])
    followers = stream.ids[places + lengths]
    order = np.argsort(places)[:limit]
    stretches = Stretches(stream)
    return Concordance(
        words=_count(tokenizer, followers),
        places=tuple(_place(stream, tokenizer, stretches, int(places[n]), int(lengths[n])) for n in order),
        total=len(places),
    )


def _count(tokenizer: Tokenizer, followers: np.ndarray) -> tuple[NextWord, ...]:
    ids, counts = np.unique(followers, return_counts=True)
    return tuple(
        NextWord(
            id=int(ids[n]),
            token=tokenizer.token(int(ids[n])),
            count=int(counts[n]),
            share=int(counts[n]) / len(followers),
        )
        for n in np.lexsort((ids, -counts))
    )


def _spellings(tokenizer: Tokenizer, phrase: str) -> list[np.ndarray]:
    """The ids to look for; byte pairs write a word in one way after a space and in another without."""
    texts = [phrase, f" {phrase}"] if tokenizer.kind == "bpe" and phrase.strip() else [phrase]
    spellings = [tokenizer.encode(text) for text in texts]
    return [ids for ids in spellings if len(ids) and tokenizer.unknown_id not in ids]


def _find(of: Stream, counts: np.ndarray, phrase: np.ndarray, *, parted: bool) -> np.ndarray:
    """The places where the phrase occurs with a token after it, (match,) int64, ascending.

    `counts` are those of tokens (token,); where texts are `parted` the token after it is of the same one.
    """
    stream = of.ids
    rarest = int(np.argmin(counts[phrase]))
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
    if parted:
        ends = of.starts[np.searchsorted(of.starts, candidates, side="right")]
        candidates = candidates[candidates + len(phrase) < ends]
    return candidates


def _place(
    stream: Stream, tokenizer: Tokenizer, stretches: Stretches, position: int, length: int
) -> Occurrence:
    around = _AROUND.get(tokenizer.kind, _WORDS_AROUND)
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
