"""How a result looks whose package says nothing more of it: its figures, and its numbers along its axes."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from lmviz.base.figures import counted, plain
from lmviz.looks.look import Look
from lmviz.looks.parts import LookPart, Matrix, Table, Words
from lmviz.showing.pieces import MOST, counts, figures, numbers, texts

LARGEST = 64 * 512
"""Of so many numbers, a matrix is drawn."""


def look_of_fields(value: Any) -> Look:
    """The fields of a dataclass: numbers and words in a table, arrays as rows of numbers or as matrices."""
    known = {one.name: getattr(value, one.name) for one in fields(value)} if is_dataclass(value) else {}
    said = [(_spaced(name), _said(content)) for name, content in known.items()]
    parts: list[LookPart] = [figures(said)]
    rows = {name: content for name, content in known.items() if _is_row(content)}
    length = max((len(content) for content in rows.values()), default=0)
    alike = {name: content for name, content in rows.items() if len(content) == length}
    if alike and length > 1:
        columns = [counts("place", range(min(length, MOST)))]
        for name, content in alike.items():
            if isinstance(content, np.ndarray):
                columns.append(numbers(_spaced(name), content[:MOST]))
            else:
                columns.append(texts(_spaced(name), map(str, content[:MOST])))
        parts.append(Table("rows", columns=columns))
    for name, content in known.items():
        if _is_grid(content):
            title = Words(f"{name} title", text=_spaced(name), role="muted")
            parts += [title, Matrix(name, values=content.astype(np.float64))]
    return Look(parts, title=_spaced(type(value).__name__).capitalize())


def _is_grid(content: Any) -> bool:
    is_matrix = isinstance(content, np.ndarray) and content.ndim == 2 and content.dtype.kind in "fiu"
    return is_matrix and 0 < content.size <= LARGEST


def _is_row(content: Any) -> bool:
    if isinstance(content, np.ndarray):
        return content.ndim == 1 and content.dtype.kind in "fiub"
    return isinstance(content, tuple) and all(isinstance(one, str) for one in content)


def _said(content: Any) -> str | None:
    """A field in a line; None where it is empty, or stands elsewhere."""
    if isinstance(content, bool | str):
        return str(content) or None
    if isinstance(content, int | float):
        return f"{content:,}" if isinstance(content, int) else plain(content, 4)
    if isinstance(content, np.ndarray):
        return " × ".join(map(str, content.shape)) + " numbers" if content.ndim > 1 else None
    if isinstance(content, tuple | list | dict) and content and not _is_row(content):
        return counted(len(content), "entry").replace("entrys", "entries")
    return None


def _spaced(name: str) -> str:
    """ "loss_reconstructed" or "LossMap" in words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").lower()
