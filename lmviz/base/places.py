"""Where files lie: the folders shipped with lmviz, and which files really lie in a folder."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent

MOST_ENTRIES = 100_000
"""Entries of a folder that are looked at for links; a larger one is asked about."""


def shipped(name: str) -> Path:
    """The folder `resources` or `sample_models`, whether or not it exists."""
    inside = _PACKAGE / name
    return inside if os.path.isdir(inside) else _PACKAGE.parent / name


def elsewhere(path: str | Path, folders: Iterable[str | Path]) -> str | None:
    """Where a file, or a link in a folder, really lies if that is in none of `folders`; None if it is in one.

    Whoever wrote a run, a scene or a lesson may have named any file of the machine, or of the network. What
    lies beside it may be read because somebody chose it; about everything else a person is asked first. What
    is elsewhere by its name alone is not touched here, not even to see whether it is there.
    """
    folders = tuple(folders)
    roots = {os.path.realpath(folder) for folder in folders}
    named = os.path.abspath(path)
    if not _is_in(named, roots.union(map(os.path.abspath, folders))):
        return named
    try:
        places = (os.path.realpath(each) for each in itertools.chain([path], _links_in(named)))
        return next((place for place in places if not _is_in(place, roots)), None)
    except (OSError, ValueError):  # what cannot be looked through; ValueError for a name with a NUL in it
        return named


def _is_in(path: str, folders: Iterable[str]) -> bool:
    return any(Path(path).is_relative_to(folder) for folder in folders)


def _links_in(folder: str) -> Iterator[str]:
    """The symbolic links in a folder, at any depth; OSError where there is too much to look through."""
    seen = 0
    for place, folders, files in os.walk(folder):
        seen += len(folders) + len(files)
        if seen > MOST_ENTRIES:
            raise OSError(f"{folder} is too large to look through")
        yield from (path for name in (*folders, *files) if os.path.islink(path := os.path.join(place, name)))
