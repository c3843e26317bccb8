"""What the distributions of models with different tokenizers have in common.

Models that cut text into the same tokens are compared token by token, and so are two vocabularies of
words, or of characters, by how their tokens are written. Otherwise each token counts as the beginning
of what it would append to the text: white space and the first visible character after it, or, as soon
as one of the models writes single characters, the first character alone. That is a distribution which
every model really has, if a coarse one.
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

    `by` says what the units are: "token" or "beginning".
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
    appended = tokenizer.continue_text(_AFTER, id)[len(_AFTER) :]
    if not appended:
        return token  # START and END append nothing and stand for themselves
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
