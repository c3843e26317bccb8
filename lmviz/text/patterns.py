"""Patterns of strangers' tokenizers: one that looks back without bound is refused before it reads a text.

The library tries again whatever a pattern leaves open, up to ten million times at each character, and nothing
can interrupt it: `(a+)+$` takes a second for forty letters, and ends in a panic. What can double the tries
with each character is seen in the pattern; what takes the square of them is measured.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from lmviz.base.errors import LmvizError

LONGEST = 20_000
"""Characters of a pattern; those of published models have some hundred."""

NAMED = 200
"""Characters at the beginning of a pattern that are tried."""

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


def check_patterns(description: Any, known: Collection[str] = ()) -> None:
    """Raise LmvizError, in a few words, where a pattern of a tokenizer.json could take very long.

    Those that are `known` are not tried.
    """
    for pattern in _patterns(description):
        if pattern in known:
            continue
        try:
            is_doubtful = _repeats_what_repeats(pattern[:LONGEST])
        except _Endless:
            is_doubtful = None
        if is_doubtful is None or len(pattern) > LONGEST or _BACK.search(pattern.replace("\\\\", "")):
            raise LmvizError("a pattern of it looks back without bound")
        if _takes_long(pattern, is_doubtful):
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


@dataclass
class _Group:
    """What is known of a group so far: whether there is more than one way to match what stands in it, whether
    it is one thing or another, and whether it begins with one character, as after a sign that separates."""

    is_open: bool = False
    has_choice: bool = False
    begins_with_one: bool | None = None


class _Endless(Exception):
    """A pattern whose tries could double with each character."""


def _repeats_what_repeats(pattern: str) -> bool:
    """Whether a group is repeated in which something is repeated after its first character.

    `_Endless` where nothing tells one round from the next.
    """
    groups, place, found = [_Group()], 0, False
    while place < len(pattern):
        sign, inner, is_one = pattern[place], _Group(), True
        if sign == "\\":
            place += 2
            if pattern[place - 1 : place] in ("p", "P") and pattern[place : place + 1] == "{":
                place = pattern.find("}", place) + 1 or len(pattern)
        elif sign == "[":
            place = _end_of_class(pattern, place)
        elif sign == "(":
            opening = _OPENING.match(pattern, place)
            place = opening.end() if opening else place + 1
            groups.append(_Group())
            continue
        elif sign == ")":
            is_one = False
            inner = groups.pop() if len(groups) > 1 else inner
            place += 1
        elif sign == "|":
            groups[-1].has_choice = groups[-1].is_open = True
            place += 1
            continue
        else:
            place += 1
        quantifier = _QUANTIFIER.match(pattern, place)
        if quantifier:
            if _AGAIN.match(pattern, place) and inner.is_open:
                if inner.has_choice or not inner.begins_with_one:
                    raise _Endless
                found = True
            place = quantifier.end()
            after = _QUANTIFIER.match(pattern, place)
            if after and (quantifier[0].startswith("{") or after[0] not in "?+"):
                raise _Endless  # a repetition of a repetition
            place = after.end() if after else place
        is_fixed = quantifier is None or _FIXED.fullmatch(quantifier[0]) is not None
        around = groups[-1]
        around.is_open = around.is_open or inner.is_open or not is_fixed
        if around.begins_with_one is None:
            around.begins_with_one = is_one and quantifier is None
    return found


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
def _takes_long(pattern: str, with_pairs: bool) -> bool:
    """Whether the same characters again and again take too long; no where it is no pattern.

    `with_pairs` tries two and three characters as well that stand side by side in the pattern.
    """
    from tokenizers import Regex
    from tokenizers.pre_tokenizers import Split

    try:
        split = Split(Regex(pattern), "isolated")
    except Exception:  # which the library says itself
        return False
    named = sorted(set(pattern[:NAMED]))
    ends = ("", "".join(named), "\n" + "".join(reversed(named)))  # the library may see that an end is missing
    signs = {*SAMPLES, *named}
    if with_pairs:
        plain = re.sub(r"[][\\()?:+*|^$]", "", pattern[:NAMED])
        signs |= {plain[at : at + length] for length in (2, 3) for at in range(len(plain))}
    began, longest = time.thread_time(), LONGEST_TRIAL * (4 if with_pairs else 1)
    for sign in sorted(signs):
        for end in ends:
            try:
                split.pre_tokenize_str((sign * PROBE)[:PROBE] + end)
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException:  # a panic of the library: it has tried too often
                return True
            if time.thread_time() - began > longest:
                return True
    return False
