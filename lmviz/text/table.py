"""Reads tables of text: comma-separated values with quotes (RFC 4180).

Python's own reader takes everything after a quote that is never closed for one cell. Here such a line is
named, and the ones after it are read.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

MOST_LINES, MOST_CHARACTERS = 200, 1_000_000
"""What one record may take, where a cell in quotes has ends of line in it."""

SAMPLE = 200
"""Records from which it is guessed what the columns of a table are."""

SEPARATORS = (",", "\t", ";")
LABEL_NAMES = frozenset(
    ("label", "labels", "class", "category", "sentiment", "polarity", "rating", "stars", "topic", "target")
)
TEXT_NAMES = frozenset(
    ("text", "texts", "sentence", "review", "reviews", "content", "document", "message", "comment", "tweet")
)


@dataclass(frozen=True)
class Table:
    """Where a table has its texts and labels: the separator, the number of columns, and two of them."""

    separator: str
    width: int
    label: int
    text: int


def find_table(header: str) -> Table | None:
    """The table that a first line announces by the names of one label column and one text column."""
    for separator in SEPARATORS:
        cells = _cells(header, separator)
        names = [cell.strip().lower() for cell in cells or ()]
        labels = [place for place, name in enumerate(names) if name in LABEL_NAMES]
        texts = [place for place, name in enumerate(names) if name in TEXT_NAMES]
        if len(labels) == len(texts) == 1:
            return Table(separator, len(names), labels[0], texts[0])
    return None


def guess_table(data: bytes) -> Table | None:
    """A table whose header says nothing: its texts are the longest cells, its labels the most repeated."""
    for separator in SEPARATORS:
        header = _cells(data.partition(b"\n")[0].decode("utf-8"), separator)
        if header is None or len(header) < 2:
            continue
        sample = itertools.islice(records(data, separator, len(header)), 1, SAMPLE)
        columns = list(zip(*(cells for _, cells, reason in sample if not reason), strict=True))
        if not columns:
            continue
        text = max(range(len(header)), key=lambda place: sum(map(len, columns[place])))
        others = [place for place in range(len(header)) if place != text]
        label = min(others, key=lambda place: (len(set(columns[place])), place))
        return Table(separator, len(header), label, text)
    return None


def records(data: bytes, separator: str, width: int) -> Iterator[tuple[int, list[str], str]]:
    """The records with the number of the line on which each begins, and what is wrong with it, or "".

    A record that cannot be read ends with its first line. Blank lines are passed over.
    """
    lines = _Lines(data)
    while (line := lines.take()) is not None:
        number = lines.number
        if not line.strip():
            continue
        cells, mark = _cells(line, separator), lines.mark()
        text = line
        for _ in range(MOST_LINES):
            if cells is not None or len(text) > MOST_CHARACTERS or (further := lines.take()) is None:
                break
            text += f"\n{further}"
            cells = _cells(text, separator) if '"' in further else None
        if cells is None or (len(cells) != width and "\n" in text):
            lines.go_back(mark)  # the quote was none that goes on
            yield number, [], "has a quote that is not closed, or goes on after it was"
        elif len(cells) != width:
            columns = f"{len(cells)} column{'s' if len(cells) != 1 else ''}"
            yield number, cells, f"has {columns} in place of {width}"
        else:
            yield number, cells, ""


def _cells(record: str, separator: str) -> list[str] | None:
    """The cells of a record; None where a quote is not closed, or goes on after it was."""
    cells: list[str] = []
    place, end = 0, len(record)
    while True:
        if record.startswith('"', place):
            cell, place = _quoted(record, place + 1)
            if cell is None or (place < end and record[place] != separator):
                return None
        else:
            stop = record.find(separator, place)
            stop = end if stop < 0 else stop
            cell, place = record[place:stop], stop
        cells.append(cell)
        if place >= end:
            return cells
        place += 1


def _quoted(record: str, place: int) -> tuple[str | None, int]:
    """The cell in quotes that begins there, and the place after it; None where it is not closed."""
    parts = []
    while True:
        stop = record.find('"', place)
        if stop < 0:
            return None, place
        parts.append(record[place:stop])
        if not record.startswith('""', stop):
            return '"'.join(parts), stop + 1
        place = stop + 2


class _Lines:
    """Lines one at a time, with a way back."""

    def __init__(self, data: bytes) -> None:
        self._file = io.BytesIO(data)
        self.number = 0

    def take(self) -> str | None:
        """The next line, None at the end."""
        line = self._file.readline()
        if not line:
            return None
        self.number += 1
        return line.decode("utf-8").rstrip("\n")

    def mark(self) -> tuple[int, int]:
        return self._file.tell(), self.number

    def go_back(self, mark: tuple[int, int]) -> None:
        place, self.number = mark
        self._file.seek(place)
