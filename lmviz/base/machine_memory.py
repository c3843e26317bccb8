"""How much memory this machine has, and how it gets back what is free. Imports no torch."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import Any, ClassVar

GIGABYTE = 1_000_000_000
GROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Where Linux says how much memory a container may have."""


def machine_memory() -> int | None:
    """The bytes of memory that there are for this process; None where the system does not say."""
    limits = []
    if sys.platform != "win32":
        with contextlib.suppress(ValueError, OSError):
            limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for path in GROUP_LIMITS:
        with contextlib.suppress(ValueError, OSError):
            limits.append(int(Path(path).read_text()))
    return min((limit for limit in limits if limit > 0), default=None)


MUCH = 64 * 2**20
"""Bytes that must have become free before they are given back: less is soon needed again."""


class FreeMemory:
    """Gives the system back what was freed. The C library of Linux keeps it otherwise: hundreds of megabytes
    after a long text was read, whose rows were freed between others."""

    def __init__(self) -> None:
        self._library: Any = None
        self._kept = 0

    def give_back(self) -> bool:
        """Give back what is free, if it is much more than after the last time; whether it was."""
        if not sys.platform.startswith("linux"):
            return False
        import ctypes  # not before the first paint

        class Counts(ctypes.Structure):
            _fields_: ClassVar = [(f"count_{number}", ctypes.c_size_t) for number in range(10)]

        if self._library is None:
            self._library = ctypes.CDLL(None)
        if not hasattr(self._library, "mallinfo2"):  # another C library, or glibc before 2.33
            return False
        self._library.mallinfo2.restype = Counts
        free = int(self._library.mallinfo2().count_8)  # fordblks: the bytes in free blocks
        if free <= self._kept + MUCH:
            self._kept = min(self._kept, free)
            return False
        self._library.malloc_trim(0)
        self._kept = free
        return True
