"""Where the directions of a run are kept: one file beside it, which is written after each change."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from lmviz.base.errors import LmvizError
from lmviz.readouts.direction import StateDirection
from lmviz.readouts.direction_file import read_directions, write_directions
from lmviz.readouts.kept_beside import beside_run

FOLDER = "directions"


def directions_of(folder: Path, created: str) -> Path:
    """The file of the directions of a run's folder, which was begun at a time."""
    place, digest = beside_run(folder, created)
    return place / FOLDER / f"directions-{digest}.safetensors"


def kept_directions(path: Path) -> tuple[tuple[StateDirection, ...], str]:
    """What is kept in the file of a run, and what is to be said of it; nothing where there is no file.

    A damaged file is put aside, so that what is kept from now on does not take its place.
    """
    if not os.path.isfile(path):
        return (), ""
    try:
        return read_directions(path), ""
    except LmvizError as fault:
        aside = path.with_suffix(".damaged")
        try:
            os.replace(path, aside)
        except OSError:
            return (), str(fault)
        return (), f"The directions kept in {path} are damaged and were put aside as {aside.name}."


def keep_directions(directions: Sequence[StateDirection], path: Path) -> None:
    """Write them where they are kept; LmvizError where that cannot be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise LmvizError(
            f"Directions cannot be kept in {path.parent}: {fault.strerror}. They stay until lmviz is closed."
        ) from fault
    write_directions(directions, path)
