"""One trainer at a time: a run's folder is held while something trains into it.

The file is locked by the operating system, which lets go however a process ends, be it by kill -9 or a
power cut: a file that was left behind holds nobody up. What is written in it only serves the sentence.
"""

from __future__ import annotations

import errno
import itertools
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lmviz.errors import LmvizError
from lmviz.training.atomic import NotWritten

LOCK_NAME = "training.lock"
BEYOND = 2**30
"""The byte that Windows locks, far behind the text: what it locks nobody else can read."""

ATTEMPTS = 100
"""How often to try while those who held the run remove their files."""

HELD = {errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK}
"""How systems say that somebody else has the lock. A file system that knows no locks says something else,
and a training there goes on without one."""


class BeingTrained(LmvizError):
    """Another trainer holds the run."""

    def __init__(self, folder: Path, holder: str) -> None:
        super().__init__(
            f"{folder} is being trained already{holder}: wait for that training or stop it, "
            "or train in another folder."
        )


@contextmanager
def holding(folder: Path) -> Iterator[None]:
    """Hold a run's folder for training until the block ends.

    Raises BeingTrained when another trainer, in this process or any other, holds it, and NotWritten when
    the folder cannot be written to.
    """
    path = folder / LOCK_NAME
    descriptor = _take(path)
    try:
        yield
    finally:
        with suppress(OSError):  # Windows keeps it, which does no harm
            path.unlink()
        os.close(descriptor)


def _take(path: Path) -> int:
    """A descriptor of the file with the lock on it."""
    attempts = itertools.count(1)
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise NotWritten(path, error) from None
        try:
            _lock(descriptor, path)
            # A file system that never knows a file again is taken at its word in the end.
            if _is_still_there(descriptor, path) or next(attempts) == ATTEMPTS:
                _sign(descriptor)
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # whoever held it has removed it meanwhile


def _lock(descriptor: int, path: Path) -> None:
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(descriptor, BEYOND, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in HELD:
            raise BeingTrained(path.parent, _holder(path)) from None


def _is_still_there(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _sign(descriptor: int) -> None:
    """Write down who holds the run: the process and its machine."""
    with suppress(OSError):  # on a full disk the lock holds all the same
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, f"{os.getpid()} {socket.gethostname()}\n".encode())


def _holder(path: Path) -> str:
    """Who holds a run, as far as that was written down."""
    try:
        process, _, machine = path.read_text(encoding="utf-8", errors="replace").strip().partition(" ")
    except OSError:
        return ""
    if not process.isdecimal():
        return ""
    if machine != socket.gethostname():
        return f" by process {process} on {machine}"
    return " in this program" if int(process) == os.getpid() else f" by process {process}"
