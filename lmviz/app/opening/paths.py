"""What lies at a path."""

from __future__ import annotations

import os
from pathlib import Path


def title_of_path(path: Path) -> str:
    """What a person calls what is opened from a path: the title of a run, the name of everything else."""
    from lmviz.runs.opening import find_model
    from lmviz.runs.run_list import title_in

    folder = find_model(path)
    return path.name if folder is None else title_in(folder)


def is_written_race(folder: Path) -> bool:
    """Whether somebody has called the runs in a folder a race, and they do not merely lie there."""
    from lmviz.runs.race_folder import NAME

    return os.path.isfile(folder / NAME)


def race_at(path: Path) -> Path | None:
    """The folder of the race that a path is, or whose `race.json` it is; None where it is no race."""
    from lmviz.runs.race_folder import NAME, is_race

    folder = path.parent if path.name == NAME else path
    return folder if is_race(folder) else None
