"""Files that are there whole or not at all.

A file is written beside its place, flushed to the disk and then renamed, so that a reader, a crash or a
power cut meets the old file or the new one and nothing between.
"""

from __future__ import annotations

import errno
import itertools
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lmviz.errors import LmvizError

UNFINISHED = ".part"
"""The ending of a file that is being written; one that is left over came from a crash."""

_numbers = itertools.count()


class NotWritten(LmvizError):
    """A file could not be written; what was there before is untouched."""

    def __init__(self, path: Path, error: Exception) -> None:
        number, reason = _reason(error)
        if number == errno.ENOENT:
            way_out = "the folder has gone; train anew, as nothing is left of this run."
        else:
            way_out = (
                "free some space, or see that the folder may be written to, and then resume; what was "
                "saved before is intact."
            )
        super().__init__(f"{path} could not be written ({reason}): {way_out}")


def _reason(error: Exception) -> tuple[int | None, str]:
    """The system's number and words for what went wrong; safetensors hides them in its own sentence."""
    if isinstance(error, OSError):
        return error.errno, error.strerror or str(error)
    told = re.search(r"os error (\d+)", str(error))
    return (int(told[1]), os.strerror(int(told[1]))) if told else (None, str(error))


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
        raise NotWritten(path, error) from error
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
