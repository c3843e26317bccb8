"""Reads changed files, each loader in a process of its own: an abort or a hang is found, too."""

from __future__ import annotations

import math
import mmap
import os
import random
import resource
import signal
import struct
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from loaders import Loader

from lmviz.base.errors import LmvizError
from lmviz.base.loading import Unexpected

LONGEST = 60.0  # seconds for one file on a busy machine
MEMORY = 6 * 2**30  # bytes that reading may take on top of what the process has


@dataclass(frozen=True)
class Fault:
    """What neither gave a value nor a sentence: which attempt, and how it ended."""

    what: str
    number: int
    how: str


@dataclass(frozen=True)
class Read:
    """How many changed files were tried, what went wrong, and how many were what they should be."""

    tried: int
    faults: list[Fault]
    values: int


def fuzz(loader: Loader, count: int, seed: int, notes: Path, end: float = math.inf) -> Read:
    """Read `count` changed files, or as many as can be until `end`, by `time.monotonic`: one at least.

    `notes` is a file of the process's own.
    """
    good = loader.path.read_bytes()
    faults, number, values = list[Fault](), 0, 0
    try:
        while number < count and (number == 0 or time.monotonic() < end):
            notes.write_bytes(b"")
            with mmap.mmap(-1, 16) as at:
                how = _wait(_fork(loader, good, range(number, count), seed, notes, at, end), at)
                reached, gave_value = struct.unpack("qq", at[:])
            values += gave_value
            faults += [Fault(loader.name, *found) for found in _read(notes)]
            if how:
                faults.append(Fault(loader.name, reached, how))
            number = reached + 1
    finally:
        loader.path.write_bytes(good)
    return Read(number, faults, values)


def changed(loader: Loader, good: bytes, number: int, seed: int) -> bytes:
    """The changed file of an attempt; the same at each call."""
    return loader.change(good, random.Random(f"{seed} {loader.name} {number}"))


def _fork(
    loader: Loader, good: bytes, numbers: range, seed: int, notes: Path, at: mmap.mmap, end: float
) -> int:
    child = os.fork()
    if child:
        return child
    values = 0
    try:
        _limit_memory()
        for number in numbers:
            at[:] = struct.pack("qq", number, values)
            loader.path.write_bytes(changed(loader, good, number, seed))
            try:
                values += loader.read() is not None
            except BaseException as fault:
                if isinstance(fault, Unexpected) or not isinstance(fault, LmvizError):
                    _note(notes, number, traceback.format_exc(limit=-4))
            at[:] = struct.pack("qq", number, values)
            if time.monotonic() > end:
                break
    finally:
        os._exit(0)


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if os.path.exists("/proc/self/statm") else 0
    if pages:
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _wait(child: int, at: mmap.mmap) -> str:
    """How a process ended that did not end by itself; "" otherwise."""
    before, since = at[:], time.monotonic()
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else ""
        if at[:] != before:
            before, since = at[:], time.monotonic()
        elif time.monotonic() - since > LONGEST:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return f"no answer within {LONGEST:.0f} s"
        time.sleep(0.005)


def _note(notes: Path, number: int, how: str) -> None:
    with notes.open("a", encoding="utf-8", errors="backslashreplace") as file:
        file.write(f"{number}\t{how[-1500:]!r}\n")


def _read(notes: Path) -> Iterator[tuple[int, str]]:
    for line in notes.read_text(encoding="utf-8").splitlines():
        number, _, how = line.partition("\t")
        yield int(number), how
