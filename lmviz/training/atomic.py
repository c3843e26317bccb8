"""Files that are there whole or not at all.

A file is written beside its place, flushed to the disk and then renamed, so that a reader, a crash or a
power cut meets the old file or the new one and nothing between.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lmviz.errors import LmvizError

UNFINISHED = ".part"
"""The ending of a file that is being written; one that is left over came from a crash."""

_numbers = itertools.count()


class NotWritten(LmvizError):
    """A file could not be written; what was there before is untouched."""

    def __init__(self, path: Path, reason: object) -> None:
        super().__init__(
            f"{path} could not be written ({reason}): free some space, or see that the folder may be "
            "written to, and then resume; what was saved before is intact."
        )


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a path to write to; when the block ends well, it takes the place of `path`.

    Raises NotWritten when the disk is full or refuses.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.{next(_numbers)}{UNFINISHED}")
    try:
        yield beside
        flush(beside)
        os.replace(beside, path)
        flush_folder(path.parent)
    except OSError as error:
        raise NotWritten(path, error.strerror or error) from error
    finally:
        beside.unlink(missing_ok=True)


def write_bytes(path: Path, content: bytes) -> None:
    """Write a whole file, or raise NotWritten."""
    with replacing(path) as beside:
        beside.write_bytes(content)


def flush(path: Path) -> None:
    """Wait until the content of a file is on the disk."""
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


def flush_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk; Windows does so by itself."""
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
