"""Atomic writing of files: a file is there whole or not at all.

A file is written under a temporary name in the same folder, flushed to the disk and then renamed. A
reader, a crash or a power cut sees either the old file or the new one. The temporary name says which process
of which machine writes: what one that was killed has left is removed when its folder is next written to.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import re
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lmviz.base.arguments import file_path
from lmviz.base.errors import LmvizError

UNFINISHED = ".part"
"""The ending of a file that is being written; one that is left over came from a crash."""

_OF_PROCESS = re.compile(
    rf"\..+\.(\d{{1,10}})-([0-9a-f]{{8}})\.\d+{re.escape(UNFINISHED)}", re.ASCII | re.DOTALL
)
"""The names of what is being written: their process, and their machine."""

_numbers = itertools.count()
_looked_into: set[str] = set()  # folders in which nothing is left over any more


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a path to write to; when the block ends without an exception, it takes the place of `path`.

    Otherwise `path` stays as it was. OSError when the disk is full or refuses.
    """
    beside = unfinished_name(path)
    try:
        yield beside
        flush(beside)
        os.replace(beside, path)
        flush_folder(path.parent)
    finally:
        beside.unlink(missing_ok=True)


def unfinished_name(path: Path) -> Path:
    """Where a file or a folder is written until it is whole; what others have left there is removed."""
    folder = os.path.abspath(path.parent)
    if folder not in _looked_into:
        _looked_into.add(folder)
        remove_abandoned(path.parent)
    return path.with_name(f".{path.name}.{os.getpid()}-{_machine()}.{next(_numbers)}{UNFINISHED}")


def remove_abandoned(folder: Path) -> None:
    """Remove what processes of this machine were writing into a folder when they were killed."""
    with contextlib.suppress(OSError):
        for path in list(folder.iterdir()):
            found = _OF_PROCESS.fullmatch(path.name)
            if found is None or found[2] != _machine() or _is_running(int(found[1])):
                continue
            with contextlib.suppress(OSError):  # Windows removes no file that somebody has open
                _remove(path)


def _remove(path: Path) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        path.unlink()


@functools.cache
def _machine() -> str:
    """This machine in eight letters: others may share its folders, and have processes of the same numbers."""
    name = os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")
    return f"{zlib.crc32(name.encode('utf-8', 'replace')):08x}"


def _is_running(process: int) -> bool:
    """Whether a process is there; on Windows only whether it is this one, where open files stay anyway."""
    if process == os.getpid():
        return True
    if os.name == "nt":
        return False
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True  # it belongs to somebody else
    return True


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
