"""Cells that hold a list, as JSON, Python or numpy write one: no such cell is taken for its literal text."""

from __future__ import annotations

import ast
import json
import re

_LONGEST = 1_000_000
_QUOTED = r"'[^']*'|\"[^\"]*\""
_NUMPY = re.compile(rf"\[\s*({_QUOTED}|-?\d+)(\s+({_QUOTED}|-?\d+))+\s*\]")
"""A list without commas, as numpy writes it: ['O' 'B-PER'] or [0 3 1]."""

_NUMPY_CELL = re.compile(rf"{_QUOTED}|-?\d+")


def items_of(cell: str) -> tuple[str, ...] | None:
    """The items of a cell that is a list of words or whole numbers; None where it is none."""
    value = _read(cell) if cell[:1] == "[" and cell[-1:] == "]" else None
    if not isinstance(value, list) or not all(isinstance(item, str | int) for item in value):
        return None
    return tuple(item if isinstance(item, str) else str(int(item)) for item in value)


def is_nested(cell: str) -> bool:
    """Whether a cell is a list or an object, written as JSON, Python or numpy have it."""
    return cell[:1] + cell[-1:] in ("[]", "{}") and isinstance(_read(cell), list | dict)


def _read(cell: str) -> object:
    """What a cell says where it is a value of JSON, Python or numpy; None otherwise."""
    if len(cell) > _LONGEST:
        return None
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        pass
    if _NUMPY.fullmatch(cell):  # first, since two words beside each other are one to Python
        return [found.strip("'\"") for found in _NUMPY_CELL.findall(cell)]
    try:
        return ast.literal_eval(cell)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
