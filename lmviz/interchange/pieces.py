"""Pieces of SentencePiece as the `tokenizers` library wants them: ids by spelling, and pairs in an order."""

from __future__ import annotations

from collections.abc import Sequence

SPACE = "▁"
"""What stands for a space in a piece."""

LONGEST_PIECE = 1000
"""Characters of a piece that pairs are looked for in: it takes as many tries, each of as many characters."""

FLAGS = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
"""How a token is found in a text: as it stands there."""


def vocabulary_of(tokens: Sequence[str]) -> dict[str, int]:
    """Ids by spelling; where a spelling is there twice, the first is meant."""
    return {token: index for index, token in reversed(list(enumerate(tokens)))}


def merges_of(vocabulary: dict[str, int], scores: Sequence[float]) -> list[tuple[str, str]]:
    """All pairs of pieces that make a piece of `LONGEST_PIECE`, those of the highest score first.

    SentencePiece joins the pair whose piece has the highest score; the library wants pairs in an order.
    """
    found = []
    for token, index in vocabulary.items():
        for place in range(1, len(token)) if len(token) <= LONGEST_PIECE else ():
            left, right = vocabulary.get(token[:place]), vocabulary.get(token[place:])
            if left is not None and right is not None:
                found.append((-scores[index], index, left, right, token[:place], token[place:]))
    return [(left, right) for *_, left, right in sorted(found)]
