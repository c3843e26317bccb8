"""Memory that is free goes back to the system."""

import platform
import subprocess
import sys

import pytest

FREED = """
from lmviz.base.machine_memory import FreeMemory
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096 / 1e6
free = FreeMemory()
assert not free.give_back()
blocks = [bytearray(60_000) for _ in range(4000)]
kept = blocks[::50]  # what is freed lies between what is not, so that the C library keeps it
before = resident()
del blocks
assert before - resident() < 60, (before, resident())
assert free.give_back()
assert before - resident() > 150, (before, resident())
assert not free.give_back()  # the same is not gone through again
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library keeps less")
def test_what_lies_free_is_given_back_once() -> None:
    done = subprocess.run([sys.executable, "-c", FREED], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
