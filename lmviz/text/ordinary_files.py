"""Reads whole files safely: no pipes or devices, and none larger than a limit."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

PIECE = 1 << 20
"""Bytes."""


def read_file(path: str | Path, limit: int | None = None) -> bytes:
    """The content of an ordinary file of at most `limit` bytes; OSError otherwise, before any of it is read.

    A pipe would be waited for, and a device such as /dev/zero has no end.
    """
    with _open(path, limit) as file:
        try:
            content = file.read() if limit is None else b"".join(_pieces(file, limit + 1))
        except MemoryError:
            raise OSError(errno.ENOMEM, "it does not fit into memory", str(path)) from None
    if limit is not None and len(content) > limit:  # it says nothing of its size, or grows
        raise _too_large(path, limit)
    return content


def read_text_file(path: str | Path, limit: int) -> str:
    """The text of a file that a person writes, in UTF-8; OSError as of `read_file`, ValueError for no text.

    Some editors begin a file with a byte-order mark, which is no part of the text.
    """
    return read_file(path, limit).decode("utf-8-sig")


def _pieces(file: BinaryIO, most: int) -> Iterator[bytes]:
    """What a file holds, at most so many bytes: all that it says it has, and then what more there is.

    Room is taken for as many bytes as are asked for, so that asking for the limit would take all of it.
    """
    wanted = os.fstat(file.fileno()).st_size + 1
    while most > 0 and (piece := file.read(min(wanted, most))):
        yield piece
        most -= len(piece)
        wanted = PIECE


def check_ordinary(path: str | Path, limit: int | None = None) -> None:
    """Raise OSError where `read_file` would not read, as where one may not."""
    _open(path, limit).close()


def _open(path: str | Path, limit: int | None) -> BinaryIO:
    _check(path, os.stat(path), limit)  # before it is opened: that alone waits where it is a pipe
    file = open(path, "rb", opener=_without_waiting)  # noqa: SIM115 - the caller closes it
    try:
        _check(path, os.fstat(file.fileno()), limit)
    except OSError:
        file.close()
        raise
    return file


def _check(path: str | Path, status: os.stat_result, limit: int | None) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not an ordinary file", str(path))
    if limit is not None and status.st_size > limit:
        raise _too_large(path, limit)


def _too_large(path: str | Path, limit: int) -> OSError:
    return OSError(errno.EFBIG, f"it is larger than {limit / 1e6:,.0f} MB", str(path))


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
