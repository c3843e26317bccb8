"""Clips of an SVG: Qt writes none that can be relied on, so a painter writes words where one begins and ends.

They are told from all that a stranger may have written by a word that no one else knows.
"""

from __future__ import annotations

import re
from secrets import token_hex

from PySide6.QtCore import QRectF

_WORD = token_hex(16)
END = f"{_WORD} end"
"""What stands where a clip ends."""

_MARK = re.compile(rf"<text\b[^>]*>\s*{_WORD} ([^<]*?)\s*</text>|<g\b[^>]*>")
_MATRIX = re.compile(r'transform="[^"]*"')


def begin(area: QRectF) -> str:
    """What stands where a clip to an area begins."""
    return f"{_WORD} {area.x():g} {area.y():g} {area.width():g} {area.height():g}"


def with_clips(svg: str) -> str:
    """An SVG as Qt writes it, its groups beside one another, with clips in the place of these words."""
    group, number = "", 0

    def put(found: re.Match[str]) -> str:
        nonlocal group, number
        said = found[1]
        if said is None:
            group = found[0]
            return group
        if said == "end":
            return f"</g></g>{group}"
        number += 1
        x, y, width, height = said.split()
        matrix = _MATRIX.search(group)
        area = f'x="{x}" y="{y}" width="{width}" height="{height}" {matrix[0] if matrix else ""}'
        clip = f'<clipPath id="clip{number}"><rect {area}/></clipPath>'
        return f'</g>{clip}<g clip-path="url(#clip{number})">{group}'

    return _MARK.sub(put, svg)
