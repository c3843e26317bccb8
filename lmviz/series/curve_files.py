"""Files in which other programs record their curves: Trainer, Lightning, JSON Lines and trackio.

Each reader gives measurements in their order, and says in a few words what is damaged; LmvizError where a
file cannot be read at all.
"""

from __future__ import annotations

import csv
import json
import math
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from lmviz.base.errors import LmvizError
from lmviz.text.ordinary_files import check_ordinary, read_file, read_text_file

LARGEST_FILE = 1_000_000_000
"""Bytes of a file with curves."""

LARGEST_STEP = 10**12 - 1

LONGEST_NAME = 300

STEP_NAMES = ("step", "global_step", "iter", "iter_num", "iteration", "_step", "update", "num_updates")
"""What programs call the number of updates in a line; the first that is there is meant."""

AXES = frozenset(
    (*STEP_NAMES, "epoch", "time", "timestamp", "_timestamp", "_runtime", "seconds", "wall_time", "date")
)
"""What a line says of when it was written, and is no measurement."""

PATIENCE = 10.0
"""Seconds that a database may take."""

Measurement = tuple[int, str, float, str]
"""A step, a name, a value, and what the program calls its run, "" where it says nothing of that."""


def read_log_history(path: Path) -> tuple[Iterable[Measurement], str]:
    """The `log_history` of a `trainer_state.json` of transformers."""
    try:
        values = json.loads(_text(path))
    except (ValueError, RecursionError):
        raise LmvizError(f"{path} is not JSON: the curves of Trainer cannot be drawn.") from None
    history = values.get("log_history") if isinstance(values, dict) else None
    if not isinstance(history, list):
        return [], "its log_history is missing"
    lines = [line for line in history if isinstance(line, dict)]
    trouble = "" if len(lines) == len(history) else "some lines of its log_history hold no names"
    return [each for line in lines for each in measured(line, ("step",))], trouble


def read_lines(path: Path) -> tuple[Iterable[Measurement], str]:
    """Objects of JSON, one in each line; those without a step, as the lines of a text, are none."""
    found, torn, lines = [], 0, _text(path).split("\n")
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
        except (ValueError, RecursionError):
            torn += number < len(lines) - 1  # the last may be being written
            continue
        if isinstance(values, dict):
            found += measured(values)
    return found, f"{torn:,} of its lines are not JSON" if torn and found else ""


def read_table(path: Path) -> tuple[Iterable[Measurement], str]:
    """The `metrics.csv` of Lightning, in which a cell is empty where nothing was measured."""
    rows = csv.reader(_text(path).splitlines())
    found: list[Measurement] = []
    try:
        names = next(rows, [])
        if "step" not in names:
            return [], "it has no column step"
        for row in rows:
            cells = {name: _number(cell) for name, cell in zip(names, row, strict=False)}
            found += measured(cells, ("step",))
    except csv.Error as error:
        return found, f"it cannot be read after row {rows.line_num:,} ({error})"
    return found, ""


def read_database(path: Path) -> tuple[Iterable[Measurement], str]:
    """The SQLite database of a project of trackio: a table `metrics` of steps, runs, and JSON."""
    try:
        check_ordinary(path, LARGEST_FILE)
        with open(path, "rb") as file:
            if file.read(16) != b"SQLite format 3\0":
                return [], ""
    except OSError as error:
        raise LmvizError(f"{path} cannot be read ({error.strerror}).") from None
    until = time.monotonic() + PATIENCE
    address = f"file:{quote(os.path.abspath(path))}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=1.0)) as database:
            database.execute("PRAGMA trusted_schema = OFF")
            database.set_progress_handler(lambda: time.monotonic() > until, 10_000)
            return list(_rows(database)), ""
    except (sqlite3.Error, UnicodeDecodeError, OverflowError) as error:
        raise LmvizError(f"{path} cannot be read as a database of trackio ({error}).") from None


def _rows(database: sqlite3.Connection) -> Iterator[Measurement]:
    tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    if ("metrics",) not in tables:
        return
    columns = {row[1] for row in database.execute("PRAGMA table_info(metrics)")}
    if not {"run_name", "step", "metrics"} <= columns:
        return
    for run, step, text in database.execute("SELECT run_name, step, metrics FROM metrics ORDER BY rowid"):
        try:
            values = json.loads(text)
        except (ValueError, TypeError, RecursionError):
            continue
        if isinstance(values, dict) and isinstance(run, str):
            yield from (
                (at, name, value, run[:LONGEST_NAME])
                for at, name, value, _ in measured({**values, "step": step}, ("step",))
            )


def measured(values: Mapping[str, Any], step_names: Iterable[str] = STEP_NAMES) -> list[Measurement]:
    """The measurements of one line: every number in it that is no axis; none where it says no step."""
    step = next((whole for name in step_names if (whole := _whole(values.get(name))) is not None), None)
    if step is None:
        return []
    return [
        (step, name, number, "")
        for name, value in values.items()
        if isinstance(name, str) and 0 < len(name) <= LONGEST_NAME and name not in AXES
        if (number := _value(value)) is not None
    ]


def _value(value: Any) -> float | None:
    """A number, infinite ones too; None for what is none."""
    if type(value) not in (int, float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return None if math.isnan(number) else number


def _whole(value: Any) -> int | None:
    """A step, which tables may hold as a number with a point."""
    if type(value) is float and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value <= LARGEST_STEP else None


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _text(path: Path) -> str:
    """The text of a file; bytes that are none become signs that no name has."""
    try:
        return read_text_file(path, LARGEST_FILE)
    except UnicodeDecodeError:
        return read_file(path, LARGEST_FILE).decode("utf-8", "replace")
    except OSError as error:
        raise LmvizError(f"{path} cannot be read ({error.strerror}): its curves are not drawn.") from None
