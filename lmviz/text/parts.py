"""The parts that files of a data set are by their names: to learn from, to validate with, to test with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

TRAINING, VALIDATION, TEST = "training", "validation", "test"

_NAMES = {
    **dict.fromkeys(("train", "training", "tr", "trn"), TRAINING),
    **dict.fromkeys(("validation", "valid", "val", "dev", "eval", "heldout", "development"), VALIDATION),
    **dict.fromkeys(("test", "testing", "tst"), TEST),
}


@dataclass(frozen=True)
class FoundParts:
    """Files in the order in which they are read: `training` ones and then those for `validation`.

    `tests` are not read.
    """

    training: tuple[Path, ...]
    validation: tuple[Path, ...]
    tests: tuple[Path, ...] = ()

    @property
    def sentence(self) -> str:
        """Which files are which part, and which are not read."""
        said = f"{_listed(self.training)} to learn from, and {_listed(self.validation)} to validate with"
        kept = f"; {_listed(self.tests)} not read" if self.tests else ""
        return f"The parts are those of the files: {said}{kept}."


def find_parts(files: Sequence[Path]) -> FoundParts | None:
    """The parts of several files, None where their names do not say a part for each.

    What is there to test with is left out where something else is there to validate with.
    """
    parts = [part_of_name(path) for path in files]
    by_part = {
        part: tuple(path for path, each in zip(files, parts, strict=True) if each == part)
        for part in (TRAINING, VALIDATION, TEST)
    }
    held_out = by_part[VALIDATION] or by_part[TEST]
    if "" in parts or not by_part[TRAINING] or not held_out:
        return None
    return FoundParts(by_part[TRAINING], held_out, by_part[TEST] if by_part[VALIDATION] else ())


def part_of_name(path: Path) -> str:
    """The part that the name of a file says, or else that of its folder; "" for none, or for several."""
    for name in (path.name, path.parent.name):
        found = {_NAMES[word] for word in re.split(r"[^a-z]+", name.lower()) if word in _NAMES}
        if found:
            return found.pop() if len(found) == 1 else ""
    return ""


def _listed(files: Sequence[Path]) -> str:
    if len(files) > 2:
        return f"{len(files):,} files such as {files[0].name}"
    return " and ".join(path.name for path in files)
