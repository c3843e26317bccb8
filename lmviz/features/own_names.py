"""The names that a person gave features, kept in a file beside the dictionary."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os.path import isdir, isfile
from pathlib import Path
from typing import Any

from lmviz.base.errors import LmvizError
from lmviz.base.files import write_atomically
from lmviz.base.loading import loads

LARGEST = 10_000_000
"""Bytes of a file of names."""

LONGEST = 200
"""Characters of a name that are read."""


def names_beside(dictionary: Path) -> dict[int, str]:
    """The names kept beside a dictionary; none where no file lies there, LmvizError as of `read_names`."""
    path = names_file(dictionary)
    return read_names(path) if isfile(path) else {}


def names_file(dictionary: Path) -> Path:
    """Where the names of a dictionary's features are kept: in its folder, or beside its file."""
    return dictionary / "names.json" if isdir(dictionary) else dictionary.with_suffix(".names.json")


@loads("names of features")
def read_names(path: Path) -> dict[int, str]:
    """The names given to features, by their numbers, of a file; LmvizError where it holds something else."""
    from lmviz.text.ordinary_files import read_file

    try:
        told: Any = json.loads(read_file(path, LARGEST))
        found = {int(number): name for number, name in told.items()}
        if not all(isinstance(name, str) and number >= 0 for number, name in found.items()):
            raise ValueError("not all of them are names")
    except (ValueError, TypeError, AttributeError, RecursionError) as fault:
        raise LmvizError(f"{path} holds no names of features ({fault}): move it away.") from fault
    return {number: name[:LONGEST] for number, name in sorted(found.items())}


def write_names(dictionary: Path, names: Mapping[int, str]) -> None:
    """Keep the names, in the order of the features; LmvizError where they cannot be written."""
    path = names_file(dictionary)
    told = {str(number): names[number] for number in sorted(names)}
    try:
        write_atomically(path, json.dumps(told, ensure_ascii=False, indent=1).encode("utf-8"))
    except OSError as fault:
        raise LmvizError(
            f"{path} cannot be written ({fault.strerror}): copy the features elsewhere."
        ) from fault
