"""The runs in a folder, as a person chooses among them. Imports no torch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from lmviz.base.errors import LmvizError
from lmviz.families import FAMILIES
from lmviz.runs.race_folder import is_race, open_race
from lmviz.runs.run_title import begun_at, title_of, when
from lmviz.training.run import Run

ELSEWHERE = "another program"
"""What stands in place of the family of a series of checkpoints, of which nothing is read here."""


@dataclass(frozen=True)
class ListedRun:
    """A run without its weights: what it is called, its family and text, when it was begun, its steps.

    Or a race, which `has_lanes`: those of the first lane, and the most steps.
    """

    folder: Path
    title: str
    family: str
    text: str
    begun: datetime | None
    steps: int
    has_lanes: bool = False


def list_runs(folder: Path) -> tuple[ListedRun, ...]:
    """The runs that lie in a folder, and the races that do with each of their lanes, the newest first.

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
            if lanes:
                whole = _whole(race, lanes)
                listed += [whole, *(replace(lane, title=f"{whole.title}: {lane.title}") for lane in lanes)]
    return tuple(sorted(listed, key=lambda entry: (entry.begun or datetime.min, entry.title), reverse=True))


def list_race(folder: Path) -> tuple[ListedRun, ...]:
    """The runs in a folder, the newest first, and after them all of them as the lanes of a race."""
    lanes = [entry for path in _lanes(folder) if (entry := list_run(path)) is not None]
    lanes.sort(key=lambda entry: (entry.begun or datetime.min, entry.title), reverse=True)
    return (*lanes, _whole(folder, lanes)) if lanes else ()


def _whole(race: Path, lanes: list[ListedRun]) -> ListedRun:
    """The entry of a race itself: named as its folder is, or where nobody has named that, as a run is."""
    first, begun = lanes[0], begun_at(race.name)
    title = race.name if begun is None else f"Race of {first.family} on {first.text}, {when(begun)}"
    steps = max(lane.steps for lane in lanes)
    return ListedRun(race, title, first.family, first.text, begun or first.begun, steps, has_lanes=True)


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
        from lmviz.text.checkpoint_names import may_be_series, named_steps  # the first screen does without

        if may_be_series(folder):
            steps = [each.step for each in named_steps(folder) if each.step is not None]
            return ListedRun(folder, folder.name, ELSEWHERE, "", None, max(steps))
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
