"""Texts from anywhere, made fit to be shown: nothing in them is invisible, or moves what stands around it."""

from __future__ import annotations

import re
import unicodedata

_INVISIBLE = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Categories of Unicode: controls, formats such as U+202E, which turns the direction of what follows, halves
of surrogates, and separators of lines."""

_PREPENDED = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u08e2"
"""Formats that are drawn."""

_JOINERS = "\u200c\u200d"
"""Without them Persian words and some emoji are written wrongly; between Latin letters they only hide."""

_BREAKS = re.compile(r"[\t\n\v\f\r\x1c-\x1f\x85\u2028\u2029]+")


def seen(text: str) -> str:
    """The text with its invisible controls to be seen, as ⟨U+202E⟩; line breaks and tabs stay."""
    if text.isprintable():
        return text
    return "".join(map(_sign, text, f"\0{text}"))


def on_one_line(text: str) -> str:
    """The text with its controls to be seen, and a space for what breaks lines."""
    return text if text.isprintable() else seen(_BREAKS.sub(" ", text).strip())


def _sign(character: str, before: str) -> str:
    if character in "\n\t" or unicodedata.category(character) not in _INVISIBLE:
        return character
    if character in _PREPENDED or (character in _JOINERS and before > "\x7f"):
        return character
    return "␍" if character == "\r" else f"⟨U+{ord(character):04X}⟩"
