"""How wide a text is in a terminal, where some characters take two columns and some none."""

from __future__ import annotations

import unicodedata

from lmviz.base.plain_text import on_one_line

WIDE = ("W", "F")
MARKS = ("Mn", "Me", "Cf")


def width_of(text: str) -> int:
    """The columns that a text takes."""
    return len(text) if text.isascii() else sum(map(_width, text))


def shortened(text: str, most: int) -> str:
    """The text on one line, its controls to be seen, and an ellipsis where it would take more columns."""
    text = on_one_line(text)
    if width_of(text) <= most:
        return text
    kept, taken = [], 1
    for character in text:
        taken += _width(character)
        if taken > most:
            break
        kept.append(character)
    return "".join(kept) + "…" if most > 0 else ""


def filled(text: str, width: int, right: bool = False) -> str:
    """The text with blanks after it, or before it, up to a width."""
    blanks = " " * max(0, width - width_of(text))
    return blanks + text if right else text + blanks


def _width(character: str) -> int:
    if unicodedata.category(character) in MARKS:
        return 0
    return 2 if unicodedata.east_asian_width(character) in WIDE else 1
