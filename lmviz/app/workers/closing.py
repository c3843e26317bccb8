"""Ends the program: waits for threads, but only for a limited time.

A thread can only be asked to stop. One that does not check, because it is in a long step, is given up. It
then still runs, possibly inside torch, and the normal end of a Python process, which destroys its objects,
could crash or hang: `leave` ends the process at once instead. One that imports cannot check, however fast
the machine is, and imports come to an end: that time does not count. A script that opens a window and comes
to its end does not call `leave`: `close_at_exit` stops the threads there.
"""

from __future__ import annotations

import atexit
import logging
import os
import sys
import threading
import time
import weakref
from collections.abc import Iterable
from types import FrameType
from typing import Protocol

from shiboken6 import isValid

from lmviz.app.workers.threads import BackgroundThread

LONGEST_WAIT = 5.0  # seconds, for all threads together, without those in which one of them imports
LONGEST_IMPORT = 120.0  # seconds; torch from a slow disk, on a busy machine, takes half of that
MOMENT = 0.05  # seconds between two looks at what the threads do

logger = logging.getLogger("lmviz")


class Worker(Protocol):
    """A worker in its own thread, which has been asked to stop."""

    name: str

    def join(self, timeout: float | None = None) -> None:
        """Wait until its thread has ended, at most `timeout` seconds."""

    def is_alive(self) -> bool:
        """Whether its thread runs."""


class Closable(Protocol):
    """Something of Qt's that runs threads."""

    def close(self) -> None:
        """Ask them to stop, and wait a while for them."""


def wait_for(workers: Iterable[Worker], seconds: float | None = None) -> tuple[str, ...]:
    """Wait until all of them have ended, together at most so many seconds: by default `LONGEST_WAIT`.

    They count anew from the end of an import. The names of those that have not ended are returned, logged,
    and written to stderr.
    """
    workers = tuple(workers)
    seconds = LONGEST_WAIT if seconds is None else seconds
    now = time.monotonic()
    deadline, latest = now + seconds, now + seconds + LONGEST_IMPORT
    for worker in workers:
        while worker.is_alive() and (now := time.monotonic()) < deadline:
            worker.join(min(MOMENT, deadline - now))
            if _is_importing():
                deadline = min(time.monotonic() + seconds, latest)
    given_up = tuple(worker.name for worker in workers if worker.is_alive())
    for name in given_up:
        sentence = f"lmviz closes without “{name}”, which did not stop within {seconds:g} seconds."
        logger.warning(sentence)
        print(sentence, file=sys.stderr)
    return given_up


def leave(code: int) -> int:
    """The exit code, where no thread runs any more; otherwise this ends the process with it."""
    if _running():
        logging.shutdown()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:  # a program without a console has none
                stream.flush()
        os._exit(code)
    return code


def close_at_exit(session: Closable) -> None:
    """Have what runs threads closed where Python comes to its end around them.

    Python ends a daemon thread wherever it next asks for the interpreter. C++ that has called Python, as
    torch does, aborts the process then.
    """
    reference = weakref.ref(session)

    def end() -> None:
        living = reference()
        if living is None or not isValid(living) or not _running():
            return
        living.close()
        if wait_for(_running()):
            leave(1)

    atexit.register(end)


def _is_importing() -> bool:
    """Whether a thread of lmviz is in the midst of an import, for which others may have to wait."""
    frames = sys._current_frames()
    return any(_imports(frames.get(thread.ident or 0)) for thread in _running())


def _imports(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _running() -> list[BackgroundThread]:
    return [thread for thread in threading.enumerate() if isinstance(thread, BackgroundThread)]
