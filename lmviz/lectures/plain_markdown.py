"""The Markdown of a lesson as plain paragraphs, for where it is shown without its type."""

from __future__ import annotations

import re

_IMAGE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_EMPHASIS = re.compile(r"(\*\*|__|\*|`)(?=\S)(.+?)(?<=\S)\1")
_MARK = re.compile(r"^(?:#+\s+|>\s?)")
_BULLET = re.compile(r"^[-*+]\s+")


def paragraphs_of(markdown: str) -> tuple[str, ...]:
    """The paragraphs, and each point of a list as one; emphasis, links and pictures are their words."""
    found: list[str] = []
    for block in re.split(r"\n\s*\n", markdown.strip()):
        lines: list[str] = []
        for line in block.splitlines():
            bare = _MARK.sub("", line.strip())
            if _BULLET.match(bare) or not lines:
                lines.append(_BULLET.sub("• ", bare))
            else:
                lines[-1] += f" {bare}"
        found += lines
    return tuple(said for said in map(_plain, found) if said)


def _plain(text: str) -> str:
    text = _LINK.sub(r"\1", _IMAGE.sub(r"\1", text))
    before = ""
    while before != text:
        before, text = text, _EMPHASIS.sub(r"\2", text)
    return text.strip()
