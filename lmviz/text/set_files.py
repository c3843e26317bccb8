"""Files that are sets of texts: JSONL or JSON, tables, and texts with one row on each line."""

from __future__ import annotations

import os
from itertools import islice
from json import JSONDecoder
from pathlib import Path
from typing import Literal

from lmviz.base.arguments import file_path
from lmviz.base.errors import LmvizError
from lmviz.text.json_objects import json_values
from lmviz.text.ordinary_files import read_text_file
from lmviz.text.table import find_dialect, find_single, records
from lmviz.text.text_set import KEYS, TextRow, TextSet, lines_of, row_of, sentences_of

LARGEST = 64 * 2**20
"""Bytes; a larger file is a corpus."""

LOOKED_AT = 2**16
"""So many bytes of a file are looked at to see whether it is a set."""

Likeness = Literal["surely", "maybe", ""]

JSON, TABLES = (".jsonl", ".ndjson", ".json"), (".csv", ".tsv")


def looks_like_set(path: str | Path) -> Likeness:
    """Whether a file has rows of a set, as far as the names of its columns say.

    Surely where a wanted word or a changed text stands beside the text: no corpus has these. Maybe where
    there is a text, which may as well be one to learn from.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in (*JSON, *TABLES) or not os.path.isfile(path):
        return ""
    try:
        with open(path, "rb") as file:
            head = file.read(LOOKED_AT)
        named = _names_in_json(head) if ending in JSON else _names_in_table(head, ending)
    except (OSError, ValueError, RecursionError, LmvizError):
        return ""
    if not named & set(KEYS["text"]):
        return ""
    return "surely" if named & {"wanted", *KEYS["changed"]} else "maybe"


def _names_in_json(head: bytes) -> set[str]:
    """The names of the first object of a file that begins so."""
    text = head.decode("utf-8-sig", "replace").lstrip()
    first, _ = JSONDecoder().raw_decode(text[1:].lstrip() if text.startswith("[") else text)
    return {str(name).strip().lower() for name in first} if isinstance(first, dict) else set()


def _names_in_table(head: bytes, ending: str) -> set[str]:
    """What stands in the first line of a table that begins so."""
    dialect = find_dialect(head, "tab" if ending == ".tsv" else "")
    if dialect is None:
        return set()
    return {cell.strip().lower() for _, cells, _ in islice(records(head, dialect[0]), 1) for cell in cells}


def read_set(path: str | Path, *, by: str = "") -> TextSet:
    """The rows of a file.

    In JSONL and JSON each object is a row, with the names of `KEYS`; in a table each line is, and the first
    line has the names, or else each line is one text. Any other file is a text: one row for each line, or
    with `by` "sentence" for each sentence. LmvizError with the line that is no row.
    """
    path = file_path(path)
    if by not in ("", "line", "sentence"):
        raise LmvizError(f"A text is divided by 'line' or by 'sentence', not by {by!r}.")
    try:
        text = read_text_file(path, LARGEST)
    except (OSError, ValueError) as error:
        raise LmvizError(
            f"{path.name} cannot be read as a set of texts: choose a file in UTF-8 of at most "
            f"{LARGEST // 2**20} MB."
        ) from error
    try:
        if by == "sentence":
            return sentences_of(text, path.name)
        if not by and path.suffix.lower() in JSON:
            return TextSet(tuple(_of_json(text)), path.name)
        if not by and path.suffix.lower() in TABLES:
            return TextSet(tuple(_of_table(text, path.suffix.lower())), path.name)
        return lines_of(text, path.name)
    except LmvizError as error:
        raise LmvizError(f"{path.name}: {error}") from error


def _of_json(text: str) -> list[TextRow]:
    found = []
    for line, value, wrong in json_values(text.encode()):
        if wrong:
            raise LmvizError(f"line {line} {wrong}.")
        found.append(row_of(value, line))
    return found


def _of_table(text: str, ending: str) -> list[TextRow]:
    data = text.encode()
    separator = "tab" if ending == ".tsv" else ""
    found = find_dialect(data, separator)
    dialect = found[0] if found is not None else find_single(data, separator)
    rows, numbers = [], []
    for number, cells, wrong in records(data, dialect):
        if wrong:
            raise LmvizError(f"line {number} {wrong}.")
        rows.append(cells)
        numbers.append(number)
    if not rows:
        return []
    names = [cell.strip().lower() for cell in rows[0]]
    if any(name in KEYS["text"] for name in names):
        return [
            row_of(dict(zip(rows[0], row, strict=False)), number)
            for row, number in zip(rows[1:], numbers[1:], strict=True)
        ]
    if max(map(len, rows)) > 1:
        raise LmvizError(f"the first line names no column {' or '.join(KEYS['text'])}.")
    return [row_of(row[0], number) for row, number in zip(rows, numbers, strict=True)]
