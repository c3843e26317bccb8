"""A folder that answers late, or not at all, as on a network drive; and who of the program waits for it."""

from __future__ import annotations

import builtins
import errno
import io
import os
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

LONGEST = 60.0  # seconds until a test that never lets the folder answer has failed
ASKED = ((os, "stat lstat scandir listdir open access readlink"), (builtins, "open"), (io, "open"))


class SlowFolder:
    """A folder of which everything that is asked waits while it is `hold`-ed, or is missing while `lose`-d.

    The window's thread never waits, so that no test hangs: who asked from there is written down in `waited`.
    """

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path, self.waited = path, list[str]()
        self._beginning = os.fspath(path)
        self._answers, self._is_lost = threading.Event(), False
        self._answers.set()
        self.was_asked = threading.Event()
        for module, names in ASKED:
            for name in names.split():
                monkeypatch.setattr(module, name, self._slow(getattr(module, name)))

    def hold(self) -> None:
        """Let it answer nobody until `give_back`."""
        self.was_asked.clear()
        self._answers.clear()

    def lose(self) -> None:
        """Let nothing be there until `give_back`, for those as well who wait."""
        self._is_lost = True
        self._answers.set()

    def give_back(self) -> None:
        """Let it answer as it did."""
        self._is_lost = False
        self._answers.set()

    def _slow(self, ask: Callable[..., Any]) -> Callable[..., Any]:
        def asking(path: Any = ".", *given: Any, **settings: Any) -> Any:
            if isinstance(path, str | Path) and os.fspath(path).startswith(self._beginning):
                self._answer(os.fspath(path))
            return ask(path, *given, **settings)

        return asking

    def _answer(self, path: str) -> None:
        if not self._answers.is_set():
            if threading.current_thread() is threading.main_thread():
                self.waited.append(f"{path}: {_asking()}")
            else:
                self.was_asked.set()
                assert self._answers.wait(LONGEST), f"{path} was never given back"
        if self._is_lost:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)


def _asking() -> str:
    """The functions of lmviz through which one came here."""
    frames = (frame for frame in traceback.extract_stack() if f"{os.sep}lmviz{os.sep}" in frame.filename)
    return " → ".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames)
