"""Special tokens of a stranger's vocabulary: those that say where texts begin and end, and who speaks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class SpecialTokens:
    """What a folder of another program says of its special tokens.

    `start` is the id that it calls the beginning of a text, `ends` are all ids at which a text ends, and
    `padding` is the id that fills rows up and is no text. `chat_template` makes one text of the turns of a
    chat (Jinja). None, or empty, where the folder does not say. With `are_split`, those in a text are spelled
    out always.
    """

    start: int | None = None
    ends: tuple[int, ...] = ()
    padding: int | None = None
    chat_template: str | None = None
    are_split: bool = False


def spellings_pattern(spellings: Iterable[str], lower_case: bool) -> re.Pattern[str] | None:
    """What finds one of these in a text; None where there are none."""
    longest_first = sorted(filter(None, spellings), key=len, reverse=True)
    if not longest_first:
        return None
    return re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE if lower_case else 0)
