"""Where a recording is written: into a run, or into readings where the module is of no known kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from lmviz.recording.known_module import Copies, KnownModule
from lmviz.recording.readings import Readings
from lmviz.training.run import MEGABYTE, Run

MOST_SNAPSHOTS = 2000
"""Steps that are kept, whatever room they take."""


class Target(Protocol):
    """What the thread of a recording writes into."""

    @property
    def folder(self) -> Path:
        """Where it lies."""

    def rewind(self, step: int) -> None:
        """Forget what was recorded after a step."""

    def write_missing(self) -> None:
        """Write again what tells others of it, where it is gone."""

    def append_metrics(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Add what was measured."""

    def keep(self, step: int, copies: Copies, budget: int) -> None:
        """Write the copies of a step, and give up some where all take more bytes than the budget."""


@dataclass(frozen=True)
class RunTarget:
    """A run, whose snapshots are made of the copies of a known module."""

    run: Run
    known: KnownModule
    precision: str

    @property
    def folder(self) -> Path:
        return self.run.folder

    def rewind(self, step: int) -> None:
        self.run.rewind(step)

    def write_missing(self) -> None:
        self.run.write_missing()

    def append_metrics(self, lines: Iterable[Mapping[str, Any]]) -> None:
        self.run.append_metrics(lines)

    def keep(self, step: int, copies: Copies, budget: int) -> None:
        self.run.save_snapshot(step, self.known.state(copies), self.precision)
        self.run.thin_snapshots(MOST_SNAPSHOTS, budget / MEGABYTE)


@dataclass(frozen=True)
class ReadingsTarget:
    """Readings, which hold the copies themselves."""

    readings: Readings

    @property
    def folder(self) -> Path:
        return self.readings.folder

    def rewind(self, step: int) -> None:
        self.readings.rewind(step)

    def write_missing(self) -> None:
        self.readings.write_missing()

    def append_metrics(self, lines: Iterable[Mapping[str, Any]]) -> None:
        self.readings.append_metrics(lines)

    def keep(self, step: int, copies: Copies, budget: int) -> None:
        self.readings.save(step, copies)
        self.readings.thin(MOST_SNAPSHOTS, budget / MEGABYTE)
