"""What is handed out as data, from which `lmviz.pages` lays out the pages of a PDF.

Words stay words: nothing in them is markup to what reads this. Sizes are in points.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from PySide6.QtWidgets import QApplication

from lmviz.app.look.typefaces import TEXT_FAMILIES
from lmviz.app.widgets.text.document_blocks import blocks_of
from lmviz.app.widgets.text.printed import (
    LONGEST,
    OWN_LANGUAGE,
    Printed,
    PrintedDrawing,
    PrintedPart,
    rows_of,
    words_of,
)
from lmviz.base.plain_text import on_one_line, seen

WIDTH = 595.28 - 2 * 52  # of the text, on A4
HIGHEST = 0.32 * 841.89  # a row of drawings
LARGEST = 0.6  # a pixel of a drawing: its type is then as large as that of the text
BETWEEN = 10.0  # two drawings side by side
UNTITLED = "Handout"
LEVEL = 2  # of the title of a part

_FAMILIES = (*TEXT_FAMILIES, "Arial")
"""What is set where a typeface is not found: Typst knows no kinds of them, such as sans-serif."""
_KINDS = {', sans-serif"': f', {", ".join(_FAMILIES)}"', ', monospace"': ', DejaVu Sans Mono"'}

_LONG_WORD = re.compile(r"\S{30,}")
_PIECE = 10
_BREAK = "\u200b"
"""Where a line may end within a word: one without a space would leave the page."""


def document_of(printed: Printed) -> dict[str, Any]:
    """All of it."""
    return {
        "title": on_one_line(printed.title[:LONGEST]) or UNTITLED,
        "about": _said(printed.about),
        "families": [QApplication.font().family(), *_FAMILIES],
        "parts": [_part(part, printed.language) for part in printed.parts],
        **_language(printed.language),
    }


def _part(part: PrintedPart, around: str) -> dict[str, Any]:
    title = _said(on_one_line(part.title[:LONGEST]))
    return {
        "title": title,
        "rows": [_row(row, title) for row in rows_of(part.drawings)],
        "caption": _said(part.caption),
        "words": blocks_of(words_of(part.words), LEVEL, breakable) if part.words else [],
        "tasks": [*map(_said, part.tasks)],
        "question": _said(part.question),
        "choices": [*map(_said, part.choices)],
        "lines": part.lines,
        "answer": _said(part.answer),
        "because": _said(part.because),
        **_language(part.language or around),
    }


def _row(drawings: Sequence[PrintedDrawing], title: str) -> list[dict[str, Any]]:
    """Drawings side by side, equally high; their frames are together as wide as the text."""
    many = len(drawings)
    room, aspects = WIDTH - BETWEEN * (many - 1), sum(each.aspect for each in drawings)
    high = min(room / aspects, HIGHEST, LARGEST * max(each.height for each in drawings))
    beside = max(0.0, room - high * aspects) / many
    return [
        {
            "svg": _in_families(each.svg.decode()),
            "width": high * each.aspect,
            "height": high,
            "frame": high * each.aspect + beside,
            "alt": on_one_line(each.said[:LONGEST]) or f"What is drawn of {title}",
        }
        for each in drawings
    ]


def _in_families(svg: str) -> str:
    for kind, families in _KINDS.items():
        svg = svg.replace(kind, families)
    return svg


def _language(tag: str) -> dict[str, str | None]:
    """A tag of BCP 47 as far as a PDF of Typst's says it: the language and the country."""
    language, *rest = (tag or OWN_LANGUAGE).split("-")
    region = next((each.lower() for each in rest if len(each) == 2 and each.isalpha()), None)
    return {"lang": language.lower(), "region": region}


def _said(text: str) -> str:
    return breakable(seen(text[:LONGEST]))


def breakable(text: str) -> str:
    """A text in whose longest words a line may end."""
    return _LONG_WORD.sub(_with_breaks, text)


def _with_breaks(word: re.Match[str]) -> str:
    return _BREAK.join(word[0][place : place + _PIECE] for place in range(0, len(word[0]), _PIECE))
