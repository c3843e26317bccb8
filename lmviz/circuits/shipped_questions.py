"""Questions about circuits as text files: those that come with lmviz, and one's own.

A file has lines such as "text: The keys to the cabinet"; `KEYS` has them all. `models` are patterns of names,
separated by commas; in its place `language` says what checkpoints of other programs must have learned.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from lmviz.base.errors import LmvizError
from lmviz.circuits.contrast import Contrast
from lmviz.text.ordinary_files import read_text_file
from lmviz.text.resources import data_folder, resource_path

MANY_LINES = 40
"""A file with more lines than that, comments left out, is a text and no question."""

KEYS = ("title", "models", "language", "text", "changed", "source", "changed source", "measure")
ENDING = ".txt"
LARGEST = 100_000
"""A longer file is no question, in bytes."""


@dataclass(frozen=True)
class ShippedQuestion:
    """A contrast with a title, and the models that it is for: by name, or any that read a language."""

    title: str
    contrast: Contrast
    models: tuple[str, ...] = ()
    language: str = ""

    def is_for(self, name: str, *, is_foreign: bool) -> bool:
        """Whether it can be asked of a model of that name, or of one that another program trained."""
        if self.language:
            return is_foreign
        return any(fnmatchcase(name, pattern) for pattern in self.models)


def read_question(text: str, name: str = "The question") -> ShippedQuestion:
    """The question that a file's text states; LmvizError with the line that is none."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        key, colon, value = line.partition(": ")
        if not colon or key not in KEYS:
            raise LmvizError(f"{name}: line {number} is none of {', '.join(f'“{key}: …”' for key in KEYS)}.")
        found[key] = value if key not in ("title", "models", "language") else value.strip()
    for needed in ("title", "text", "measure"):
        if needed not in found:
            raise LmvizError(f"{name} has no line “{needed}: …”: add it.")
    if ("changed" in found) == ("changed source" in found):
        raise LmvizError(f"{name} must change either the text or the source: write “changed: …”.")
    contrast = Contrast(
        found["text"],
        found.get("changed"),
        found["measure"],
        found.get("source"),
        found.get("changed source"),
    )
    models = tuple(pattern.strip() for pattern in found.get("models", "*").split(","))
    return ShippedQuestion(found["title"], contrast, models, found.get("language", ""))


def is_question(path: Path) -> bool:
    """Whether a file is meant as a question, well written or not.

    It is short, begins with one of `KEYS`, and has two of those that no question is without.
    """
    if path.suffix != ENDING or not os.path.isfile(path):
        return False
    try:
        lines = [line for line in _text_of(path).splitlines() if line.strip() and not line.startswith("#")]
    except LmvizError:
        return False
    stated = {line.partition(":")[0] for line in lines}
    begins = bool(lines) and lines[0].partition(":")[0] in KEYS
    return begins and len(lines) <= MANY_LINES and len(stated & {"title", "text", "measure"}) > 1


def open_question(path: Path) -> ShippedQuestion:
    """The question of a file; LmvizError with the line that is wrong, or where it cannot be read."""
    return read_question(_text_of(path), path.name)


def _text_of(path: Path) -> str:
    try:
        return read_text_file(path, LARGEST)
    except (OSError, ValueError) as error:
        raise LmvizError(
            f"{path.name} cannot be read as a question: choose a short text in UTF-8."
        ) from error


def shipped_questions() -> tuple[ShippedQuestion, ...]:
    """Those that come with lmviz, and those in the folder `own_folder`; what is no question is left out."""
    folders = [resource_path("questions"), own_folder()]
    return tuple(question for folder in folders for question in _in(folder))


def own_folder() -> Path:
    """Where one's own questions lie; it need not exist."""
    return data_folder() / "questions"


def _in(folder: Path) -> Iterator[ShippedQuestion]:
    if not os.path.isdir(folder):
        return
    for path in sorted(folder.glob(f"*{ENDING}")):
        with suppress(LmvizError):
            yield open_question(path)
