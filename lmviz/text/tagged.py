"""Reads tagged text: CoNLL-U, two columns, and tags behind a slash.

CoNLL-U is the format of Universal Dependencies (Nivre et al. 2020, universaldependencies.org/format.html).
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence

from lmviz.text.task_text import Complaints, LabelCollector, TaskText, TextCollector
from lmviz.text.words import SPACES

CONLLU_COLUMNS = 10
FORM, UPOS = 1, 3
WORD_ID, OTHER_ID = re.compile(r"[1-9][0-9]*"), re.compile(r"[0-9]+[-.][0-9]+")
"""The number of a word; and those of a range of words written as one, and of a node without a word."""

_SPACE = re.compile(f"[{SPACES}]+")
_NO_BRACKETS = str.maketrans("⟨⟩", "<>")


def lines_of(data: bytes) -> Iterator[tuple[int, str]]:
    """The lines of a text in UTF-8 with their numbers, one at a time."""
    for number, line in enumerate(io.BytesIO(data), start=1):
        yield number, line.decode("utf-8").rstrip("\n")


def cells_of(line: str) -> list[str]:
    """What stands between white space in a line."""
    return [cell for cell in _SPACE.split(line) if cell]


class TaggedCollector:
    """Sentences of words with a tag each."""

    def __init__(self) -> None:
        self._texts, self._tags = TextCollector(), LabelCollector()
        self._sentence: list[tuple[str, str]] = []

    def __len__(self) -> int:
        return len(self._texts)

    def add_word(self, word: str, tag: str) -> None:
        """One more word of the sentence; white space inside it becomes "_", since a token has none."""
        self._sentence.append((_SPACE.sub("_", word).translate(_NO_BRACKETS), tag))

    def end_sentence(self) -> None:
        """Here a sentence ends, if there is one."""
        if self._sentence:
            words, tags = zip(*self._sentence, strict=True)
            self._texts.add(" ".join(words))
            self._tags.add(tags)
            self._sentence = []

    def finish(self, form: str) -> TaskText:
        """All sentences."""
        labels, answers = self._tags.finish()
        return TaskText("tagging", form, self._texts.finish(), None, labels, answers)


def read_conllu(data: bytes, found: TaggedCollector, complaints: Complaints) -> None:
    """FORM and UPOS of the words of CoNLL-U. Comments, ranges of words and empty nodes are passed over."""
    for number, line in lines_of(data):
        if not line.strip():
            found.end_sentence()
        elif not line.startswith("#"):
            reason = _read_row(line.split("\t"), found)
            if reason:
                complaints.add(number, reason)
    found.end_sentence()


def _read_row(row: Sequence[str], found: TaggedCollector) -> str:
    """Take the word of a row; what is wrong with the row, or "" where nothing is."""
    if len(row) != CONLLU_COLUMNS:
        return f"has {_counted(len(row), 'column')} in place of {CONLLU_COLUMNS}"
    if OTHER_ID.fullmatch(row[0]):
        return ""
    if not WORD_ID.fullmatch(row[0]):
        return f"begins with {row[0][:20]!r} in place of the number of a word"
    form, tag = row[FORM].strip(), row[UPOS].strip()
    if not form:
        return "has no word in its column FORM"
    if tag in ("", "_"):
        return "has no tag in its column UPOS"
    if row[0] == "1":  # also where the blank line before it is missing
        found.end_sentence()
    found.add_word(form, tag)
    return ""


def read_columns(data: bytes, found: TaggedCollector, complaints: Complaints) -> None:
    """A word and its tag on each line, and a blank line after each sentence."""
    for number, line in lines_of(data):
        cells = [cell.strip() for cell in line.split("\t")] if "\t" in line else cells_of(line)
        if not any(cells):
            found.end_sentence()
        elif len(cells) == 2 and all(cells):
            found.add_word(*cells)
        else:
            columns = _counted(len([cell for cell in cells if cell]), "column")
            complaints.add(number, f"has {columns} in place of a word and its tag")
    found.end_sentence()


def read_slashes(data: bytes, found: TaggedCollector, complaints: Complaints) -> None:
    """A sentence on each line, its words with their tags behind a slash: time/n flies/v."""
    for number, line in lines_of(data):
        parts = [chunk.rpartition("/") for chunk in cells_of(line)]
        lacking = next((word + slash + tag for word, slash, tag in parts if not word or not tag), None)
        if lacking is not None:
            complaints.add(number, f"has no word and tag in {lacking[:20]!r}")
            continue
        for word, _, tag in parts:
            found.add_word(word, tag)
        found.end_sentence()


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' if count != 1 else ''}"
