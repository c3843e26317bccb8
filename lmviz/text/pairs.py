"""Reads pairs of texts, one of each language: two columns, or two files line by line."""

from __future__ import annotations

import itertools

from lmviz.text.tagged import lines_of
from lmviz.text.task_text import Complaints, TaskText, TextCollector


class PairCollector:
    """Pairs of a source and its target, for a task that reads the one and writes the other."""

    def __init__(self, task: str = "translation") -> None:
        self._task = task
        self._sources, self._targets = TextCollector(), TextCollector()

    def __len__(self) -> int:
        return len(self._sources)

    def add(self, source: str, target: str) -> None:
        """One more pair."""
        self._sources.add(source)
        self._targets.add(target)

    def finish(self, form: str) -> TaskText:
        """All pairs."""
        return TaskText(self._task, form, self._sources.finish(), self._targets.finish(), (), None)


def read_pairs(data: bytes, found: PairCollector, complaints: Complaints) -> None:
    """A source and its target on each line, parted by a tab."""
    for number, line in lines_of(data):
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) == 2 and all(cells):
            found.add(*cells)
        elif any(cells):
            complaints.add(number, "has not a source and a target with one tab between them")


def read_parallel(
    data: bytes, other: bytes, names: tuple[str, str], found: PairCollector, complaints: Complaints
) -> None:
    """Two files, of which the lines of the same number belong together. Where both are blank is no pair."""
    ended = None
    lines = itertools.zip_longest(lines_of(data), lines_of(other))
    for number, (source, target) in enumerate(lines, start=1):
        if source is None or target is None:
            ended = ended or (number - 1, *(names if source is None else names[::-1]))
            continue
        sides = source[1].strip(), target[1].strip()
        if all(sides):
            found.add(*sides)
        elif any(sides):
            complaints.add(number, f"is blank in {names[sides.index('')]}")
    if ended:
        last, short, long = ended
        complaints.say(
            f"{short} ends at line {last:,}: the {number - last:,} further lines of {long} are left out."
        )
