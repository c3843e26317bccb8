"""Files that tell whether anybody has read them: Python's audit does not see what Qt opens."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path


class Trap:
    """A FIFO, and a process that waits until somebody opens it for reading, and ends what they read.

    A thread would not do: Qt reads while it holds the interpreter.
    """

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = path
        self._process = subprocess.Popen(["sh", "-c", 'exec 3> "$1"; rm "$1"', "sh", str(path)])

    @property
    def was_read(self) -> bool:
        """Whether somebody has."""
        return self._process.poll() is not None

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()


class Traps:
    """A trap for each of several places, by its name."""

    def __init__(self, folder: Path, names: Iterable[str]) -> None:
        self._traps = {name: Trap(folder / name) for name in names}

    def __getitem__(self, name: str) -> Path:
        return self._traps[name].path

    @property
    def read(self) -> list[str]:
        """The names of those that somebody has read."""
        return [name for name, trap in self._traps.items() if trap.was_read]

    def close(self) -> None:
        """End the processes."""
        for trap in self._traps.values():
            trap.close()
