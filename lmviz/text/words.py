"""Splits text into words, and joins words to text again.

A word is a run of letters, digits and marks, with apostrophes and hyphens inside; a number keeps its
points and commas; "..." and "--" are words, and so is every other sign and every end of line. In
scripts without spaces each character is a word. Spaces are dropped, and `Joiner` restores them by the
rules of English.
"""

from __future__ import annotations

import unicodedata

_SPACELESS = r"\p{Han}\p{Hiragana}\p{Katakana}"
_LETTERS = rf"(?:(?![{_SPACELESS}])\w)+"
WORD_PATTERN = rf"\d+(?:[.,:]\d+)+|{_LETTERS}(?:[-'’]{_LETTERS})*|\w|\n|\.\.\.|--|[^\w\s]"
"""One word, as a regular expression of the Oniguruma library inside `tokenizers`."""

SPACES = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""White space, inside the brackets of a regular expression, by its characters."""

SPACED_PATTERN = f"\n|[⟨⟩]|[^{SPACES}⟨⟩]+"
"""What stands between spaces, and each end of line: the words of a text whose words are parted already.

The brackets of the special tokens stand alone, so that none of these can come out of a text.
"""

PLAIN_SPACED_PATTERN = r"[^\t-\r ]+"
"""What stands between the spaces of ASCII, as KenLM cuts a line; a no-break space is part of a word."""

UNKNOWN_TEXT = "\ufffd"
"""How a word that is not in the vocabulary is written in running text."""

_CLOSING = frozenset(".,;:!?)]}%…’”»›、。，；：！？）」』")
_OPENING = frozenset("([{“‘„«‹¿¡$£€#@（「『")
_BINDING = frozenset(("--", "—", "/"))
_FIRST_SPACELESS = "\u3041"
"""The first character of such a script: a long text is joined anew with every token that is typed."""


def _is_spaceless(character: str) -> bool:
    """Whether the character's script writes without spaces; in doubt a space does no harm."""
    if character < _FIRST_SPACELESS:
        return False
    name = unicodedata.name(character, "")
    return name.startswith(("CJK UNIFIED", "HIRAGANA LETTER", "KATAKANA LETTER"))


class Joiner:
    """Adds word after word to a text and returns each time the characters to append.

    A space before a word is left out where glueing keeps both words whole and looks right: before
    a comma, after an opening bracket. Straight double quotes open and close in turn on each line.
    """

    def __init__(self, text: str = "") -> None:
        self._last = text[-1:]
        self._glued = self._last.isspace() or self._last in _OPENING or text.endswith(tuple(_BINDING))
        line = text[text.rfind("\n") + 1 :]
        self._quoted = line.count('"') % 2 == 1
        if self._last == '"':
            self._glued = self._quoted
        if self._last == "'":
            self._glued = not text[-2:-1].isalnum()

    def add(self, word: str) -> str:
        """The word with the space that it needs before it, or without."""
        space = "" if self._binds(word) else " "
        self._glued = self._opens(word, space)
        if word == "\n":
            self._quoted = False
        elif word == '"':
            self._quoted = not self._quoted
        self._last = word[-1:]
        return space + word

    def _binds(self, word: str) -> bool:
        """Whether the word is written without a space before it."""
        if not self._last or self._glued or word.isspace() or not word:
            return True
        if self._last == word[0] and word[0] in ".-":
            return False
        if word == '"':
            return self._quoted
        if word == "'":
            return self._last.isalnum()
        if word[0] in _CLOSING or word in _BINDING:
            return True
        return _is_spaceless(self._last) and _is_spaceless(word[0])

    def _opens(self, word: str, space: str) -> bool:
        """Whether the word that follows this one is written without a space."""
        if word == '"':
            return not self._quoted
        if word == "'":
            return bool(space) or not self._last.isalnum()
        return word.isspace() or word in _OPENING or word in _BINDING


def join_words(words: list[str]) -> str:
    """The words as running text."""
    joiner = Joiner()
    return "".join(joiner.add(word) for word in words)
