"""Writing into a run's folder; an error says how to save the training."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lmviz.base import files
from lmviz.base.errors import LmvizError


class NotWritten(LmvizError):
    """A file could not be written; what was there before is untouched."""

    def __init__(self, path: Path, error: Exception) -> None:
        reason = getattr(error, "strerror", None) or str(error)
        if getattr(error, "errno", None) == errno.ENOENT:
            way_out = "the folder was deleted or moved: resume the run where it is now, or train again."
        else:
            way_out = (
                "free some space, or see that the folder may be written to, and then resume; what was "
                "saved before is intact."
            )
        super().__init__(f"{path} could not be written ({reason}): {way_out}")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """`lmviz.base.files.replacing`, which raises NotWritten when the disk is full or refuses."""
    try:
        with files.replacing(path) as beside:
            yield beside
    except OSError as error:
        raise NotWritten(path, error) from error


def write_bytes(path: Path, content: bytes) -> None:
    """Write a whole file, or raise NotWritten."""
    with replacing(path) as beside:
        beside.write_bytes(content)
