"""A place where a phrase occurs in a text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class OccurrenceLine:
    """One place: the text before the phrase, the phrase, the word after it, and the text that follows."""

    before: str
    match: str
    word: str
    after: str
