"""The curves of a training of another program, as that program recorded them beside its checkpoints.

A curve keeps the name that its program gave it, its steps and its values; nothing is computed, joined or
filled in. What a training recorded twice, as Trainer does for TensorBoard, are two curves of two programs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.base.loading import loads
from lmviz.interchange.event_file import FILE_MARK
from lmviz.interchange.event_reader import read_scalars
from lmviz.series.curve_files import (
    LARGEST_STEP,
    Measurement,
    read_database,
    read_lines,
    read_log_history,
    read_table,
)
from lmviz.text.checkpoint_names import TRAINER_STATE

CHECKPOINT_FOLDERS = frozenset(("checkpoints", "checkpoint", "ckpts", "weights"))
"""Folders within that of a training, in which checkpoints alone lie: the curves are beside them."""

DEEPEST, MOST_FOLDERS, MOST_FILES = 4, 500, 200
"""How deep folders are looked into, how many, and of how many files curves are read."""

_CHECKPOINT = re.compile(r"(checkpoint|step|ckpt|iter|epoch)[-_=]?\d.*", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class RecordedCurve:
    """One curve: `steps` (point,) int64 ascend, and `values` (point,) float64 may be infinite.

    `program` recorded it and calls it `name`. `run` tells curves of one name apart that lie in several
    places: a folder within that of the training, or what the program calls its run; mostly "". `file` is the
    last of the files that it was read from.
    """

    program: str
    name: str
    run: str
    steps: np.ndarray
    values: np.ndarray
    file: Path

    @property
    def origin(self) -> str:
        """Whose it is: "recorded by Trainer"."""
        return f"recorded by {self.program}"


@dataclass(frozen=True)
class RecordedCurves:
    """The curves of a training, and sentences about files in which some could not be read."""

    curves: tuple[RecordedCurve, ...]
    troubles: tuple[str, ...] = ()

    def named(self, *names: str) -> RecordedCurve | None:
        """The first curve with one of the names, in the order of the names; None where there is none."""
        return next((curve for name in names for curve in self.curves if curve.name == name), None)


TRAINER, TENSORBOARD, LIGHTNING, LINES, TRACKIO = (
    "Trainer",
    "TensorBoard",
    "Lightning",
    "JSON Lines",
    "trackio",
)


def curves_in(folder: str | Path) -> RecordedCurves:
    """The curves that programs have recorded in the folder of a training; none where nothing is recorded.

    Read are Trainer's `trainer_state.json` in the newest checkpoint, event files of TensorBoard, the
    `metrics.csv` of Lightning, JSON Lines with a step in each line, and databases of trackio. A file that is
    damaged is one sentence in `troubles`; what it holds before the damage is there all the same.
    """
    place = Path(folder)
    gathered = _Gathered(place)
    for path in _files_of(place):
        gathered.read(path)
    return RecordedCurves(gathered.curves(), tuple(gathered.troubles))


def _files_of(place: Path) -> list[Path]:
    """The files that may hold curves, in the order in which they were written as far as names say it."""
    found = list(_files_below(place)) if os.path.isdir(place) else [place]
    if place.name.lower() in CHECKPOINT_FOLDERS:
        found += [path for path in _entries(place.parent) if os.path.isfile(path)]
    files = [path for path in found if _reader_of(path) is not None]
    states = sorted((path for path in files if path.name == TRAINER_STATE), key=_number_above)
    others = sorted(path for path in files if path.name != TRAINER_STATE)
    return [*states[-1:], *others][:MOST_FILES]  # each state holds all that came before it


def _files_below(place: Path) -> Iterator[Path]:
    level, looked_into = [place], 0
    for depth in range(DEEPEST + 1):
        deeper: list[Path] = []
        for folder in level:
            looked_into += 1
            if looked_into > MOST_FOLDERS:
                return
            is_checkpoint = depth > 0 and _CHECKPOINT.fullmatch(folder.name) is not None
            for path in _entries(folder):
                if os.path.isdir(path) and not os.path.islink(path):
                    deeper += [] if is_checkpoint else [path]
                elif not is_checkpoint or path.name == TRAINER_STATE:
                    yield path
        level = deeper


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _number_above(path: Path) -> tuple[int, str]:
    """The number in the name of the folder, by which the newest of several states is found."""
    numbers = re.findall(r"\d{1,12}", path.parent.name)
    return int(numbers[-1]) if numbers else LARGEST_STEP, str(path)


Read = Callable[[Path], tuple[Iterable[Measurement], str]]


def _reader_of(path: Path) -> tuple[str, Read] | None:
    """Which program writes files of this name, and how they are read."""
    if path.name == TRAINER_STATE:
        return TRAINER, read_log_history
    if FILE_MARK in path.name and not path.name.endswith((".tmp", ".gz")):
        return TENSORBOARD, _read_events
    if path.name == "metrics.csv":
        return LIGHTNING, read_table
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        return LINES, read_lines
    if path.suffix.lower() == ".db":
        return TRACKIO, read_database
    return None


def _read_events(path: Path) -> tuple[Iterable[Measurement], str]:
    found = read_scalars(path)
    damage = "" if found.damaged_at is None else f"it is damaged from byte {found.damaged_at:,} on"
    return ((each.step, each.name, each.value, "") for each in found.scalars), damage


@loads("curves")
def read_curves(path: Path, read: Read) -> tuple[list[Measurement], str]:
    """The measurements in a file, by its reader, and what is damaged in it; or LmvizError."""
    found, damage = read(path)
    return list(found), damage


class _Gathered:
    """The curves so far, by their program, their run and their name."""

    def __init__(self, place: Path) -> None:
        self.troubles: list[str] = []
        self._place = place
        self._points: dict[tuple[str, str, str], tuple[list[int], list[float], Path]] = {}

    def read(self, path: Path) -> None:
        """Take in the curves of a file, or say why it has none."""
        found = _reader_of(path)
        assert found is not None
        program, read = found
        try:
            measurements, trouble = read_curves(path, read)
        except LmvizError as error:
            self.troubles.append(str(error))
            return
        folder = self._run_of(path)
        for step, name, value, run in measurements:
            self._add((program, run or folder, name), step, value, path)
        if trouble:
            self.troubles.append(f"{path} holds curves of {program}, and {trouble}.")

    def _run_of(self, path: Path) -> str:
        try:
            folder = path.parent.relative_to(self._place).as_posix()
        except ValueError:
            return ""
        return "" if folder == "." or path.name == TRAINER_STATE else folder

    def _add(self, key: tuple[str, str, str], step: int, value: float, path: Path) -> None:
        if not 0 <= step <= LARGEST_STEP or value != value:
            return
        steps, values, _ = self._points.get(key, ([], [], path))
        while steps and steps[-1] >= step:  # a training that went on from an earlier step
            steps.pop()
            values.pop()
        steps.append(step)
        values.append(value)
        self._points[key] = steps, values, path

    def curves(self) -> tuple[RecordedCurve, ...]:
        """All of them, in the order in which they were met."""
        return tuple(
            RecordedCurve(program, name, run, np.array(steps, np.int64), np.array(values), path)
            for (program, run, name), (steps, values, path) in self._points.items()
        )
