"""The corpora one can name: those that lmviz writes itself, and public ones by address and checksum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lmviz.errors import LmvizError
from lmviz.text.resources import data_folder


@dataclass(frozen=True)
class Entry:
    """A corpus that has a name.

    `characters` is its size; `address` is where it is downloaded from, empty for our own; `sha256` is
    of the file; `options` are fields of `CorpusOptions` that suit it.
    """

    name: str
    title: str
    description: str
    characters: int
    licence: str
    sha256: str
    options: Mapping[str, Any] = field(default_factory=dict)
    address: str = ""

    @property
    def path(self) -> Path:
        """Where its text lies once it is downloaded or generated."""
        return data_folder() / "corpora" / f"{self.name}.txt"


CATALOGUE: tuple[Entry, ...] = ()


def find_entry(name: str) -> Entry | None:
    """The entry of that name, None where there is none."""
    return next((entry for entry in CATALOGUE if entry.name == name), None)


def corpus_path(name: str) -> Path:
    """The file of a corpus of the catalogue."""
    entry = find_entry(name)
    if entry is None:
        known = ", ".join(entry.name for entry in CATALOGUE)
        raise LmvizError(f"There is no corpus {name!r}: the catalogue has {known}.")
    return entry.path
