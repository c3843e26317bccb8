"""Writes rows as .csv and arrays as .npz, whole or not at all."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from lmviz.base.errors import LmvizError
from lmviz.base.files import write_atomically

if TYPE_CHECKING:
    import numpy as np

Cell = str | int | float


def save_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays by name as .npz."""
    import numpy as np

    content = io.BytesIO()
    np.savez(content, **arrays)  # type: ignore[arg-type]  # names are arrays
    write_atomically(path, content.getvalue())


def save_rows(path: Path, rows: Iterable[Mapping[str, Cell]]) -> None:
    """Write rows as .csv, under the names that the first one has; LmvizError for another ending."""
    if path.suffix != ".csv":
        raise LmvizError(f"{path.name} has an unknown ending: end it with .csv or .npz.")
    text = io.StringIO(newline="")
    writer = None
    for row in rows:
        if writer is None:
            writer = csv.DictWriter(text, list(row), lineterminator="\n")
            writer.writeheader()
        writer.writerow(row)
    if writer is None:
        text.write("value\n")
    write_atomically(path, text.getvalue().encode())
