"""How much memory this machine has. Imports no torch."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

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
