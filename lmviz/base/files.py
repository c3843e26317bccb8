"""Atomic writing of files: a file is there whole or not at all.

A file is written under a temporary name in the same folder, flushed to the disk and then renamed. A
reader, a crash or a power cut sees either the old file or the new one.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lmviz.base.arguments import file_path
from lmviz.base.errors import LmvizError

UNFINISHED = ".part"
"""The ending of a file that is being written; one that is left over came from a crash."""

_numbers = itertools.count()


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a path to write to; when the block ends without an exception, it takes the place of `path`.

    Otherwise `path` stays as it was. OSError when the disk is full or refuses.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.{next(_numbers)}{UNFINISHED}")
    try:
        yield beside
        flush(beside)
        os.replace(beside, path)
        flush_folder(path.parent)
    finally:
        beside.unlink(missing_ok=True)


def cut_name(name: str, most: int) -> str:
    """The beginning of a name, whole characters of at most so many bytes; a file's name has room for 255."""
    return name.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")


def write_atomically(path: str | Path, data: bytes) -> Path:
    """Write a file and the folders above it; LmvizError where it cannot be written."""
    path = file_path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as beside:
            beside.write_bytes(data)
    except OSError as error:
        raise LmvizError(f"{path} cannot be written ({error.strerror}): choose another folder.") from error
    except ValueError as error:  # a path without a name, or with a NUL in it
        raise LmvizError(f"{str(path)!r} cannot be written ({error}): choose another name.") from error
    return path


def flush(path: Path) -> None:
    """Wait until the content of a file is on the disk."""
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


def flush_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk; Windows does so automatically."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_unfinished(folder: Path) -> None:
    """Remove what a crash left half written in a folder."""
    for path in folder.glob(f".*{UNFINISHED}"):
        path.unlink(missing_ok=True)
