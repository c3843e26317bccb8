"""Reads a lecture from its text, says at which line something is wrong, and adds scenes to one.

    # From counting to attention
    about: The first hour of a course.

    ## What follows “cows eat”?
    scene: ./counting.lmviz

    Notes that only the presenter sees.

    ## Try it
    step: counting 2

    ## What do you think?
    poll: order
    scene: ./counting.lmviz
    minutes: 5

A poll or a step may stand on a scene, which says what the model is and what it reads. The language is that of
lessons. What an item names comes with lmviz, or stands beside the lecture and begins with ./ then.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from lmviz.base.errors import LmvizError
from lmviz.base.faults import Fault, FaultyText, LineFault
from lmviz.base.files import write_atomically
from lmviz.base.loading import loads
from lmviz.base.places import elsewhere
from lmviz.desktop.scene import ENDING as SCENE_ENDING
from lmviz.desktop.scene import Scene, open_scene, save_scene
from lmviz.lectures.lecture import Lecture, LectureItem, Shown, ShownPoll, ShownScene, ShownStep
from lmviz.lessons.openings import BESIDE
from lmviz.lessons.parts import ENTRY, PartReader, WrittenEntry, WrittenPart
from lmviz.lessons.reading import lesson_in, open_lesson
from lmviz.lessons.shipped import name_of, shipped_files, shipped_lesson
from lmviz.polls.poll_file import open_poll, shipped_poll_files
from lmviz.text.ordinary_files import read_text_file
from lmviz.text.resources import resource_path

ENDING = ".lecture"
LARGEST = 200_000  # characters
MOST_ITEMS = 100
MOST_SCENES = 1000
"""Files of scenes of one lecture; who has saved as many is asked to clear up."""

HEAD = {
    "about": "what the lecture is about, in one sentence",
    "language": "the tag of the language in which it is written, such as de; else it is English",
}
SHOWS = {
    "scene": "a scene: ./my-scene.lmviz",
    "step": "a step of a lesson, which count from 1: counting 2, or ./my-lesson.md 2",
    "poll": "a poll: order, or ./my-poll.poll",
}
"""What an item can show, each with how it is written."""
ENTRIES = {**SHOWS, "minutes": "how long it is planned to take, in minutes, such as 5 or 2.5"}
LONGEST_ITEM = 600  # minutes


class LectureFault(FaultyText):
    """A text that is no lecture."""


def is_lecture(path: Path) -> bool:
    """Whether a file is a lecture by its name."""
    return path.suffix.lower() == ENDING


def shipped_lectures() -> tuple[Path, ...]:
    """The files of the lectures that come with lmviz."""
    return tuple(sorted(resource_path("lectures").glob(f"*/*{ENDING}")))


def is_shipped(path: Path) -> bool:
    """Whether a lecture came with lmviz, and stays as it is."""
    return path.resolve() in {each.resolve() for each in shipped_lectures()}


@loads("lecture")
def open_lecture(path: str | Path, perspectives: Collection[str]) -> Lecture:
    """The lecture of a file; LectureFault, or another LmvizError, where there is none."""
    path = Path(path)
    try:
        text = read_text_file(path, 4 * LARGEST)
    except OSError as error:
        raise LmvizError(f"{path} cannot be read ({error.strerror}): choose another file.") from error
    except ValueError as error:  # not UTF-8, or a path with a NUL in it
        raise LmvizError(f"{path} is not a text: choose a file in UTF-8.") from error
    return read_lecture(text, perspectives, path)


def read_lecture(text: str, perspectives: Collection[str], path: Path) -> Lecture:
    """The lecture that a text in the file `path` states; LectureFault names every line that is wrong."""
    if len(text) > LARGEST:
        raise LectureFault([Fault(1, f"a lecture has at most {LARGEST:,} characters: make two of it.")])
    return _LectureReader(perspectives, path).read(text)


def without_notes(lecture: Lecture) -> str:
    """The text of a lecture's file without what only the presenter sees: notes and minutes."""
    lines, kept = read_text_file(lecture.path, 4 * LARGEST).split("\n"), []
    goes_on = False
    for line in lines:
        entry = ENTRY.match(line.rstrip())
        is_shown = entry is not None and (entry[1] in SHOWS or entry[1] in HEAD)
        if line.startswith(("# ", "## ")) or is_shown or (goes_on and line.startswith("  ")):
            kept.append(line)
            goes_on = is_shown
        else:
            goes_on = False
    return "\n".join(kept) + "\n"


def add_scene(path: Path, title: str, scene: Scene, line: int | None = None) -> Path:
    """Write a scene beside the lecture `path`, and name it in a new item; the file of the scene.

    The item stands before the line of this number, from 1, or else at the end. The lecture is begun where
    there is none. `title` is one line. LmvizError where it cannot be written.
    """
    if not os.path.exists(path):
        write_atomically(path, f"# {path.stem}\n".encode())
    numbered = (path.with_name(f"{path.stem}-{number}{SCENE_ENDING}") for number in range(1, MOST_SCENES))
    place = next((each for each in numbered if not os.path.exists(each)), None)
    if place is None:
        raise LmvizError(f"{MOST_SCENES:,} scenes are beside {path.name}: delete those that nothing names.")
    try:
        text = read_text_file(path, 4 * LARGEST)
    except (OSError, ValueError):
        raise LmvizError(f"{path} cannot be added to: save the scene by itself.") from None
    save_scene(scene, place)
    lines = text.split("\n")
    at = len(lines) if line is None else line - 1
    before, after = ("\n".join(part).strip("\n") for part in (lines[:at], lines[at:]))
    item = f"## {title}\nscene: {BESIDE}{place.name}"
    write_atomically(path, "\n\n".join(part for part in (before, item, after) if part).encode() + b"\n")
    return place


class _LectureReader(PartReader):
    """Reads one lecture and collects what is wrong."""

    of_head, entries, most_parts = HEAD, ENTRIES, MOST_ITEMS

    def __init__(self, perspectives: Collection[str], path: Path) -> None:
        super().__init__()
        self._perspectives, self._path = perspectives, path

    def read(self, text: str) -> Lecture:
        """The lecture; LectureFault where something is wrong."""
        head, *parts = self._parts(text)
        known = self._head(head)
        language = self._language(known)
        items = [self._item(part) for part in parts]
        if self._faults:
            raise LectureFault(self._faults)
        about = known["about"].words if "about" in known else ""
        shown = tuple(item for item in items if item is not None)
        return Lecture(head.title, about, shown, self._path, language)

    def _item(self, part: WrittenPart) -> LectureItem | None:
        named = self._once(part, ENTRIES)
        minutes = self._minutes(named.pop("minutes", None))
        if not named:
            if not any(entry.name in SHOWS for entry in part.entries):  # else what is wrong with it is said
                ways = "; ".join(f"“{name}:”, {what}" for name, what in SHOWS.items())
                self._say(part.line, f"the item “{part.title}” shows nothing: write one of {ways}.")
            return None
        below = named.pop("scene", None) if len(named) > 1 else None
        first, *others = named.values()
        for other in others:
            self._say(
                other.line,
                f"an item shows one step or one poll, and line {first.line} says which: begin another. "
                f"In the notes write “{other.name}\\:”.",
            )
        shown, scene = self._shown_or_said(first), below and self._shown_or_said(below)
        if shown is None or (below is not None and not isinstance(scene, ShownScene)):
            return None
        notes = "\n".join(part.sentences).strip()
        return LectureItem(
            part.title, shown, notes, part.line, scene if isinstance(scene, ShownScene) else None, minutes
        )

    def _minutes(self, entry: WrittenEntry | None) -> float | None:
        """The minutes that are written; None where there are none, or something else."""
        if entry is None:
            return None
        if re.fullmatch(r"\d{1,3}(\.\d{1,2})?", entry.words, re.ASCII) is None or not (
            0 < float(entry.words) <= LONGEST_ITEM
        ):
            self._say(
                entry.line,
                f"{entry.words!r} are not minutes: write a number up to {LONGEST_ITEM}, such as 5 or 2.5.",
            )
            return None
        return float(entry.words)

    def _shown_or_said(self, entry: WrittenEntry) -> Shown | None:
        """What an entry names; None where there is no such thing, which is said then."""
        try:
            return self._shown(entry)
        except LineFault as fault:
            self._say(entry.line, fault.sentence)
            return None

    def _shown(self, entry: WrittenEntry) -> Shown:
        """What an entry names; LineFault where there is no such thing."""
        find: dict[str, Callable[[str], Shown]] = {
            "scene": self._scene,
            "step": self._step,
            "poll": self._poll,
        }
        try:
            return find[entry.name](entry.words)
        except FaultyText as faults:  # of the file that is named, at its own lines
            raise LineFault(f"{entry.words}: {faults}") from None
        except LmvizError as error:
            raise LineFault(str(error)) from None

    def _scene(self, words: str) -> ShownScene:
        path = self._beside(words)
        return ShownScene(path, open_scene(path))

    def _poll(self, words: str) -> ShownPoll:
        if words.startswith(BESIDE):
            path = self._beside(words)
            return ShownPoll(open_poll(path), path)
        files = {name_of(path): path for path in shipped_poll_files()}
        _check_known(words, files, "poll")
        return ShownPoll(open_poll(files[words]))

    def _step(self, words: str) -> ShownStep:
        name, _, number = words.rpartition(" ")
        if not (name and number.isascii() and number.isdigit() and len(number) < 4):
            raise LineFault(
                f"{words!r} is not a step: write a lesson and the number of its step, such as counting 2."
            )
        path = None
        if name.startswith(BESIDE):
            place = self._beside(name)
            path = lesson_in(place) or place
            lesson = open_lesson(path, self._perspectives)
        else:
            _check_known(name, [name_of(path) for path in shipped_files()], "lesson")
            lesson = shipped_lesson(name, self._perspectives)
        if not 1 <= int(number) <= len(lesson.steps):
            raise LineFault(f"{lesson.title} has steps 1 to {len(lesson.steps)}: write one of these numbers.")
        return ShownStep(lesson, int(number) - 1, path)

    def _beside(self, words: str) -> Path:
        """The file beside the lecture that is meant."""
        folder = self._path.parent
        found = folder / words.removeprefix(BESIDE)
        if not words.startswith(BESIDE) or elsewhere(found, (folder,)) is not None:
            raise LineFault(f"{words!r} is not beside the lecture: put it there, and begin with {BESIDE}")
        if not os.path.exists(found):
            raise LineFault(f"there is no {words!r} beside the lecture: put it there.")
        return found


def _check_known(name: str, names: Iterable[str], what: str) -> None:
    names = list(names)
    if name not in names:
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}."
        raise LineFault(f"there is no {what} {name!r}: {hint} A file beside the lecture begins with {BESIDE}")
