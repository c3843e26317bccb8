"""The words by which what a model wrote is compared with what was wanted."""

from __future__ import annotations

from collections.abc import Hashable

from lmviz.text.tokenizer import Tokenizer
from lmviz.text.words import UNKNOWN_TEXT


def compared_words(text: str, tokenizer: Tokenizer) -> tuple[Hashable, ...]:
    """The words of a text as a tokenizer cuts it.

    A word that its vocabulary lacks is itself, as it is written. What a model wrote as unknown, U+FFFD, may
    be any word, so it is like no other, not even like another of its kind.
    """
    found = tokenizer.encode_prefix(text)
    words: list[Hashable] = []
    for token, (start, end), is_unknown in zip(found.tokens, found.offsets, found.unknown, strict=True):
        if end > start:  # START stands for no part of the text
            written = text[start:end]
            word = (written.lower() if tokenizer.lower_case else written) if is_unknown else token
            words.append(object() if UNKNOWN_TEXT in written else word)
    return tuple(words)
