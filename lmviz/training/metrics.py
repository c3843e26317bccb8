"""`metrics.jsonl`: one line of JSON for each reported step, appended while a training runs."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lmviz.base.errors import LmvizError
from lmviz.text.ordinary_files import read_file
from lmviz.training.plain_numbers import finite_number, is_step
from lmviz.training.writing import NotWritten, write_bytes

LARGEST_FILE = 500_000_000
"""Bytes of a `metrics.jsonl`; ten thousand lines take some millions."""

INFINITE = "1e999"
"""How an infinite loss is written, as counts without smoothing give it. JSON has no other way, and those who
read JSON take a number that is too large for infinity."""


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The lines in the order in which they were written; no file, no lines.

    A line that a crash tore, and anything else that is not a step with numbers, is passed over: a curve
    with a gap is worth more than a run that does not open.
    """
    try:
        content = read_file(path, LARGEST_FILE)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise LmvizError(f"{path} cannot be read ({error.strerror}): choose another run.") from None
    return [line for line in map(_checked, _parsed(content.splitlines())) if line is not None]


def _parsed(lines: list[bytes]) -> list[Any]:
    """What the lines say, None for each that says nothing; all at once where none is torn."""
    try:
        found: list[Any] = json.loads(b"[" + b",".join(lines) + b"]")
    except (ValueError, RecursionError):
        return [_parsed_alone(line) for line in lines]
    return found if len(found) == len(lines) else [_parsed_alone(line) for line in lines]


def _parsed_alone(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _checked(values: Any) -> dict[str, Any] | None:
    if not isinstance(values, dict) or not is_step(values.get("step")):
        return None
    return _measured(
        {
            name: value
            for name, value in values.items()
            if (type(value) is float and value > -math.inf) or finite_number(value) is not None
        }
    )


def _measured(line: dict[str, Any]) -> dict[str, Any]:
    """A line without what nobody measured, which files held as 0 before such numbers were left out.

    They are known by this: no update precedes step 0, and where the learning rate and the norm of the
    gradient are both exactly 0, n-grams were counted.
    """
    rate, norm = line.get("learning_rate"), line.get("gradient_norm")
    is_counted = rate == 0 and norm == 0
    unmeasured = {"learning_rate", "gradient_norm"} if is_counted or line["step"] == 0 else set()
    if line["step"] == 0:
        unmeasured.add("tokens_per_second")
    return {name: value for name, value in line.items() if name not in unmeasured} if unmeasured else line


def _line(values: Mapping[str, Any]) -> str:
    measured = {name: value for name, value in values.items() if value is not None and not math.isnan(value)}
    return json.dumps(measured).replace(": Infinity", f": {INFINITE}") + "\n"


def append_metrics(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """Append lines. What was not measured, None or NaN, is left out; an infinite loss is one, see INFINITE.

    Raises NotWritten when the disk is full; the file then is as it was before.
    """
    content = "".join(map(_line, lines)).encode()
    try:
        with open(path, "ab", buffering=0) as file:
            before = file.tell()
            try:
                written = file.write(content)
                if written != len(content):
                    file.write(content[written:])
            except OSError:
                file.truncate(before)
                raise
    except OSError as error:
        raise NotWritten(path, error) from error


def flush_metrics(path: Path) -> None:
    """Wait until the lines are on the disk; raises NotWritten."""
    try:
        with open(path, "rb+") as file:
            os.fsync(file.fileno())
    except FileNotFoundError:
        pass
    except OSError as error:
        raise NotWritten(path, error) from error


def truncate_metrics(path: Path, step: int) -> None:
    """Keep only the lines up to a step, before a training continues from there."""
    if os.path.exists(path):
        kept = [line for line in read_metrics(path) if line["step"] <= step]
        write_bytes(path, "".join(map(_line, kept)).encode())
