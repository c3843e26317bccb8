"""The thread that writes a recording down, beside the loop that trains."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Condition, Thread
from typing import Any

from lmviz.base.errors import LmvizError
from lmviz.recording.known_module import Copies
from lmviz.recording.targets import Target
from lmviz.training.lock import Hold

FLUSH_SECONDS = 1.0
"""How long what was measured waits to be appended together."""

ROOM = 2_000_000_000
"""Bytes of copies that may wait for the disk; one copy may always."""


@dataclass(frozen=True)
class _Kept:
    step: int
    copies: Copies
    size: int


class Writer:
    """Writes measurements and copies into a run or into readings, in the order in which they come.

    What cannot be written ends it: `trouble` then says why, and nothing is taken any more.
    """

    def __init__(self, target: Target, budget: int) -> None:
        self.trouble = ""
        self._target, self._budget = target, budget
        self._hold = Hold(target.folder)
        self._changed = Condition()
        self._lines: list[Mapping[str, Any]] = []
        self._waiting: deque[_Kept] = deque()
        self._size = 0
        self._rewind: int | None = None
        self._is_closing = False
        self._thread = Thread(target=self._work, name="lmviz recording", daemon=True)
        self._thread.start()

    def rewind(self, step: int) -> None:
        """Forget what an earlier recording has of later steps than this."""
        with self._changed:
            self._rewind = step

    def note(self, line: Mapping[str, Any]) -> None:
        """Take what was measured at a step."""
        with self._changed:
            self._lines.append(line)  # the thread looks by itself, once in a while

    def has_room(self) -> bool:
        """Whether another copy may wait for the disk."""
        return self._size == 0 or self._size + self._largest <= ROOM

    _largest = 0

    def keep(self, step: int, copies: Copies) -> None:
        """Take the copies of a step."""
        size = sum(tensor.nbytes for tensor in copies.values())
        with self._changed:
            if self.trouble:
                return
            self._largest = max(self._largest, size)
            self._waiting.append(_Kept(step, copies, size))
            self._size += size
            self._changed.notify()

    def close(self) -> None:
        """Write what still waits, and let others train there."""
        with self._changed:
            self._is_closing = True
            self._changed.notify()
        self._thread.join()
        self._hold.release()

    def _work(self) -> None:
        try:
            while self._write_what_waits():
                pass
        except Exception as error:  # whatever it is, the training goes on
            sentence = str(error) if isinstance(error, LmvizError) else f"{type(error).__name__}: {error}"
            with self._changed:
                self.trouble = sentence
                self._lines.clear()
                self._waiting.clear()
                self._size = 0

    def _write_what_waits(self) -> bool:
        """Write one snapshot, or the lines of the last second; False when nothing more will come."""
        with self._changed:
            if not self._waiting and not self._is_closing:
                self._changed.wait(FLUSH_SECONDS)
            kept = self._waiting[0] if self._waiting else None
            lines, self._lines = self._lines, []
            rewind, self._rewind = self._rewind, None
            is_over = self._is_closing and kept is None
        if rewind is not None:
            self._target.rewind(rewind)
        if lines:
            self._make_sure()
            self._target.append_metrics(lines)
        if kept is not None:
            self._make_sure()
            self._target.keep(kept.step, kept.copies, self._budget)
            with self._changed:
                self._waiting.popleft()
                self._size -= kept.size
        return not is_over

    def _make_sure(self) -> None:
        """Before something is written: the run is still held, and what tells others of it is there."""
        self._hold.renew()
        self._target.write_missing()
