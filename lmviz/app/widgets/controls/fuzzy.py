"""Fuzzy search as in command palettes: the typed letters in order, at the best matching places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")

START_OF_WORD = 8
CONSECUTIVE = 9
GAP = 0.2


def fuzzy_match(wanted: str, text: str) -> tuple[float, tuple[int, ...]] | None:
    """How well `wanted` fits a text, larger is better, and which letters it takes; None if it does not.

    Letters at starts of words and letters in a row count most; the best way to place them is found by
    dynamic programming over the places of each letter.
    """
    letters = [letter.lower() for letter in wanted if not letter.isspace()]
    signs = [sign.lower() for sign in text]
    ways: dict[int, tuple[float, tuple[int, ...]]] = {-1: (0.0, ())}
    for letter in letters:
        ways = {
            place: max(
                (_step(signs, previous, place) + score, (*taken, place))
                for previous, (score, taken) in ways.items()
                if previous < place
            )
            for place, sign in enumerate(signs)
            if sign == letter and any(previous < place for previous in ways)
        }
        if not ways:
            return None
    return max(ways.values())


def _step(signs: Sequence[str], previous: int, place: int) -> float:
    score = 1.0 - GAP * min(place - previous - 1, 10)
    if place == 0 or not signs[place - 1].isalnum():
        score += START_OF_WORD
    if place == previous + 1 and previous >= 0:
        score += CONSECUTIVE
    return score


def fuzzy_search(
    wanted: str,
    items: Sequence[T],
    text: Callable[[T], str],
    other_words: Callable[[T], str] | None = None,
) -> list[tuple[T, tuple[int, ...]]]:
    """The items whose text fits, best first (in their own order where equal), with the letters taken.

    An item is also found by `other_words` that mean it, where what is wanted stands in them as it is: letters
    picked out of words that nobody sees would fit anything.
    """
    found = []
    for item in items:
        match = fuzzy_match(wanted, text(item))
        if other_words is not None and wanted.strip():
            named = _match_at_start(wanted, other_words(item))
            if named is not None and (match is None or named > match[0]):
                match = named, ()
        if match is not None:
            found.append((item, match))
    found.sort(key=lambda pair: -pair[1][0])
    return [(item, taken) for item, (_, taken) in found]


def _match_at_start(wanted: str, words: str) -> float | None:
    """How well a word fits that begins as wanted, a little less than in plain sight; None if none does."""
    wanted, words = wanted.strip().casefold(), f" {words.casefold()}"
    if f" {wanted}" not in words:
        return None
    match = fuzzy_match(wanted, wanted)
    return None if match is None else match[0] - 1
