"""A race as a folder of runs, with a `race.json` that says their names and order. Imports no torch.

A run in the folder that `race.json` does not name is a lane too, after those that it names: so a fork joins a
race by being written there, and runs that were trained elsewhere by being moved there. A folder of runs
without a `race.json` is a race in the order of their folders' names. A series of another program's
checkpoints is a run in this, too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from lmviz.base.errors import LmvizError
from lmviz.base.files import write_atomically
from lmviz.base.loading import loads
from lmviz.text.ordinary_files import read_file

FORMAT = "lmviz race"
FORMAT_VERSION = 1
NAME = "race.json"
LARGEST_FILE = 1_000_000
MOST_LISTED = 1000


@dataclass(frozen=True)
class RaceFolder:
    """Where a race lies, how its lanes take turns, and the folder of each lane's run by the lane's name."""

    folder: Path
    turns: str
    lanes: Mapping[str, Path]

    def save(self) -> None:
        """Write `race.json`; LmvizError where that cannot be."""
        values = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "turns": self.turns,
            "lanes": [
                {"name": name, "folder": path.relative_to(self.folder).as_posix()}
                for name, path in self.lanes.items()
            ],
        }
        content = json.dumps(values, indent=2, ensure_ascii=False) + "\n"
        write_atomically(self.folder / NAME, content.encode("utf-8", errors="backslashreplace"))


def is_race(folder: str | Path) -> bool:
    """Whether a folder holds a race, and not a run."""
    folder = Path(folder)
    if os.path.isfile(folder / "run.json"):
        return False
    return os.path.isfile(folder / NAME) or len(_runs_in(folder)) > 0


@loads("race")
def open_race(folder: str | Path) -> RaceFolder:
    """The race in a folder; LmvizError where there is none, or whatever its `race.json` holds."""
    folder = Path(folder)
    path = folder / NAME
    turns, lanes = "steps", dict[str, Path]()
    try:
        turns, lanes = _checked(json.loads(read_file(path, LARGEST_FILE)), folder)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        raise LmvizError(f"{path} cannot be read ({error.strerror}): choose another race.") from None
    except (ValueError, RecursionError):
        raise LmvizError(f"{path} is not JSON: remove it to take the runs beside it as lanes.") from None
    except LmvizError as error:
        reason = str(error).rstrip(".")
        way_out = "remove it to take the runs beside it as lanes"
        raise LmvizError(f"{path} describes no race ({reason}): {way_out}.") from None
    known = set(lanes.values())
    for found in _runs_in(folder):
        if found not in known:
            lanes[_free(found.name, lanes)] = found
    if not lanes:
        raise LmvizError(f"{folder} holds no race: choose a folder of runs.")
    return RaceFolder(folder, turns, lanes)


def _checked(values: Any, folder: Path) -> tuple[str, dict[str, Path]]:
    """How the lanes take turns, and their folders by name; LmvizError, in a few words, for no race."""
    from lmviz.training.race import TURNS

    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise LmvizError(f"it does not say that it is a {FORMAT!r}")
    if values.get("format_version") != FORMAT_VERSION:
        raise LmvizError(f"its format version is {values.get('format_version')!r}, not {FORMAT_VERSION}")
    turns, listed = values.get("turns"), values.get("lanes")
    if type(turns) is not str or turns not in TURNS:
        raise LmvizError(f"its lanes take turns by {' or '.join(TURNS)} alone")
    if type(listed) is not list or len(listed) > MOST_LISTED:
        raise LmvizError("its lanes are not a list, or are too many")
    lanes: dict[str, Path] = {}
    for lane in listed:
        name, place = (lane.get("name"), lane.get("folder")) if isinstance(lane, dict) else (None, None)
        if type(name) is not str or type(place) is not str or not name:
            raise LmvizError("a lane has no name or no folder")
        if name in lanes or not _lies_inside(place):
            raise LmvizError("a lane is named twice, or lies outside of the race's folder")
        lanes[name] = folder / place
    return turns, lanes


def _lies_inside(place: str) -> bool:
    """Whether it is the name of a folder and nothing more, on any system."""
    names = {PurePosixPath(place).name, PureWindowsPath(place).name}
    return names == {place} and place not in ("", ".", "..") and "\0" not in place


def _runs_in(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if _is_run(path))
    except OSError:
        return []


def _is_run(path: Path) -> bool:
    """Whether a path is the folder of a run, or of a series of checkpoints of another program."""
    from lmviz.text.checkpoint_names import may_be_series  # not needed for the first paint

    return os.path.isfile(path / "run.json") or may_be_series(path)


def _free(name: str, taken: Mapping[str, Path]) -> str:
    """A name that no lane has."""
    number = 1
    while (free := name if number == 1 else f"{name} ({number})") in taken:
        number += 1
    return free
