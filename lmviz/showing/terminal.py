"""A look as a terminal shows it: its title, its sentences, and short tables of bounded width and rows."""

from __future__ import annotations

import math
import shutil
import textwrap
from collections.abc import Callable, Sequence

import numpy as np

from lmviz.base.figures import cell_figure, counted, percentage, plain
from lmviz.base.plain_text import on_one_line
from lmviz.looks.look import Look
from lmviz.looks.parts import Bars, Curves, Firings, LookPart, Matrix, OneLine, Table, WordCurves, Words
from lmviz.showing.pieces import signed_share
from lmviz.showing.width import filled, shortened, width_of

NARROWEST, WIDEST = 60, 100
ROWS = 10
"""A table has at most so many rows; how many more there are is said below it."""
CELL = 14
"""A cell is not shortened below so many columns; where that is not enough, columns are left out."""
BAR = 20
BEFORE = 5
"""Tokens before the one that is meant."""
GAP = "  "

Row = Sequence[str]


def written(look: Look) -> str:
    """The look in lines, none wider than the terminal and than 100 columns."""
    width = min(max(shutil.get_terminal_size().columns, NARROWEST), WIDEST)
    title, aside = on_one_line(look.title), f"({on_one_line(look.aside)})" if look.aside else ""
    together = f"{title}  {aside}".strip()
    heads = [together] if width_of(together) <= width else [title, aside]
    lines = [line for head in heads for line in textwrap.wrap(head, width)]
    if look.instead:
        lines += textwrap.wrap(on_one_line(look.instead), width)
    for part in look.parts:
        lines += lines_of(part, width)
    return "\n".join(lines)


def lines_of(part: LookPart, width: int) -> list[str]:
    """The lines of one part, and of those within it; none of what is only to be pressed."""
    if not part.shown:
        return []
    write = WRITERS.get(type(part))
    if write is not None:
        return write(part, width)
    return [line for inner in part.inner for line in lines_of(inner, width)]


def _words(part: Words, width: int) -> list[str]:
    text = part.text if isinstance(part.text, str) else "".join(piece.text for piece in part.text)
    return textwrap.wrap(on_one_line(text), width) if text else []


def _one_line(part: OneLine, width: int) -> list[str]:
    return [shortened(part.text, width)] if part.text else []


def _table(part: Table, width: int) -> list[str]:
    columns = list(part.columns)
    count = max((len(column.values) for column in columns), default=0)
    kept = range(min(count, ROWS))
    written_cells = [
        [column.title, *(column.write(column.values[row]) for row in kept)] for column in columns
    ]
    least = [min(CELL, max(map(width_of, cells))) + len(GAP) for cells in written_cells]
    shown = list(range(len(columns)))
    for at in reversed(range(len(columns))):
        if columns[at].spare and sum(least[each] for each in shown) > width + len(GAP):
            shown.remove(at)
    rows = [[written_cells[at][1 + row] for at in shown] for row in kept]
    right = [columns[at].numeric for at in shown]
    return _grid([columns[at].title for at in shown], rows, right, width, count - len(rows), "row")


def _matrix(part: Matrix, width: int) -> list[str]:
    values = np.asarray(part.values)
    rows = _names(part.rows, values.shape[0])
    columns = _names(part.columns, values.shape[1])
    writers: dict[str, Callable[[float], str]] = {"share": signed_share, "count": plain}
    write = writers.get(part.scale, cell_figure)
    if part.words:
        cells = [list(row) for row in part.words]
    else:
        cells = [[_figure(value, write) for value in row] for row in values]
    widest = max(map(width_of, rows), default=0)
    needed = widest + sum(
        len(GAP) + max(map(width_of, (name, *(row[at] for row in cells)))) for at, name in enumerate(columns)
    )
    if len(rows) <= ROWS and needed <= width:
        right = [False, *[not part.words] * len(columns)]
        return _grid(
            ["", *columns], [[name, *row] for name, row in zip(rows, cells, strict=True)], right, width
        )
    sized = np.where(np.isnan(values), -np.inf, np.abs(values)).ravel()
    order = np.argsort(-sized, kind="stable")[:ROWS]
    strongest = [
        [rows[at // len(columns)], columns[at % len(columns)], cells[at // len(columns)][at % len(columns)]]
        for at in map(int, order)
        if math.isfinite(sized[at])
    ]
    more = int(np.isfinite(sized).sum()) - len(strongest)
    return _grid(
        ["row", "column", "strongest"], strongest, [False, False, not part.words], width, more, "cell"
    )


def _bars(part: Bars, width: int) -> list[str]:
    values = np.asarray(part.values, dtype=float)[:ROWS]
    most = part.limit or max(1e-30, float(np.nanmax(np.abs(part.values), initial=0.0)))
    texts = part.texts if part.texts is not None else list(map(percentage, values))
    rows = [
        [label, "█" * round(BAR * min(1.0, abs(value) / most)), text]
        for label, value, text in zip(part.labels, values, texts, strict=False)
    ]
    return _grid(None, rows, [False, False, True], width, len(part.labels) - len(rows), "row")


def _curves(part: Curves, width: int) -> list[str]:
    places = sorted({float(x) for curve in part.curves for x in curve.x})
    chosen = _spread(places)
    write_x, write_y = part.writes
    rows = []
    for x in chosen:
        heights = (curve.at(x) for curve in part.curves)
        row = ["–" if y is None or math.isnan(y) else (write_y or plain)(y) for y in heights]
        rows.append([(write_x or _whole)(x), *row])
    names = [curve.name or part.y_name for curve in part.curves]
    return _grid(
        [part.x_name, *names], rows, [True] * (1 + len(names)), width, len(places) - len(rows), "point"
    )


def _word_curves(part: WordCurves, width: int) -> list[str]:
    shown = [curve for curve in part.curves if curve.shown]
    kept = min(ROWS, len(part.words))
    rows = [
        [f"{at} {part.words[at]}", *(_figure(curve.values[at], plain) for curve in shown)]
        for at in range(kept)
    ]
    titles = ["word", *(f"{curve.name} (bits)" for curve in shown)]
    return _grid(titles, rows, [False, *[True] * len(shown)], width, len(part.words) - kept, "word")


def _firings(part: Firings, width: int) -> list[str]:
    """What stands before the token that is meant, it and what follows, and what is said of it."""
    rows = [
        [
            " ".join(line.tokens[max(0, line.place - BEFORE) : line.place]),
            " ".join(line.tokens[line.place :]),
            line.said,
        ]
        for line in part.lines[:ROWS]
    ]
    return _grid(None, rows, [True, False, True], width, len(part.lines) - len(rows), "line")


def _grid(
    titles: Row | None,
    rows: Sequence[Row],
    right: Sequence[bool],
    width: int,
    more: int = 0,
    noun: str = "row",
) -> list[str]:
    """Rows under titles, as many columns as fit; numbers on the right of theirs."""
    lines = [
        list(map(on_one_line, row))
        for row in ([titles] if titles and "".join(titles).strip() else []) + list(rows)
    ]
    if not lines:
        return []
    widths = _fitting([max(width_of(line[at]) for line in lines) for at in range(len(lines[0]))], width)
    kept = len(widths)
    while kept > 1 and sum(widths[:kept]) + len(GAP) * (kept - 1) > width:
        kept -= 1
    cells = [
        [filled(shortened(line[at], widths[at]), widths[at], right[at]) for at in range(kept)]
        for line in lines
    ]
    said = [shortened(GAP.join(row).rstrip(), width) for row in cells]
    left_out = [counted(more, f"more {noun}")] * (more > 0)
    left_out += [counted(len(widths) - kept, "more column")] * (len(widths) > kept)
    return [*said, *([f"… {' and '.join(left_out)}"] if left_out else [])]


def _fitting(widths: list[int], width: int) -> list[int]:
    """The widths of columns, the widest made narrower until all fit, or until none is wide."""
    room = width - len(GAP) * (len(widths) - 1)
    found = list(widths)
    while sum(found) > room and max(found) > CELL:
        found[found.index(max(found))] -= 1
    return found


def _spread(places: Sequence[float]) -> list[float]:
    """Some of the places, the first and the last among them."""
    if len(places) <= ROWS:
        return list(places)
    return [places[round(at)] for at in np.linspace(0, len(places) - 1, ROWS)]


def _names(names: Sequence[str], count: int) -> list[str]:
    return list(names) if len(names) == count else list(map(str, range(count)))


def _figure(value: float, write: Callable[[float], str]) -> str:
    return "–" if math.isnan(value) else write(float(value))


def _whole(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else plain(value)


WRITERS: dict[type[LookPart], Callable[..., list[str]]] = {
    Words: _words,
    OneLine: _one_line,
    Table: _table,
    Matrix: _matrix,
    Bars: _bars,
    Curves: _curves,
    WordCurves: _word_curves,
    Firings: _firings,
}
