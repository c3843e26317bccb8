"""A matrix drawn as SVG: cells in the colours of its scale, names beside it, words within, and the scale."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lmviz.base.figures import number, percentage, plain
from lmviz.base.plain_text import on_one_line
from lmviz.looks import palette
from lmviz.looks.parts import Matrix
from lmviz.showing.sheet import MARGIN, SMALL, SvgSheet, fitted, length_of

MOST_CELLS = 1_500
"""More cells are drawn as pixels of one image."""

LARGEST, SMALLEST_NAMED = 30.0, 11.0
HIGHEST = 420.0
NAMES = 150.0
TINY = 10.5


def draw_matrix(sheet: SvgSheet, part: Matrix) -> None:
    """The matrix, below what is drawn already."""
    values = np.asarray(part.values, dtype=np.float64)
    rows, columns = values.shape
    if not rows or not columns:
        return
    row_names, column_names = _names(part.rows, rows), _names(part.columns, columns)
    left = min(NAMES, max((length_of(name, SMALL) for name in row_names), default=0.0)) + 8
    width, height = _cell(sheet, part, rows, columns, left)
    is_level = max((length_of(name, SMALL) for name in column_names), default=0.0) <= width
    names_above = width >= SMALLEST_NAMED and any(column_names)
    above = 0.0
    if names_above:
        longest = max(length_of(fitted(name, 90, SMALL), SMALL) for name in column_names)
        above = 16.0 if is_level else 12 + longest * 0.8
    x, y = MARGIN + left, sheet.y + above
    limit = _limit(part, values)
    colors = _colors(sheet, part, values, limit)
    for row in range(rows):
        if height >= SMALLEST_NAMED or row % int(np.ceil(SMALLEST_NAMED / height)) == 0:
            name, base = fitted(row_names[row], left - 8, SMALL), y + (row + 0.5) * height + 4
            sheet.text(x - 6, base, name, ink="muted_text", size=SMALL, anchor="end")
    if names_above:
        for column in range(columns):
            name = fitted(column_names[column], width if is_level else 90, SMALL)
            middle = x + (column + 0.5) * width
            if is_level:
                sheet.text(middle, y - 5, name, ink="muted_text", size=SMALL, anchor="middle")
            else:
                sheet.text(middle + 3, y - 4, name, ink="muted_text", size=SMALL, turned=-52)
    if rows * columns > MOST_CELLS:
        sheet.image(x, y, columns * width, rows * height, colors)
    else:
        _cells(sheet, part, values, colors, (x, y), (width, height), (row_names, column_names))
    sheet.frame(x, y, columns * width, rows * height)
    sheet.y = y + rows * height + 6
    _scale(sheet, part, limit, x)


def _cells(
    sheet: SvgSheet,
    part: Matrix,
    values: np.ndarray,
    colors: np.ndarray,
    at: tuple[float, float],
    size: tuple[float, float],
    names: tuple[Sequence[str], Sequence[str]],
) -> None:
    (x, y), (width, height) = at, size
    for row, column in np.ndindex(values.shape):
        value = float(values[row, column])
        said = "not measured" if np.isnan(value) else _figure(part.scale, value)
        word = part.words[row][column] if part.words else ""
        place = ", ".join(name for name in (names[0][row], names[1][column]) if name)
        says = f"{place}: {word + ' ' if word else ''}{said}"
        color = palette.written(colors[row, column])
        left, top = x + column * width, y + row * height
        sheet.box(left, top, width, height, color, says=says)
        if word:
            text = fitted(word, width - 4, TINY, "mono")
            ink = palette.on(color)
            base = top + height / 2 + 4
            sheet.text(left + width / 2, base, text, ink=ink, size=TINY, face="mono", anchor="middle")


def _cell(sheet: SvgSheet, part: Matrix, rows: int, columns: int, left: float) -> tuple[float, float]:
    """Width and height of one cell."""
    room = (sheet.room - left) / columns
    if part.words:
        words = (on_one_line(word) for row in part.words for word in row)
        widest = max((length_of(word, TINY, "mono") for word in words), default=0.0) + 8
        return min(room, max(LARGEST, widest)), 22.0
    width = min(LARGEST, room)
    return width, max(min(width, LARGEST * 0.8, HIGHEST / rows), 1.0 if rows > HIGHEST else 2.0)


def _names(names: Sequence[str], count: int) -> list[str]:
    found = names if len(names) == count else [""] * count
    return list(map(on_one_line, found))


def _limit(part: Matrix, values: np.ndarray) -> float:
    if part.limit is not None:
        return part.limit
    return float(np.max(np.abs(values), initial=0.0, where=np.isfinite(values))) or 1.0


def _colors(sheet: SvgSheet, part: Matrix, values: np.ndarray, limit: float) -> np.ndarray:
    """(row, column, 3) uint8; what was not measured has the colour of the background."""
    table = sheet.palette.map_of(part.scale)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.clip(values / limit, -1, 1)
        if part.floor > 0:
            shares = np.clip(1 + np.log(values / limit) / np.log(limit / part.floor), 0, 1)
        if part.scale not in ("share", "count"):
            shares = (shares + 1) / 2
    levels = np.round(np.nan_to_num(np.clip(shares, 0, 1)) * (palette.LEVELS - 1)).astype(np.int64)
    colors = table[levels]
    colors[np.isnan(values)] = palette.parts_of(sheet.palette["background"])
    return np.asarray(colors, dtype=np.uint8)


def _scale(sheet: SvgSheet, part: Matrix, limit: float, x: float) -> None:
    """The colours from the least to the largest number."""
    table = sheet.palette.map_of(part.scale)
    is_signed = part.scale not in ("share", "count")
    least = _figure(part.scale, -limit if is_signed else part.floor)
    sheet.y += 12
    sheet.text(x, sheet.y, least, ink="muted_text", size=SMALL)
    begin = x + length_of(least, SMALL) + 6
    sheet.image(begin, sheet.y - 9, 90, 9, table[None, ::4])
    sheet.frame(begin, sheet.y - 9, 90, 9)
    sheet.text(begin + 96, sheet.y, _figure(part.scale, limit), ink="muted_text", size=SMALL)
    sheet.y += 12


def _figure(scale: str, value: float) -> str:
    if scale == "share":
        return percentage(value)
    return plain(value) if scale == "count" else number(value)
