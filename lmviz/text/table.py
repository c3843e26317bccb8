"""Reads tables of text: rows of cells with a separator between them, and quotes around what holds one.

Python's `csv` reads them. It takes everything after a quote that is never closed for one cell; here such a
line is named, and the ones after it are read.
"""

from __future__ import annotations

import collections
import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MOST_LINES, MOST_CHARACTERS = 200, 1_000_000
"""What one record may take, where a cell in quotes has ends of line in it."""

SAMPLE = 200
"""Records that are looked at to find out how a table is written."""

SNIFFED = 1 << 13
"""Bytes of a table that show whether its cells stand in quotes."""

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
QUOTES = {"double": '"', "single": "'", "none": ""}

Record = tuple[int, list[str], str]
"""The number of the line on which a record begins, its cells, and what is wrong with it, or ""."""


class Aside(str):
    """What is to be said of a record that is read all the same, in place of what is wrong with it.

    It is said once for all such records, with their number: of one as `one` has it, of several as `many`.
    `example` is what this record says.
    """

    __slots__ = ("example", "many")

    def __new__(cls, one: str, many: str, example: str = "") -> Aside:
        made = super().__new__(cls, one)
        made.many, made.example = many, example
        return made

    many: str
    example: str

    def of(self, example: str) -> Aside:
        """The same of another record."""
        return Aside(str(self), self.many, example)


@dataclass(frozen=True)
class Dialect:
    """How the cells of a table are told apart: the names of its separator and of its quotes."""

    separator: str
    quotes: str


def records(data: bytes, dialect: Dialect, widths: range | None = None) -> Iterator[Record]:
    """The records of a table, whose numbers of cells are in `widths` if these are known.

    A record that cannot be read ends with its first line. Blank lines are passed over, and so are blank cells
    beyond the last column.
    """
    csv.field_size_limit(max(csv.field_size_limit(), MOST_CHARACTERS))
    lines = _Lines(data)
    reader = _reader(lines, dialect)
    while True:
        mark = lines.begin()
        number = lines.number + 1
        cells: list[str] | None
        try:
            cells = next(reader)
        except StopIteration:
            return
        except (csv.Error, _TooLong):
            cells = None
        if cells is None or (lines.number > number and widths and len(_within(cells, widths)) not in widths):
            lines.go_back(mark)  # the quote was none that goes on
            reader = _reader(lines, dialect)
            cells = _cells_alone(next(lines), dialect)
            if cells is None:
                yield number, [], "has a quote that is not closed"
                continue
        if not any(cell.strip() for cell in cells) and len(cells) < 2:
            continue
        if widths:
            cells = _within(cells, widths)
        if widths and len(cells) not in widths:
            columns = f"{len(cells)} column{'s' if len(cells) != 1 else ''}"
            yield number, cells, f"has {columns} in place of {widths[-1]}"
        else:
            yield number, cells, ""


def find_dialect(data: bytes, separator: str = "", quotes: str = "") -> tuple[Dialect, int, float] | None:
    """How the beginning of a table is written, its usual number of cells, and the share of such records.

    `separator` and `quotes` are names that somebody has told. What `csv.Sniffer` says decides between two
    that fit equally well. None where no record has two cells.
    """
    sniffed = _sniffed(data)
    found: list[tuple[tuple[float, bool, bool, int], Dialect]] = []
    for name in [separator] if separator else SEPARATORS:
        for quote in [quotes] if quotes else _likely_quotes(data, name):
            dialect = Dialect(name, quote)
            rows = [record for record, _ in zip(records(data, dialect), range(SAMPLE), strict=False)]
            widths = collections.Counter(len(cells) for _, cells, reason in rows if not reason)
            width = max(widths, key=lambda size: (widths[size], size), default=0)
            if width < 2:
                continue
            share = widths[width] / len(rows)
            usual = quote == ("none" if name == "tab" and not _all_quoted(data, name) else "double")
            found.append(((round(share, 3), SEPARATORS[name] == sniffed, usual, width), dialect))
    if not found:
        return None
    (share, _, _, width), dialect = max(found, key=lambda item: item[0])
    return dialect, width, share


def find_single(data: bytes, separator: str = "", quotes: str = "") -> Dialect:
    """How a table of one column is written: with the separator that most of its records do without.

    `separator` and `quotes` are names that somebody has told.
    """
    found: list[tuple[float, Dialect]] = []
    for name in [separator] if separator else SEPARATORS:
        dialect = Dialect(name, quotes or "double")
        rows = [record for record, _ in zip(records(data, dialect), range(SAMPLE), strict=False)]
        alone = sum(len(cells) == 1 and not reason for _, cells, reason in rows)
        found.append((alone / max(1, len(rows)), dialect))
    return max(found, key=lambda item: item[0])[1]


def in_quotes(data: bytes, dialect: Dialect) -> bool:
    """Whether each record of a table of one column stands in quotes, and some need them."""
    mark = QUOTES[dialect.quotes]
    if not mark or not data.lstrip().startswith(mark.encode()):
        return False
    lines = _Lines(data)
    needed = False
    while True:
        lines.begin()
        first = lines.number
        try:
            [cell] = next(_reader(lines, dialect))
        except StopIteration:
            return needed
        except (csv.Error, _TooLong, ValueError):
            return False
        needed |= mark in cell or lines.number > first + 1


def _likely_quotes(data: bytes, separator: str) -> list[str]:
    """The quotes that some cells of the sample stand in, and none."""
    mark = SEPARATORS[separator].encode()
    lines = data[: 1 << 16].split(b"\n")[:SAMPLE]
    found = ["none", "double"] if separator != "tab" else ["none"]
    for name, quote in (("double", b'"'), ("single", b"'")):
        within = sum(
            line.startswith(quote) or line.endswith(quote) or mark + quote in line or quote + mark in line
            for line in lines
        )
        if within and name not in found and (name == "double" or 2 * within > len(lines)):
            found.append(name)
    if separator != "tab" and _meant(lines, mark):
        found.remove("none")
    return found


def _all_quoted(data: bytes, separator: str) -> bool:
    """Whether most cells of the sample stand in quotes."""
    cells = [
        cell for line in data[:SNIFFED].split(b"\n") for cell in line.split(SEPARATORS[separator].encode())
    ]
    quoted = sum(cell.startswith(b'"') and cell.rstrip(b"\r").endswith(b'"') for cell in cells)
    return 2 * quoted > len(cells)


def _meant(lines: Sequence[bytes], mark: bytes) -> bool:
    """Whether most of the cells that begin with a quote end with one as well, or none does."""
    begun = [cell for line in lines for cell in line.split(mark) if cell.startswith(b'"')]
    ends = sum(cell.endswith(b'"') and len(cell) > 1 for line in lines for cell in line.split(mark))
    return 2 * ends >= len(begun)


def _sniffed(data: bytes) -> str:
    """The separator that Python's own recogniser names; "" for none."""
    try:
        return (
            csv.Sniffer().sniff(data[:2048].decode("utf-8", "ignore"), "".join(SEPARATORS.values())).delimiter
        )
    except csv.Error:
        return ""


def _within(cells: list[str], widths: range) -> list[str]:
    """The cells without blank ones beyond the last column."""
    end = len(cells)
    while end > widths[-1] and not cells[end - 1].strip():
        end -= 1
    return cells[:end]


def _reader(lines: Iterator[str], dialect: Dialect, *, strict: bool = True) -> Iterator[list[str]]:
    quote = QUOTES[dialect.quotes]
    separator = SEPARATORS[dialect.separator]
    if not quote:
        return csv.reader(lines, delimiter=separator, quoting=csv.QUOTE_NONE, quotechar=None, strict=strict)
    return csv.reader(lines, delimiter=separator, quotechar=quote, strict=strict)


def _cells_alone(line: str, dialect: Dialect) -> list[str] | None:
    """The cells of a line with a quote too many or too few; None where its last cell goes on.

    Where the quotes make no difference to where the cells end, they stay in them.
    """

    def only() -> Iterator[str]:
        yield line
        raise _TooLong

    try:
        cells = next(_reader(only(), dialect, strict=False))
    except (csv.Error, _TooLong):
        return None
    apart: Sequence[str] = line.rstrip("\n").split(SEPARATORS[dialect.separator])
    return list(apart) if len(apart) == len(cells) else cells


class _TooLong(Exception):
    """A record goes on for longer than one may."""


class _Lines(Iterator[str]):
    """Lines one at a time, not too many for one record, with a way back."""

    def __init__(self, data: bytes) -> None:
        self._file = io.BytesIO(data)
        self.number = 0
        self._first, self._size = 0, 0

    def begin(self) -> tuple[int, int]:
        """Here a record begins; the place."""
        self._first, self._size = self.number, 0
        return self._file.tell(), self.number

    def __next__(self) -> str:
        line = self._file.readline()
        if not line:
            raise StopIteration
        self._size += len(line)
        if self.number > self._first and (
            self.number - self._first > MOST_LINES or self._size > MOST_CHARACTERS
        ):
            raise _TooLong
        self.number += 1
        return line.decode("utf-8", "replace")

    def go_back(self, mark: tuple[int, int]) -> None:
        place, self.number = mark
        self._file.seek(place)
        self.begin()
