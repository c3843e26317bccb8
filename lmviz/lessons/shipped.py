"""The lessons that come with lmviz."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from lmviz.lessons.lesson import Lesson
from lmviz.lessons.reading import ENDING, open_lesson
from lmviz.text.resources import resource_path

TOUR = "tour"
"""The name of the lesson that leads through the window."""


def shipped_files() -> tuple[Path, ...]:
    """The files of the lessons, in the order of the course: `00-tour.md`, `01-counting.md` and so on."""
    return tuple(sorted(resource_path("lessons").glob(f"[0-9]*{ENDING}")))


def name_of(path: Path) -> str:
    """What a shipped lesson is called: the name of its file without its number."""
    return path.stem.partition("-")[2]


def shipped_lessons(perspectives: Collection[str]) -> tuple[Lesson, ...]:
    """All of them, in the order of the course."""
    return tuple(_open(path, perspectives) for path in shipped_files())


def shipped_lesson(name: str, perspectives: Collection[str]) -> Lesson:
    """The one of this name; StopIteration where there is none."""
    return _open(next(path for path in shipped_files() if name_of(path) == name), perspectives)


def find_shipped(words: str, perspectives: Collection[str]) -> Lesson | None:
    """The one of a name, a number or both ("memory", "3", "03-memory"); None where there is none."""
    for path in shipped_files():
        number = path.stem.partition("-")[0]
        if words in (name_of(path), path.stem, number, str(int(number))):
            return _open(path, perspectives)
    return None


def _open(path: Path, perspectives: Collection[str]) -> Lesson:
    return replace(open_lesson(path, perspectives), name=name_of(path))
