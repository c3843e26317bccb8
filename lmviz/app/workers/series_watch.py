"""The thread that looks at series of checkpoints again and again, while other programs write them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lmviz.app.workers.delivery import deliver_to
from lmviz.app.workers.threads import BackgroundThread, lower_priority
from lmviz.base.errors import LmvizError

if TYPE_CHECKING:
    from lmviz.series.series_run import SeriesRun
    from lmviz.series.standing import Standing

LOOK_EVERY = 1.0
"""Seconds. News is not waited for: network drives tell of none, and files grow unheard."""


@dataclass(frozen=True)
class SeriesLook:
    """A series as it is now, and how its training stands; both None where nothing of it is left.

    `kept` is the bytes that copies of its checkpoints take, None where none are kept; `trouble` is why one
    could not be.
    """

    folder: Path
    run: SeriesRun | None = None
    standing: Standing | None = None
    kept: int | None = None
    trouble: str = ""


class SeriesWatch:
    """Looks at series, and has the weights that will be wanted next read by the system.

    `heard` is called in the window's thread with each look.
    """

    def __init__(self, heard: Callable[[SeriesLook], None]) -> None:
        self.name = "watching series of checkpoints"
        self._wanted = wanted = _Wanted()
        send = deliver_to(heard)
        self._thread = BackgroundThread(self.name, lambda: _watch(wanted, send))

    def watch(self, runs: Mapping[Path, SeriesRun]) -> None:
        """Look at these series from now on, and at no others; at once where one is new."""
        with self._wanted.condition:
            is_new = bool(runs.keys() - self._wanted.runs.keys())
            self._wanted.runs = dict(runs)
            if is_new:
                self._wanted.condition.notify()
        if runs and self._thread.ident is None:
            self._thread.start()

    def keep(self, folder: Path, wanted: bool) -> None:
        """Keep a copy of each checkpoint of a series, of those that are there too, or of no more."""
        with self._wanted.condition:
            self._wanted.kept = self._wanted.kept | {folder} if wanted else self._wanted.kept - {folder}
            self._wanted.condition.notify()

    def read_ahead(self, places: tuple[Path, ...]) -> None:
        """Have checkpoints at hand that will probably be shown next."""
        with self._wanted.condition:
            self._wanted.ahead = places
            self._wanted.condition.notify()

    def stop(self) -> None:
        """Look at nothing more, without waiting."""
        with self._wanted.condition:
            self._wanted.is_closed = True
            self._wanted.condition.notify()

    def is_alive(self) -> bool:
        """Whether its thread runs."""
        return self._thread.is_alive()

    def join(self, timeout: float | None = None) -> None:
        """Wait until its thread has ended, at most `timeout` seconds."""
        if self._thread.ident is not None:
            self._thread.join(timeout)


class _Wanted:
    """What is to be looked at; for both threads."""

    def __init__(self) -> None:
        self.condition = threading.Condition()
        self.runs: dict[Path, SeriesRun] = {}
        self.ahead: tuple[Path, ...] = ()
        self.kept: frozenset[Path] = frozenset()
        self.is_closed = False


def _watch(wanted: _Wanted, send: Callable[[SeriesLook], None]) -> None:
    """What the thread does."""
    from lmviz.series.standing import read_ahead

    lower_priority()
    known: dict[Path, tuple[SeriesRun, SeriesLook]] = {}  # by the folder: as it was opened, and seen last
    while True:
        with wanted.condition:
            runs, ahead, wanted.ahead = dict(wanted.runs), wanted.ahead, ()
            kept = wanted.kept
            if wanted.is_closed:
                return
        for place in ahead:
            read_ahead(place)
        known = {folder: seen for folder, seen in known.items() if folder in runs}
        for folder, run in runs.items():
            opened, before = known.get(folder, (run, None))
            if before is not None and run is not opened and run is not before.run:
                before = None  # it was closed meanwhile, and opened again
            look = _look(folder, run, before)
            if look.run is not None:
                look = _with_copies(look, folder in kept)
            known[folder] = run, look
            if look != before:
                send(look)
        with wanted.condition:
            is_new = wanted.runs.keys() - runs.keys() or wanted.kept != kept
            if not (wanted.is_closed or wanted.ahead or is_new):
                wanted.condition.wait(LOOK_EVERY)


def _with_copies(look: SeriesLook, is_wanted: bool) -> SeriesLook:
    """The same, once a copy of each checkpoint has been kept where this is wanted."""
    from lmviz.series.keeping import keep_copy, place_of_copies, size_of_copies

    if not is_wanted or look.run is None:
        return replace(look, kept=None, trouble="")
    copies, trouble = place_of_copies(look.folder), ""
    for place in look.run.steps.values():
        try:
            keep_copy(place, copies)
        except LmvizError as reason:
            trouble = str(reason)
            break
    return replace(look, kept=size_of_copies(copies), trouble=trouble)


def _look(folder: Path, opened: SeriesRun, before: SeriesLook | None) -> SeriesLook:
    from lmviz.series.standing import standing_of

    run = opened if before is None or before.run is None else before.run
    try:
        now = run.again()
    except LmvizError:
        return SeriesLook(folder)
    if before is not None and now is before.run:
        return before
    now.recorded  # noqa: B018 - read here, and not in the window's thread
    standing = standing_of(now.steps)
    return SeriesLook(folder) if standing is None else SeriesLook(folder, now, standing)
