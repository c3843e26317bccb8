"""What it costs to spell a word that a vocabulary lacks, so that an unknown word is not predicted for free.

A model of words that predicts ⟨unknown⟩ has not said which word came. As Brown et al. (1992, "An Estimate of
an Upper Bound for the Entropy of English") do, the word is then spelled out by a model of characters:

    p(spelling of w | unknown) = p(c₁) · … · p(cₙ) · p(end)        p(s) = (count(s) + 1) / (N + |A| + 2)

The counts are those of the characters in the words of the vocabulary, each word once, with one end for each
word; N is their sum, and A the set of those characters. The two further symbols of the alphabet are the end
and "another character", which stands for each of the other characters of Unicode with equal probability.
The one added to each count is Laplace's. The probability is a lower bound, since the words of the vocabulary
share in it although none of them can be meant.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from itertools import chain

from lmviz.text.segments import SEGMENTS
from lmviz.text.tokenizer import Tokenizer

UNICODE = 0x110000 - 0x800
"""How many characters Unicode has room for: its code points without the surrogates."""


class SpellingModel:
    """A model of characters for the words that a tokenizer does not know."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        special = {*tokenizer.special_ids, tokenizer.unknown_id}
        words = [word for id, word in enumerate(tokenizer.tokens()) if id not in special and word]
        self._lower_case = tokenizer.lower_case
        self._is_one_character = tokenizer.kind == "characters"
        self._counts = Counter(chain.from_iterable(words))
        self._words = len(words)

    def nats(self, word: str) -> float:
        """−log p of the spelling of a word that the vocabulary lacks, in nats.

        Where tokens are characters there is nothing to spell: it is one of those that the vocabulary lacks.
        """
        others = math.log(UNICODE - len(self._counts))
        if self._is_one_character:
            return others
        if self._lower_case:
            word = word.lower()
        total = math.log(self._counts.total() + self._words + len(self._counts) + 2)
        found = total - math.log(self._words + 1)
        for character in word:
            count = self._counts[character]
            found += total - math.log(count + 1) + (0.0 if count else others)
        return found


def unknown_words(texts: Iterable[str], tokenizer: Tokenizer) -> Counter[str]:
    """The words of the texts that a tokenizer does not know, as they are written, with their counts."""
    pieces: Counter[str] = Counter()
    for text in texts:
        if tokenizer.kind in SEGMENTS:
            pieces.update(SEGMENTS[tokenizer.kind].findall(text))
        else:
            pieces.update(text if tokenizer.kind == "characters" else [text])
    found: Counter[str] = Counter()
    for piece, count in pieces.items():
        encoding = tokenizer.encode_prefix(piece)
        for (start, end), is_unknown in zip(encoding.offsets, encoding.unknown, strict=True):
            if is_unknown:
                found[piece[start:end]] += count
    return found
