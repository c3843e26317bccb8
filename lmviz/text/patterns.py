"""Patterns of strangers' tokenizers: one that looks back without bound is refused before it reads a text.

The library tries again whatever a pattern leaves open, up to ten million times at each character, and nothing
can interrupt it: `(a+)+$` takes a second for forty letters, and ends in a panic. What can double the tries
with each character is seen in the pattern; what takes the square of them is measured.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from lmviz.base.errors import LmvizError

LONGEST = 20_000
"""Characters of a pattern; those of published models have some hundred."""

PROBE = 1000
"""Characters that are all the same, which a pattern reads on trial."""

LONGEST_TRIAL = 0.5
"""Seconds of a core for all of that; those of published models take some hundredths."""

SAMPLES = " \n\t'aZé1٣中あ가.-_#@/|😀\u0301\u00a0\u200b"
"""A character of each kind, which a class may mean without naming it."""

_AGAIN = re.compile(r"[*+]|\{\d+,\}|\{\d*,?\d{3,}\}")
_QUANTIFIER = re.compile(r"[*+?]|\{\d*,?\d*\}")
_FIXED = re.compile(r"\{\d+\}")
_BACK = re.compile(r"\\(?:[1-9]|[kg]<)|\(\?(?:[R&1-9(]|P[=>])")
_OPENING = re.compile(r"\((?:\?(?:[imsx-]*:|[=!>]|<[=!]|P?<\w+>|[imsx-]*(?=\))))?")


def check_patterns(description: Any) -> None:
    """Raise LmvizError, in a few words, where a pattern of a tokenizer.json could take very long."""
    for pattern in _patterns(description):
        if len(pattern) > LONGEST or _BACK.search(pattern.replace("\\\\", "")) or _doubles(pattern):
            raise LmvizError("a pattern of it looks back without bound")
        if _takes_long(pattern):
            raise LmvizError("a pattern of it takes too long")


def _patterns(value: Any) -> Iterator[str]:
    """The patterns that lie in a value."""
    if isinstance(value, dict):
        if isinstance(found := value.get("Regex"), str):
            yield found
        for name, part in value.items():
            if name not in ("vocab", "merges", "added_tokens"):
                yield from _patterns(part)
    elif isinstance(value, list):
        for part in value:
            yield from _patterns(part)


def _doubles(pattern: str) -> bool:
    """Whether a group is repeated in which something is repeated, or is one thing or another."""
    is_open = [False]  # for each group around: whether there is more than one way to match it
    place = 0
    while place < len(pattern):
        sign = pattern[place]
        was_open = False
        if sign == "\\":
            place += 2
            if pattern[place - 1 : place] in ("p", "P") and pattern[place : place + 1] == "{":
                place = pattern.find("}", place) + 1 or len(pattern)
        elif sign == "[":
            place = _end_of_class(pattern, place)
        elif sign == "(":
            opening = _OPENING.match(pattern, place)
            place = opening.end() if opening else place + 1
            is_open.append(False)
            continue
        elif sign == ")":
            was_open = is_open.pop() if len(is_open) > 1 else False
            place += 1
        elif sign == "|":
            is_open[-1] = True
            place += 1
            continue
        else:
            place += 1
        found = _QUANTIFIER.match(pattern, place)
        if found:
            if _AGAIN.match(pattern, place) and was_open:
                return True
            place = found.end()
            after = _QUANTIFIER.match(pattern, place)
            if after and (found[0].startswith("{") or after[0] not in "?+"):
                return True  # a repetition of a repetition
            place = after.end() if after else place
        is_open[-1] = is_open[-1] or was_open or (found is not None and not _FIXED.fullmatch(found[0]))
    return False


def _end_of_class(pattern: str, place: int) -> int:
    """Where a class ends that begins here; classes may lie in classes."""
    depth = 0
    while place < len(pattern):
        sign = pattern[place]
        if sign == "\\":
            place += 1
        elif sign == "[":
            depth += 1
            if pattern[place + 1 : place + 2] == "^":
                place += 1
            if pattern[place + 1 : place + 2] == "]":
                place += 1
        elif sign == "]":
            depth -= 1
            if not depth:
                return place + 1
        place += 1
    return place


@lru_cache(maxsize=64)
def _takes_long(pattern: str) -> bool:
    """Whether some hundred times the same character take too long; no where it is no pattern."""
    from tokenizers import Regex
    from tokenizers.pre_tokenizers import Split

    try:
        split = Split(Regex(pattern), "isolated")
    except Exception:  # which the library says itself
        return False
    named = sorted(set(pattern[:200]))
    ends = ("", "".join(named), "\n" + "".join(reversed(named)))  # the library may see that an end is missing
    began = time.thread_time()
    for sign in sorted({*SAMPLES, *named}):
        for end in ends:
            try:
                split.pre_tokenize_str(sign * PROBE + end)
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException:  # a panic of the library: it has tried too often
                return True
            if time.thread_time() - began > LONGEST_TRIAL:
                return True
    return False
