"""Pairs with ||| between source and target, as fast_align and the phrase tables of Moses have them."""

from __future__ import annotations

import collections
import io
from collections.abc import Iterator

from lmviz.text.layout import Layout
from lmviz.text.table import Record

MARK = "|||"
FEWEST_LINES = 4
NEARLY = 0.95
"""The share of lines that have to have as many parts as most."""


def find_bar_pairs(lines: list[str], *, force: bool) -> Layout | None:
    """The layout of lines, each with something on it; None where they are no such pairs."""
    rows = list(map(_parts, lines))
    widths = collections.Counter(len(row) for row in rows if len(row) > 1)
    width = max(widths, key=lambda size: widths[size], default=2)
    good = sum(len(row) == width and all(row[:2]) for row in rows)
    if not force and good < max(FEWEST_LINES, NEARLY * len(rows)):
        return None
    further = [""] * (width - 2)
    return Layout("bars", "translation", ("source", "target", *further), {"source": 0, "target": 1})


def read_bar_pairs(data: bytes, layout: Layout) -> Iterator[Record]:
    """A source, ||| and its target on each line, and perhaps more of both."""
    width = len(layout.names)
    for number, line in enumerate(io.BytesIO(data), start=1):
        cells = _parts(line.decode("utf-8"))
        if len(cells) == width and all(cells[place] for place in layout.roles.values()):
            yield number, cells, ""
        elif any(cells):
            marks = f"{MARK}" if width == 2 else f"{width - 1} times {MARK}"
            yield number, cells, f"has not a source and a target with {marks} between them"


def _parts(line: str) -> list[str]:
    return [part.strip() for part in line.split(MARK)]
