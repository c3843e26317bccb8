"""A look as one SVG picture, for where no script runs: on GitHub, in print, in a file of a notebook.

It is plainer than what the window paints and a page answers with, and shows the same numbers.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence

import numpy as np

from lmviz.base.figures import counted
from lmviz.base.plain_text import on_one_line
from lmviz.looks.look import Look
from lmviz.looks.palette import LIGHT, Palette
from lmviz.looks.parts import Bars, Curves, Firings, LookPart, Matrix, OneLine, Table, WordCurves, Words
from lmviz.showing.drawn_curves import draw_curves, draw_word_curves
from lmviz.showing.drawn_matrix import draw_matrix
from lmviz.showing.pieces import signed_share
from lmviz.showing.sheet import MARGIN, SIZE, SMALL, SvgSheet, fitted, length_of
from lmviz.showing.terminal import written

ROWS = 24
"""A table in a picture has at most so many rows."""

LINE, GAP = 20.0, 10.0
BAR, LONGEST_BAR = 84.0, 260.0
COLUMN_GAP = 18.0
NARROWEST = 90.0


def drawn(look: Look, palette: Palette = LIGHT) -> str:
    """The look as an SVG picture, on a surface of its own; what it says is read aloud as a title."""
    sheet = SvgSheet(palette)
    _head(sheet, look)
    if look.instead:
        _lines(sheet, look.instead, "muted_text")
    for part in look.parts:
        _draw(sheet, part)
    return sheet.svg(written(look).partition("\n")[0])


def _head(sheet: SvgSheet, look: Look) -> None:
    title, aside = on_one_line(look.title), on_one_line(look.aside)
    if not title and not aside:
        return
    sheet.y += SIZE
    beside = length_of(title, 14, "bold") + 24 + length_of(aside, SMALL) <= sheet.room
    sheet.text(MARGIN, sheet.y, fitted(title, sheet.room, 14, "bold"), size=14, face="bold")
    if aside and beside:
        sheet.text(sheet.width - MARGIN, sheet.y, aside, ink="muted_text", size=SMALL, anchor="end")
    elif aside:
        sheet.y += LINE
        sheet.text(MARGIN, sheet.y, fitted(aside, sheet.room, SMALL), ink="muted_text", size=SMALL)
    sheet.y += GAP


def _draw(sheet: SvgSheet, part: LookPart) -> None:
    if not part.shown:
        return
    draw = DRAWN.get(type(part))
    if draw is not None:
        draw(sheet, part)
        return
    for inner in part.inner:
        _draw(sheet, inner)


def _words(sheet: SvgSheet, part: Words) -> None:
    text = part.text if isinstance(part.text, str) else "".join(piece.text for piece in part.text)
    _lines(sheet, text, "muted_text" if part.role == "muted" else "text")


def _one_line(sheet: SvgSheet, part: OneLine) -> None:
    if part.text:
        sheet.y += LINE - 4
        sheet.text(MARGIN, sheet.y, fitted(part.text, sheet.room, SMALL), ink="muted_text", size=SMALL)
        sheet.y += GAP


def _lines(sheet: SvgSheet, text: str, ink: str) -> None:
    for line in textwrap.wrap(on_one_line(text), int(sheet.room / length_of("n"))):
        sheet.y += LINE - 2
        sheet.text(MARGIN, sheet.y, line, ink=ink)
    sheet.y += GAP


def _table(sheet: SvgSheet, part: Table) -> None:
    columns = list(part.columns)
    count = max((len(column.values) for column in columns), default=0)
    rows = range(min(count, ROWS))
    if not rows:
        return
    cells = [[column.write(column.values[row]) for row in rows] for column in columns]
    faces = ["mono" if column.tokens else "sans" for column in columns]
    natural = [
        max(length_of(column.title, SMALL), *(length_of(on_one_line(cell), SIZE, face) for cell in own))
        for column, own, face in zip(columns, cells, faces, strict=True)
    ]
    bars = [BAR + 8 if column.bar else 0.0 for column in columns]
    taken = sum(natural) + COLUMN_GAP * (len(columns) - 1)
    if taken + sum(bars) > sheet.room:  # numbers come before bars
        bars = [0.0] * len(bars)
    widths = [
        width + bar for width, bar in zip(_column_widths(natural, sheet.room - sum(bars)), bars, strict=True)
    ]
    has_titles = any(column.title.strip() for column in columns)
    top, x = sheet.y + (LINE - 4 if has_titles else 0), float(MARGIN)
    for column, own, face, width, bar in zip(columns, cells, faces, widths, bars, strict=True):
        if x + width > sheet.width - MARGIN + 1:
            break  # what does not fit is in the table of a page
        edge = x + width - bar if column.numeric else x
        anchor = "end" if column.numeric else "start"
        title = fitted(column.title, width, SMALL)
        sheet.text(edge, sheet.y + SMALL, title, ink="muted_text", size=SMALL, anchor=anchor)
        values = np.abs(np.asarray(column.values, dtype=float)) if column.numeric else np.zeros(count)
        most = column.largest if bar else 1.0
        for row, cell in enumerate(own):
            y = top + (row + 1) * LINE - 6
            sheet.text(edge, y, fitted(cell, width - bar, SIZE, face), face=face, anchor=anchor)
            if bar and np.isfinite(values[row]):
                ink = "fell" if float(column.values[row]) < 0 else "accent"
                sheet.box(edge + 8, y - 9, max(1.0, BAR * values[row] / most), 10, ink)
        x += width + COLUMN_GAP
    if has_titles:
        edges = np.array([[MARGIN, top + 1], [sheet.width - MARGIN, top + 1]])
        sheet.line(edges, "line")
    sheet.y = top + len(rows) * LINE
    _more(sheet, count - len(rows), "row")
    sheet.y += GAP


def _column_widths(natural: Sequence[float], room: float) -> list[float]:
    """The widths of columns, the widest made narrower until all fit."""
    found = list(natural)
    available = room - COLUMN_GAP * (len(found) - 1)
    while sum(found) > available and max(found) > NARROWEST:
        at = found.index(max(found))
        found[at] = max(NARROWEST, found[at] - max(1.0, sum(found) - available))
    return found


def _bars(sheet: SvgSheet, part: Bars) -> None:
    count = min(len(part.labels), ROWS)
    values = np.asarray(part.values, dtype=float)
    most = part.limit or float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    texts = part.texts if part.texts is not None else list(map(signed_share, values))
    labels = max((length_of(on_one_line(label), SIZE, "mono") for label in part.labels[:count]), default=0.0)
    labels = min(labels, sheet.room / 2)
    for bar in range(count):
        y = sheet.y + (bar + 1) * LINE - 6
        label = fitted(part.labels[bar], labels, SIZE, "mono")
        sheet.text(MARGIN + labels, y, label, face="mono", anchor="end")
        length = min(LONGEST_BAR, sheet.room - labels - 90) * min(1.0, abs(values[bar]) / most)
        ink = "fell" if values[bar] < 0 else "accent"
        if np.isfinite(length):
            sheet.box(MARGIN + labels + 10, y - 10, max(1.0, length), 12, ink, says=f"{label}: {texts[bar]}")
        sheet.text(
            MARGIN + labels + 18 + (length if np.isfinite(length) else 0), y, texts[bar], ink="muted_text"
        )
    sheet.y += count * LINE
    _more(sheet, len(part.labels) - count, "row")
    sheet.y += GAP


def _firings(sheet: SvgSheet, part: Firings) -> None:
    """The tokens that are meant below one another, and behind each token how strong it is."""
    lines = part.lines[:ROWS]
    said = max((length_of(on_one_line(line.said)) for line in lines), default=0.0)
    space, edge = length_of(" ", SIZE, "mono"), sheet.width - MARGIN - said - COLUMN_GAP
    middle = MARGIN + (edge - MARGIN) * 0.6
    for line in lines:
        sheet.y += LINE
        shown = [on_one_line(token) for token in line.tokens]
        lengths = [length_of(token, SIZE, "mono") for token in shown]
        x = middle - sum(length + space for length in lengths[: line.place])
        for place, (token, length) in enumerate(zip(shown, lengths, strict=True)):
            if x >= MARGIN and x + length <= edge:
                strength = float(line.strengths[place])
                if strength > 0:
                    sheet.box(x - 1, sheet.y - 12, length + 2, 16, "accent", opacity=0.5 * strength)
                sheet.text(
                    x, sheet.y, token, face="mono", ink="text" if place == line.place else "muted_text"
                )
            x += length + space
        sheet.text(sheet.width - MARGIN, sheet.y, line.said, ink="muted_text", anchor="end")
    _more(sheet, len(part.lines) - len(lines), "line")
    sheet.y += GAP


def _more(sheet: SvgSheet, count: int, noun: str) -> None:
    if count > 0:
        sheet.y += LINE - 4
        sheet.text(MARGIN, sheet.y, f"… {counted(count, f'more {noun}')}", ink="muted_text", size=SMALL)


DRAWN: dict[type[LookPart], Callable[..., None]] = {
    Words: _words,
    OneLine: _one_line,
    Table: _table,
    Bars: _bars,
    Matrix: draw_matrix,
    Curves: draw_curves,
    WordCurves: draw_word_curves,
    Firings: _firings,
}
