"""Common units in which models with different tokenizers can be compared.

Models with the same tokens are compared token by token; two vocabularies of words, or of characters, by the
spelling of their tokens. Otherwise each token counts as the beginning of the text it would append: white
space and the first visible character after it, or, if one of the models has single characters as tokens,
the first character only. Each model has an exact distribution over these units, but they are coarse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lmviz.text.tokenizer import Tokenizer

_AFTER = "a"
"""The text to whose end tokens are appended, to see what they append: as in the middle of a sentence."""


@dataclass(frozen=True, eq=False)
class SharedUnits:
    """Names of units, and for each tokenizer the unit (token,) of each of its ids.

    `by` says what the units are: "token", "beginning" or "label".
    """

    by: str
    names: tuple[str, ...]
    indices: tuple[np.ndarray, ...]

    def share(self, which: int, probabilities: np.ndarray) -> np.ndarray:
        """Probabilities by id (token,) of one of the tokenizers as shares of the units, (unit,)."""
        return np.bincount(self.indices[which], weights=probabilities, minlength=len(self.names))


def shared_units(tokenizers: Sequence[Tokenizer]) -> SharedUnits:
    """The units in which distributions over these tokenizers' vocabularies can be compared."""
    kinds = {tokenizer.kind for tokenizer in tokenizers}
    vocabularies = [tokenizer.tokens() for tokenizer in tokenizers]
    alike = all(tokens == vocabularies[0] for tokens in vocabularies)
    if alike or kinds in ({"words"}, {"characters"}):
        return _united("token", vocabularies)
    single = "characters" in kinds
    return _united("beginning", [_beginnings(tokenizer, single) for tokenizer in tokenizers])


def shared_labels(names: Sequence[Sequence[str]]) -> SharedUnits:
    """The labels of several models, each by its name, wherever it stands in theirs."""
    return _united("label", names)


def _united(by: str, written: Sequence[Sequence[str]]) -> SharedUnits:
    number: dict[str, int] = {}
    indices = tuple(
        np.array([number.setdefault(name, len(number)) for name in names], dtype=np.int64)
        for names in written
    )
    return SharedUnits(by, tuple(number), indices)


def _beginnings(tokenizer: Tokenizer, single: bool) -> list[str]:
    return [_beginning(tokenizer, id, token, single) for id, token in enumerate(tokenizer.tokens())]


def _beginning(tokenizer: Tokenizer, id: int, token: str, single: bool) -> str:
    if id in tokenizer.special_ids:
        return token  # START, END and their like stand for themselves
    appended = tokenizer.continue_text(_AFTER, id)[len(_AFTER) :]
    if not appended:
        return token
    visible = len(appended) - len(appended.lstrip())
    return appended[:1] if single else appended[: visible + 1]


def ids_by_word(tokenizer: Tokenizer) -> dict[str, int]:
    """The id that stands for each word, however the tokenizer writes the space before it.

    Where a word is there both with a space and without, the one with the space is taken.
    """
    found: dict[str, int] = {}
    for id, token in enumerate(tokenizer.tokens()):
        word = bare_word(token)
        if word not in found or token != word:
            found[word] = id
    return found


def bare_word(token: str) -> str:
    """A token without the space before or after it; one of white space alone stays what it is."""
    return token.strip(" ") or token
