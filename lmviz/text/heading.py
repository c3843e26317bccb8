"""Whether the first row of a table names its columns: by its words, and by how it differs from others."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lmviz.text.column_names import SHORT_TEXT_NAMES, TEXT_NAMES, is_known
from lmviz.text.column_roles import FEWEST_WORDS, TableColumn

_NAME = re.compile(r"[\w# ./:()%'-]{0,40}")
_MADE_UP = re.compile(r"[A-Za-z]+_?[0-9]+|[A-Za-z]+(_[A-Za-z0-9]+)+|[a-z]+([A-Z][a-z]+)+")
"""Names that only a program gives: v1, airline_sentiment, articleId."""

_SENTENCE_END = re.compile(r"[.!?…]$")
_LONGER = 0.95  # of the rows below that are longer than a name


def is_heading(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first of some rows is a heading.

    A first row is one if a cell is a usual name of a text, above sentences; if all its cells are usual names;
    or if they could be names, and a column below has numbers, dates or addresses where it has none; or if one
    is a usual name, or stands above labels of which it is none, and all columns of texts have one word there
    and sentences below.
    """
    first = [cell.strip() for cell in rows[0]]
    solid = [cell for cell in first if cell]
    if not solid or len({cell.lower() for cell in solid}) < len(solid):
        return False
    if not all(_NAME.fullmatch(cell) and not _SENTENCE_END.search(cell) for cell in solid):
        return False
    others = [row for row in ([cell.strip() for cell in each] for each in rows[1:]) if row != first]
    below = [TableColumn("", [row[place] for row in others]) for place in range(len(first))]
    both = list(zip(first, below, strict=True))
    if any(is_text_name(cell) and column.is_text and _is_short(cell, column) for cell, column in both):
        return True
    if any(cell and cell in column.kinds for cell, column in both):
        return False
    if all(map(_is_name, solid)):
        return True
    filled = [(cell, column) for cell, column in both if cell and column.solid]
    if any(_is_unlike(cell, column) for cell, column in filled):
        return True
    texts = [(cell, column) for cell, column in filled if column.is_text]
    if not texts or not all(_is_short(cell, column) for cell, column in texts):
        return False
    return any(map(_is_name, solid)) or any(column.are_labels and not column.is_text for _, column in filled)


def is_text_name(cell: str) -> bool:
    """Whether a cell is a usual name of texts."""
    return cell.lower() in TEXT_NAMES | SHORT_TEXT_NAMES


def _is_name(cell: str) -> bool:
    return is_known(cell) or bool(_MADE_UP.fullmatch(cell))


def _is_unlike(cell: str, column: TableColumn) -> bool:
    """Whether a column has numbers, dates or addresses, and a cell is none."""
    alone = TableColumn("", [cell])
    return len(column.solid) > 1 and any(
        below and not above
        for below, above in (
            (_share_of_numbers(column), alone.is_number),
            (column.is_date, alone.is_date),
            (column.is_address, alone.is_address),
        )
    )


def _share_of_numbers(column: TableColumn) -> bool:
    return all(TableColumn("", [cell]).is_number for cell in column.solid)


def _is_short(cell: str, column: TableColumn) -> bool:
    """Whether a cell is one word, and nearly all below it are sentences."""
    long = sum(len(each.split()) >= FEWEST_WORDS for each in column.solid)
    return len(cell.split()) == 1 and long >= _LONGER * len(column.solid)
