"""Objects of JSON as rows of columns: on lines, in an array, or in another way that data sets are written.

An object within an object gives columns named after both, and a conversation is one text, as is a list of
lines under the name of a text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from lmviz.text.column_names import SHORT_TEXT_NAMES, TEXT_NAMES, named
from lmviz.text.column_roles import Nested
from lmviz.text.conversations import conversation_of
from lmviz.text.json_objects import json_values, parse
from lmviz.text.table import Record

Entry = dict[str, str]
"""The cells of a row by the names of their columns."""

Row = tuple[int, Entry | None, str]
"""Where a row is, its cells, and what is wrong with it, or ""."""

_FEW = 3  # elements of a list or an object that show how all of it is written


def rows_of_lines(lines: Iterable[tuple[int, str]]) -> Iterator[Row]:
    """A row for each line that is not blank, by the number of the line."""
    for number, line in lines:
        if line.strip():
            value, reason = parse(line)
            yield (number, *(entry_of(value) if not reason else (None, reason)))


def rows_of_values(data: bytes) -> Iterator[Row]:
    """A row for each object of an array, or of an object that holds them otherwise; counted from 1."""
    values = ((value, reason) for _, value, reason in json_values(data))
    first = list(islice(values, 2))
    found: Iterable[tuple[object, str]] = chain(first, values)
    if len(first) == 1 and not first[0][1] and isinstance(first[0][0], dict):
        found = ((value, "") for value in _values_of(first[0][0]))
    for number, (value, reason) in enumerate(found, start=1):
        yield (number, *(entry_of(value) if not reason else (None, reason)))


def records_of(rows: Iterable[Row], names: tuple[str, ...]) -> Iterator[Record]:
    """The rows as records with these columns."""
    for number, entry, reason in rows:
        yield number, [] if entry is None else [entry.get(name, "") for name in names], reason


def entry_of(value: object) -> tuple[Entry | None, str]:
    """The cells of a value of JSON by their names, "" for a string alone; or what is wrong with it."""
    if isinstance(value, str):
        return {"": value}, ""
    whole = conversation_of(value)
    if whole is not None:
        return {"": whole}, ""
    if not isinstance(value, dict):
        return None, "is not an object of JSON, with names and values"
    row = value.get("row") if "row_idx" in value else None  # as the server of datasets has them
    found: Entry = {}
    for name, inner in (row if isinstance(row, dict) else value).items():
        if isinstance(inner, dict):
            found |= {f"{name}.{each}": _text_of(each, cell) for each, cell in inner.items()}
        else:
            found[str(name)] = _text_of(str(name), inner)
    return found, ""


def _text_of(name: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    conversation = conversation_of(value, name)
    if conversation is not None:
        return conversation
    if isinstance(value, list) and value and named([name], TEXT_NAMES | SHORT_TEXT_NAMES):
        lines = [item for item in value if isinstance(item, str)]
        if len(lines) == len(value):
            return ("\n" if any(" " in line for line in lines) else " ").join(lines)
    written = json.dumps(value, ensure_ascii=False)
    return Nested(written) if isinstance(value, list | dict) else written


def _values_of(whole: dict[str, object]) -> list[object]:
    """The rows of the only object of a file: one, or those that it has by number or by column."""
    inner = list(whole.values())
    if len(inner) > 0 and all(isinstance(value, list) for value in inner):
        lists = [value for value in inner if isinstance(value, list)]
        if (
            len({len(each) for each in lists}) == 1
            and len(lists[0]) > 1
            and conversation_of(lists[0]) is None
        ):
            return [dict(zip(whole, cells, strict=True)) for cells in zip(*lists, strict=True)]
        return [whole]
    if not inner or not all(isinstance(value, dict) for value in inner):
        return [whole]
    tables = [value for value in inner if isinstance(value, dict)]
    if _are_numbers(tables[0]) and all(len(table) == len(tables[0]) for table in tables):
        return [
            {name: table.get(key) for name, table in zip(whole, tables, strict=True)} for key in tables[0]
        ]
    alike = sum(set(table) == set(tables[0]) for table in tables)
    return list(inner) if len(tables) > 1 and 2 * alike > len(tables) else [whole]


def _are_numbers(table: dict[str, object]) -> bool:
    return len(table) > 1 and all(key.isdigit() for key in islice(table, _FEW))
