"""Maps characters to ids with one table lookup each, so that a whole corpus is encoded quickly.

The result is exactly that of the Hugging Face tokenizer for one-character words; a test compares
the two.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import cache

import numpy as np

CASELESS = 0x20000
"""The code point from which on Unicode has no letters of two cases."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """The text with U+FFFD for each lone surrogate, which no encoding of Unicode can write."""
    return _SURROGATE.sub("\ufffd", text)


@cache
def _lower_case() -> np.ndarray:
    """(code point,) int32: each code point in lower case, one by one as the `tokenizers` library does.

    Python's own `str.lower` looks at the neighbours of a Greek sigma.
    """
    lower = np.arange(sys.maxunicode + 1, dtype=np.int32)
    lower[:CASELESS] = [ord(chr(code).lower()[0]) for code in range(CASELESS)]
    return lower


def expand_case(text: str, lower_case: bool) -> str:
    """The text, with the only letter written out whose lower case takes two code points."""
    return text.replace("İ", "i\u0307") if lower_case else text


def code_points(text: str, lower_case: bool = False) -> np.ndarray:
    """The code points of an expanded text, (character,) integers; in lower case by choice."""
    codes = np.frombuffer(text.encode("utf-32-le"), dtype="<u4")
    return _lower_case()[codes] if lower_case else codes


class CharacterTable:
    """Ids by code point, for a vocabulary whose entries are single characters."""

    def __init__(self, vocabulary: Mapping[str, int], unknown_id: int, lower_case: bool) -> None:
        singles = {ord(entry): index for entry, index in vocabulary.items() if len(entry) == 1}
        self._lower_case = lower_case
        self._ids = np.full(max(singles, default=0) + 2, unknown_id, dtype=np.int64)
        for code, index in singles.items():
            self._ids[code] = index

    def encode(self, text: str) -> np.ndarray:
        """The ids of an expanded text, (character,) int64."""
        codes = code_points(text, self._lower_case)
        return self._ids[np.minimum(codes, len(self._ids) - 1)]
