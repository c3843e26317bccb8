"""A lock on a run's folder, so that only one process trains in it.

It is a lock of the operating system (through `filelock`), which is released when the process ends, even by
kill -9 or a power cut: a file left behind blocks no later training. The text in the file is only for the
error message.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lmviz.base.errors import LmvizError
from lmviz.training.writing import NotWritten

if TYPE_CHECKING:
    from filelock import FileLock

LOCK_NAME = "training.lock"

PATIENCE = 0.2
"""Seconds to try for, since a trainer that ends removes its file just before the lock goes."""

NO_LOCKS = {errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK}
"""The errors of file systems without locks; a training there runs without one."""

NOTE_START = 1
"""Where the text begins in the file: on Windows the first byte is locked and cannot be read."""


class BeingTrained(LmvizError):
    """Another trainer holds the run."""

    def __init__(self, folder: Path, holder: str) -> None:
        super().__init__(
            f"{folder} is being trained already{holder}: wait for that training or stop it, "
            "or train in another folder."
        )


class Hold:
    """A run's folder that is held for training."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = _acquired(folder)
        self._file = _identity(folder / LOCK_NAME)

    def renew(self) -> None:
        """Hold the folder again where the file of the lock was deleted; raises as `holding`.

        Another trainer can have begun then, on a file of its own: it is in the way as any other is.
        """
        if self._lock.is_locked and _identity(self._folder / LOCK_NAME) != self._file:
            self._lock.release()
            self._lock = _acquired(self._folder)
            self._file = _identity(self._folder / LOCK_NAME)

    def release(self) -> None:
        """Let others train there."""
        if self._lock.is_locked:
            if _identity(self._folder / LOCK_NAME) == self._file:  # and not another trainer's
                with suppress(OSError):  # Windows keeps it, which does no harm
                    (self._folder / LOCK_NAME).unlink()
            self._lock.release()


@contextmanager
def holding(folder: Path) -> Iterator[Hold]:
    """Hold a run's folder for training until the block ends.

    Raises BeingTrained when another trainer, in this process or any other, holds it, and NotWritten when
    the folder cannot be written to. The block may end in another thread than it began in.
    """
    hold = Hold(folder)
    try:
        yield hold
    finally:
        hold.release()


def _acquired(folder: Path) -> FileLock:
    """A lock on the folder, not held where its file system has none."""
    from filelock import FileLock, Timeout  # only who trains needs it, and it is slow to import

    path = folder / LOCK_NAME
    if not os.path.isdir(folder):  # FileLock would make it
        raise NotWritten(path, FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)))
    lock = FileLock(path, PATIENCE, thread_local=False, poll_interval=PATIENCE / 10, on_acquired=_sign)
    try:
        lock.acquire()
    except Timeout:
        raise BeingTrained(folder, _holder(path)) from None
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise NotWritten(path, error) from None
    return lock


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file lies at a path; None where there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _sign(descriptor: int) -> None:
    """Write down who holds the run: the process and its machine."""
    with suppress(OSError):  # on a full disk the lock holds all the same
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, b" " * NOTE_START + f"{os.getpid()} {_machine()}\n".encode())


def _holder(path: Path) -> str:
    """The holder of the lock, if its text can be read."""
    try:
        with path.open("rb", buffering=0) as file:
            file.seek(NOTE_START)
            note = file.read().decode("utf-8", errors="replace")
    except OSError:
        return ""
    process, _, machine = note.strip().partition(" ")
    if not process.isdecimal():
        return ""
    if machine != _machine():
        return f" by process {process} on {machine}"
    return " in this program" if int(process) == os.getpid() else f" by process {process}"


def _machine() -> str:
    import socket  # a window that only looks at a run does without

    return socket.gethostname()
