"""What the file of a task says: texts, and what belongs to each of them."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.text.documents import Documents
from lmviz.text.examples import Sequences
from lmviz.text.table import Aside
from lmviz.text.tag_schemes import TagScheme, find_scheme

MOST_LABELS = 1000
"""More different labels than that are no labels but texts."""

MOST_COMPLAINTS = 50
"""Lines that are named one by one; the others are counted."""


@dataclass(frozen=True, eq=False)
class TaskText:
    """The examples of a file, not yet tokens.

    `sources` are the texts that are read; for tagging their words stand between single spaces. `targets` are
    the texts that should be written for them, as many; None for tasks with labels. `labels` are the names of
    label ids, the most frequent first, and `answers` the ids: one for each word of a source, or one for each
    source.
    """

    task: str
    form: str
    sources: Documents
    targets: Documents | None
    labels: tuple[str, ...]
    answers: Sequences | None

    @property
    def scheme(self) -> TagScheme | None:
        """How the tags mark spans of words, such as names; None where they do not."""
        if self.task != "tagging" or self.answers is None or find_scheme(self.labels) is None:
            return None
        names = np.array(self.labels, dtype=object)
        return find_scheme(self.labels, (names[ids].tolist() for ids in self.answers))


class Complaints:
    """Lines that could not be read, each a sentence with its number.

    `named` says that several files are read, so that a sentence names its file.
    """

    def __init__(self, *, named: bool = False) -> None:
        self.count = 0
        self._named = named
        self._file, self._unit = "", "Line"
        self._sentences: list[str] = []
        self._remarks: list[str] = []
        self._asides: dict[Aside, tuple[int, str]] = {}

    def begin(self, file: str, unit: str = "Line") -> None:
        """The records that follow are those of another file, whose numbers count its lines or other units."""
        self._file, self._unit = file, unit

    def place(self, number: int) -> str:
        """Where a record is, such as "line 7", or with its file."""
        where = f"{self._unit.lower()} {number:,}"
        return f"{self._file}, {where}" if self._named else where

    def add(self, line: int, reason: str) -> None:
        """A line is left out, because it `reason`, such as "has no tag"."""
        where = self.place(line) if self._named else f"{self._unit} {line:,}"
        self.say(f"{where} {reason}.")

    def say(self, sentence: str) -> None:
        """Something else could not be read."""
        self.count += 1
        if self.count <= MOST_COMPLAINTS:
            self._sentences.append(sentence)

    def remark(self, sentence: str) -> None:
        """Something is read otherwise than one may think, but no line is left out."""
        self._remarks.append(sentence)

    def note(self, line: int, aside: Aside) -> None:
        """A record is read, but not all of it as it stands."""
        count, first = self._asides.get(
            aside, (0, f"{self.place(line)}{': ' if aside.example else ''}{aside.example}")
        )
        self._asides[aside] = count + 1, first

    @property
    def sentences(self) -> tuple[str, ...]:
        """The first of them, how many more there are, and what else is to be said."""
        more = self.count - len(self._sentences)
        noted = [
            f"{count:,} {aside if count == 1 else aside.many} ({first})."
            for aside, (count, first) in self._asides.items()
        ]
        return (*self._sentences, *([f"And {more:,} more."] if more else []), *noted, *self._remarks)


class TextCollector:
    """Texts that are put one after the other, as `Documents`."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._spans = array("q")

    def __len__(self) -> int:
        return len(self._spans) // 2

    def add(self, text: str) -> None:
        """One more text."""
        start = len(self._data)
        self._data += text.encode("utf-8", "replace")
        self._spans.extend((start, len(self._data)))
        self._data += b"\n"

    def finish(self) -> Documents:
        """All of them."""
        spans = np.array(self._spans, dtype=np.int64).reshape(-1, 2)
        return Documents(bytes(self._data), spans, "\n")


class LabelCollector:
    """Labels of examples by name, as ids."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._labels = array("i")
        self._starts = array("q", [0])

    @property
    def names(self) -> tuple[str, ...]:
        """The different names so far."""
        return tuple(self._ids)

    def add(self, names: Iterable[str]) -> None:
        """The labels of one more example."""
        known = self._ids
        self._labels.extend([known.setdefault(name, len(known)) for name in names])
        self._starts.append(len(self._labels))

    def finish(self) -> tuple[tuple[str, ...], Sequences]:
        """The names, the most frequent first, and the ids; LmvizError where there are too many."""
        if len(self._ids) > MOST_LABELS:
            raise LmvizError(
                f"This text has {len(self._ids):,} different labels, and at most {MOST_LABELS:,} are read: "
                "choose another task, or a file with fewer."
            )
        names, labels = list(self._ids), np.array(self._labels, dtype=np.int64)
        counts = np.bincount(labels, minlength=len(names))
        order = sorted(range(len(names)), key=lambda id: (-counts[id], names[id]))
        renumbered = np.zeros(len(names), dtype=np.min_scalar_type(max(0, len(names) - 1)))
        renumbered[order] = np.arange(len(names))
        ids = renumbered[labels]
        ids.flags.writeable = False
        return tuple(names[id] for id in order), Sequences(ids, np.array(self._starts, dtype=np.int64))
