"""Questions about circuits as text files: those that come with lmviz, and one's own.

A file has lines such as "text: The keys to the cabinet"; `KEYS` has them all. `models` are patterns of names,
separated by commas; in its place `language` says what checkpoints of other programs must have learned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from lmviz.base.errors import LmvizError
from lmviz.circuits.contrast import Contrast
from lmviz.text.resources import data_folder, resource_path

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
        raise LmvizError(f"{name} changes the text or the source, one of them: write “changed: …”.")
    contrast = Contrast(
        found["text"],
        found.get("changed"),
        found["measure"],
        found.get("source"),
        found.get("changed source"),
    )
    models = tuple(pattern.strip() for pattern in found.get("models", "*").split(","))
    return ShippedQuestion(found["title"], contrast, models, found.get("language", ""))


def shipped_questions() -> tuple[ShippedQuestion, ...]:
    """Those that come with lmviz, and those in the folder `own_folder`; what is no question is left out."""
    folders = [resource_path("questions"), own_folder()]
    return tuple(question for folder in folders for question in _in(folder))


def own_folder() -> Path:
    """Where one's own questions lie; it need not exist."""
    return data_folder() / "questions"


def _in(folder: Path) -> Iterator[ShippedQuestion]:
    if not folder.is_dir():
        return
    for path in sorted(folder.glob(f"*{ENDING}")):
        try:
            if path.stat().st_size <= LARGEST:
                yield read_question(path.read_text(encoding="utf-8"), path.name)
        except (OSError, UnicodeDecodeError, LmvizError):
            continue
