"""Which base a person has chosen for an adapter that does not lie beside it."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

from lmviz.base.errors import LmvizError
from lmviz.base.files import write_atomically
from lmviz.text.ordinary_files import read_file
from lmviz.text.resources import data_folder

LARGEST = 1_000_000
"""Bytes of the file in which choices are kept."""


class NoBase(LmvizError):
    """An adapter at `folder` has no model that it could be added to: its base can be chosen."""

    def __init__(self, sentence: str, folder: Path) -> None:
        super().__init__(sentence)
        self.folder = folder


def choose_base(adapter: Path, base: Path) -> None:
    """Have an adapter opened with this model from now on; OSError where that cannot be kept."""
    chosen = _chosen() | {str(adapter.absolute()): str(base.absolute())}
    _file().parent.mkdir(parents=True, exist_ok=True)
    write_atomically(_file(), json.dumps(chosen, indent=2).encode("utf-8"))


def chosen_base(adapter: Path) -> Path | None:
    """The model that was chosen for an adapter, or for the series that it lies in, if it is still there."""
    chosen, place = _chosen(), adapter.absolute()
    found = (chosen.get(str(known)) for known in (place, place.parent))
    return next((Path(base) for base in found if isinstance(base, str) and os.path.exists(base)), None)


def _file() -> Path:
    return data_folder() / "bases.json"


def _chosen() -> dict[str, str]:
    with contextlib.suppress(OSError, ValueError, RecursionError):
        read = json.loads(read_file(_file(), LARGEST))
        if isinstance(read, dict):
            return read
    return {}
