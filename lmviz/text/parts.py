"""The parts that files of a data set are by their names: to learn from, to validate with, to test with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lmviz.text.json_objects import arrays_by_name

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


def parts_within(data: bytes) -> tuple[list[bytes], list[bytes], str] | None:
    """The parts that one JSON file has under their names: to learn from, to validate with, and the sentence.

    None where it has not one of each. What is there to test with is left out where something else is there to
    validate with.
    """
    if not re.match(rb"\s*\{", data) or not re.search(rb'"(train|training)"\s*:\s*\[', data):
        return None
    arrays = arrays_by_name(data)
    by_part: dict[str, list[str]] = {}
    for name in arrays:
        by_part.setdefault(_NAMES.get(name.lower(), ""), []).append(name)
    training, tests = by_part.get(TRAINING, []), by_part.get(TEST, [])
    held_out = by_part.get(VALIDATION) or tests
    if not training or not held_out or "" in by_part:
        return None
    kept = tests if held_out is not tests else []
    said = f"{' and '.join(training)} to learn from, and {' and '.join(held_out)} to validate with"
    unread = f"; {' and '.join(kept)} not read" if kept else ""
    return (
        [arrays[name] for name in training],
        [arrays[name] for name in held_out],
        f"The parts are those of the file: {said}{unread}.",
    )


def part_of_name(path: Path) -> str:
    """The part that the name of a file says, or else that of its folder; "" for none, or for several."""
    for name in (path.name, path.parent.name):
        stem = re.split(r"[.\s_-]*\.", name.lower(), maxsplit=1)[0] or name.lower()
        if re.search(r"\s", stem):  # a title, such as "a train to Rome.txt"
            continue
        found = {_NAMES[word] for word in re.split(r"[^a-z]+", name.lower()) if word in _NAMES}
        if found:
            return found.pop() if len(found) == 1 else ""
    return ""


def _listed(files: Sequence[Path]) -> str:
    if len(files) > 2:
        return f"{len(files):,} files such as {files[0].name}"
    return " and ".join(path.name for path in files)
