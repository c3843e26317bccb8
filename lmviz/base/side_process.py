"""A process beside the program, in which runs what a stranger has written: it can be killed.

A limit of time cannot stop one call of Python's that is written in C, and one such call can take all memory
there is. So whatever a stranger's file has run is run by `side_serving` in a process of its own, with limits
of time and memory. It is started when it is first needed, and again when it was ended.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import subprocess
import sys
import threading
from typing import IO, Any
from weakref import WeakSet

from lmviz.base.errors import LmvizError

LONGEST_TIME = 2.0
"""Seconds of a core that an answer may take, where the system has such a limit."""

LONGEST_WAIT = 10.0
"""Seconds after which an answer is no longer waited for: a machine may be busy, or know no other limit."""

LONGEST_START = 60.0
"""Seconds in which the process has begun; it imports little."""

LONGEST_REPLY = 100_000_000
"""Bytes of an answer."""

TIME_IS_UP = (24, 27)
"""SIGXCPU and SIGPROF, which end a process that has computed too long."""

SERVE = "--serve-beside"
"""The first word to a bundled program, which is no Python, that has it serve; the module follows."""

AGAIN = 0.01  # seconds after which a process is ended once more that somebody waits for

_SERVE = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2]); from lmviz.base.side_serving import serve; "
)
_SERVE += "serve(sys.argv[1])"


class SideProcess:
    """A process that answers with `module.answer(request)`; requests and answers are values that JSON has.

    An answer may take `seconds` of a core, and whoever asks waits for at most `longest_wait`, by default
    LONGEST_WAIT. Any thread may ask. `ask` raises LmvizError with some words where there is no answer, such
    as "it takes longer than 2 seconds"; what the function raises says why, too.
    """

    def __init__(self, module: str, seconds: float = LONGEST_TIME, longest_wait: float | None = None) -> None:
        self._module, self._seconds, self._longest_wait = module, seconds, longest_wait
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        _all.add(self)

    @property
    def identity(self) -> int | None:
        """The process's number; None where there is none."""
        return None if self._process is None else self._process.pid

    @property
    def is_asked(self) -> bool:
        """Whether somebody waits for an answer."""
        return self._lock.locked()

    def ask(self, request: Any) -> Any:
        """The answer to a request, after at most so many seconds, and LONGEST_START the first time."""
        with self._lock:
            return self._ask(request)

    def close(self) -> None:
        """End the process, where there is one; whoever waits for an answer gets none."""
        while not self._lock.acquire(timeout=AGAIN):
            process = self._process  # which may be another one than a moment ago, begun for who waits
            if process is not None:
                process.kill()
        try:
            self._end()
        finally:
            self._lock.release()

    def _ask(self, request: Any) -> Any:
        try:
            self._start()
            wait = LONGEST_WAIT if self._longest_wait is None else self._longest_wait
            reply = self._exchange(request, wait)
        except BaseException:  # such as an interrupt from the keyboard: the next answer would be this one's
            self._end()
            raise
        if reply.get("ends"):
            self._end()
        if "refused" in reply:
            raise LmvizError(str(reply["refused"]))
        return reply["value"]

    def _start(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        self._end()
        if getattr(sys, "frozen", False):
            command = [sys.executable, SERVE, self._module]
        else:
            path = json.dumps([os.path.abspath(place) for place in sys.path if place])
            command = [sys.executable, "-I", "-c", _SERVE, self._module, path]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except (OSError, ValueError) as error:
            raise LmvizError(f"no process can be started for it, {error}") from None
        self._exchange(self._seconds, LONGEST_START)

    def _exchange(self, request: Any, seconds: float) -> dict[str, Any]:
        """Say something to the process, and hear what it says within so many seconds."""
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        late = threading.Event()

        def kill() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(seconds, kill)
        timer.daemon = True
        timer.start()
        try:
            send(process.stdin, request)
            reply = receive(process.stdout)
        except OSError:  # it has ended
            reply = None
        except NotSent as error:
            raise LmvizError(f"it cannot be asked, {error}") from None
        finally:
            timer.cancel()
            timer.join()
        if isinstance(reply, dict):
            return reply
        process.kill()
        code = process.wait()
        if late.is_set() or -code in TIME_IS_UP:
            longest = seconds if late.is_set() else self._seconds
            raise LmvizError(f"it takes longer than {longest:g} seconds")
        raise LmvizError("it ended the process that ran it")

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):  # what was not sent goes nowhere
                    stream.close()

    def _forget(self) -> None:
        """A fork has the pipes of its parent's process: it starts one of its own."""
        process, self._process, self._lock = self._process, None, threading.Lock()
        if process is not None:
            process.returncode = 0  # it is not this one's to wait for


_all: WeakSet[SideProcess] = WeakSet()


def answer_nobody() -> None:
    """End the processes from which somebody waits for an answer, who gets none: the program is to end."""
    for each in list(_all):
        if each.is_asked:
            each.close()


def _close_all() -> None:
    for each in list(_all):
        each.close()


def _forget_all() -> None:
    for each in list(_all):
        each._forget()


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


class NotSent(Exception):
    """Raised where JSON cannot write a value; nothing of it has been written."""


def send(stream: IO[bytes], value: Any) -> None:
    """Write a value that JSON has, or raise NotSent."""
    try:
        content = json.dumps(value).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise NotSent(str(error)) from None
    stream.write(len(content).to_bytes(8, "big") + content)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """The value that was written; None at the end, and where it is none or too long."""
    length = int.from_bytes(stream.read(8), "big")
    if not 0 < length <= LONGEST_REPLY:
        return None
    content = stream.read(length)
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None
