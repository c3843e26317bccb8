"""Matching tap addresses with patterns such as "layers/*/hidden"."""

from __future__ import annotations

from fnmatch import fnmatchcase


def matches(address: str, pattern: str) -> bool:
    """Whether a pattern means an address, part by part between the slashes.

    In a part, `*` stands for any characters, `?` for one and `[01]` for one of some, so that
    "layers/*/hidden" is the state of each layer and not "layers/0/feedforward/hidden". A part `**` stands
    for any number of parts, and so does `*` where it is the first part: "*/hidden" means both, "*" all.
    """
    first, *rest = pattern.split("/")
    return _match(address.split("/"), ["**" if first == "*" else first, *rest])


def _match(parts: list[str], patterns: list[str]) -> bool:
    if not patterns:
        return not parts
    first, rest = patterns[0], patterns[1:]
    if first == "**":
        return any(_match(parts[skipped:], rest) for skipped in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], first) and _match(parts[1:], rest)
