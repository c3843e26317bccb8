"""What a reader can know of the tags of a text, by how much of each sentence it sees.

A reader that gives each word a tag of its own, and sees some context c of it, does best with the share of
each tag among all words with that context. It then pays H(tag | c) nats per tag, and is right as often as the
most frequent tag of its context. No model that sees no more can do better on the same text (Cover and Thomas
2006, section 2.2).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from lmviz.base.errors import LmvizError

Sentence = tuple[Sequence[str], Sequence[str], float]
"""Words, their tags, and how often or how likely the sentence is."""

READERS = ("word", "left", "both")
"""What is seen of a sentence: the word alone; all up to the word; all of it."""


@dataclass(frozen=True)
class BestReader:
    """The least nats per tag that a reader can pay, and the largest share of tags it can get right."""

    nats: float
    accuracy: float


def best_reader(sentences: Iterable[Sentence], sees: str) -> BestReader:
    """The best that a reader can do who sees so much of each sentence, over all words."""
    counts: dict[Hashable, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for words, tags, share in sentences:
        for place, tag in enumerate(tags):
            counts[_context(words, place, sees)][tag] += share
    total = sum(sum(of_tags.values()) for of_tags in counts.values())
    if not total:
        raise LmvizError("There is no tagged word: give at least one sentence.")
    nats = right = 0.0
    for of_tags in counts.values():
        seen = sum(of_tags.values())
        nats -= sum(share * math.log(share / seen) for share in of_tags.values() if share)
        right += max(of_tags.values())
    return BestReader(nats / total, right / total)


def _context(words: Sequence[str], place: int, sees: str) -> Hashable:
    if sees == "word":
        return words[place]
    if sees == "left":
        return tuple(words[: place + 1])
    if sees == "both":
        return tuple(words), place
    raise LmvizError(f"No reader sees {sees!r}: choose one of {', '.join(READERS)}.")
