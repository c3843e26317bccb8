"""The runs in a folder, as a person chooses among them. Imports no torch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from lmviz.base.errors import LmvizError
from lmviz.families import FAMILIES
from lmviz.runs.race_folder import is_race, open_race
from lmviz.runs.run_title import begun_at, title_of
from lmviz.training.run import Run


@dataclass(frozen=True)
class ListedRun:
    """A run without its weights: what it is called, its family and text, when it was begun, its steps."""

    folder: Path
    title: str
    family: str
    text: str
    begun: datetime | None
    steps: int


def list_runs(folder: Path) -> tuple[ListedRun, ...]:
    """The runs that lie in a folder, and the lanes of races that do, the newest first.

    What cannot be read as one is left out.
    """
    try:
        inner = list(folder.iterdir())
    except OSError:
        return ()
    listed = [entry for path in inner if (entry := list_run(path)) is not None]
    for race in inner:
        if is_race(race):
            lanes = [entry for path in _lanes(race) if (entry := list_run(path)) is not None]
            listed += [replace(lane, title=f"{race.name}: {lane.title}") for lane in lanes]
    return tuple(sorted(listed, key=lambda entry: (entry.begun or datetime.min, entry.title), reverse=True))


def _lanes(race: Path) -> list[Path]:
    try:
        return list(open_race(race).lanes.values())
    except LmvizError:
        return []


def title_in(folder: Path) -> str:
    """What a person calls the run in a folder; the folder's own name where the run cannot be read."""
    try:
        return title_of(Run.open(folder).description) or folder.name
    except LmvizError:
        return folder.name


def list_run(folder: Path) -> ListedRun | None:
    """The run in a folder; None where there is none that can be read."""
    try:
        run = Run.open(folder)
        description = run.description
        family = FAMILIES.get(description.family)
        snapshots = run.snapshots()
        return ListedRun(
            folder,
            title_of(description),
            family.short_title if family is not None else description.family,
            str(description.corpus.get("name", "")),
            begun_at(folder.name) or _local(description.created),
            snapshots[-1] if snapshots else description.options.steps,
        )
    except LmvizError:
        return None


def _local(created: str) -> datetime | None:
    """A moment written in ISO 8601 as the clock on the wall showed it."""
    try:
        return datetime.fromisoformat(created).astimezone().replace(tzinfo=None)
    except (ValueError, OverflowError, OSError):
        return None
