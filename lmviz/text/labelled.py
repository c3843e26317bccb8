"""Reads labelled text: a label and a text on each line, tables with a header, and folders of files."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

from lmviz.base.errors import LmvizError
from lmviz.text.reading import read_utf8
from lmviz.text.table import Table, records
from lmviz.text.tagged import lines_of
from lmviz.text.task_text import Complaints, LabelCollector, TaskText, TextCollector


class LabelledCollector:
    """Texts with a label each."""

    def __init__(self) -> None:
        self._texts, self._labels = TextCollector(), LabelCollector()

    def __len__(self) -> int:
        return len(self._texts)

    def add(self, label: str, text: str) -> None:
        """One more text."""
        self._texts.add(text)
        self._labels.add([label])

    def finish(self, form: str) -> TaskText:
        """All texts."""
        labels, answers = self._labels.finish()
        return TaskText("classification", form, self._texts.finish(), None, labels, answers)


def read_labels(data: bytes, found: LabelledCollector, complaints: Complaints) -> None:
    """A label, a tab and a text on each line."""
    for number, line in lines_of(data):
        label, _, text = (part.strip() for part in line.partition("\t"))
        if label and text:
            found.add(label, text)
        elif label or text:
            complaints.add(number, "has not a label and a text with a tab between them")


def read_table(data: bytes, table: Table, found: LabelledCollector, complaints: Complaints) -> None:
    """The texts and labels of a table whose columns are known."""
    for number, cells, reason in itertools.islice(records(data, table.separator, table.width), 1, None):
        label, text = (cells[table.label].strip(), cells[table.text].strip()) if not reason else ("", "")
        if label and text:
            found.add(label, text)
        else:
            missing = "a label" if not label else "a text"
            complaints.add(number, reason or f"has not {missing}")


def read_folders(
    files: Sequence[Path], encoding: str, found: LabelledCollector, complaints: Complaints
) -> None:
    """Files whose folders are their labels, each a text."""
    for path in files:
        try:
            text = read_utf8(path, encoding).decode("utf-8").strip()
        except LmvizError as error:
            complaints.say(str(error))
            continue
        found.add(path.parent.name, text)
