"""Recognises from its content what task a text is for. In doubt a text is plain.

Only the beginning of a file is looked at. Each form asks for something that running text does not have on
nearly every line: ten columns with a number first, a tag behind each word, one tab.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lmviz.text.pictures import is_picture
from lmviz.text.table import find_table
from lmviz.text.tagged import CONLLU_COLUMNS, OTHER_ID, WORD_ID, cells_of

SAMPLE = 1 << 16
"""Bytes of a file that are looked at."""

NEARLY = 0.95
"""The share of lines, or of words, that have to be of a form."""

MOST_TAGS = 60
LONGEST_TAG = 12
FEWEST_LINES = 4
FEWEST_WORDS = 8
LONGEST_DOCUMENT = 20_000
"""Bytes that files in folders have on average at most; longer ones are books rather than examples."""


@dataclass(frozen=True)
class Form:
    """A way of writing examples of a task: its name, the task, and what its examples are called."""

    name: str
    task: str
    examples: str


FORMS: dict[str, Form] = {
    "conllu": Form("CoNLL-U", "tagging", "sentences"),
    "columns": Form("Words and tags in two columns", "tagging", "sentences"),
    "slashes": Form("Words with a tag behind a slash", "tagging", "sentences"),
    "table": Form("A table of texts with labels", "classification", "texts"),
    "labels": Form("Labels and texts", "classification", "texts"),
    "folders": Form("Folders of texts", "classification", "texts"),
    "captions": Form("Pictures with captions", "captioning", "pictures"),
    "pairs": Form("Pairs", "translation", "pairs"),
    "parallel": Form("Two files, line by line", "translation", "pairs"),
}


def recognise(data: bytes, task: str = "") -> str:
    """The key in FORMS of the form that a file has, or "" for plain text; of one task's forms by choice."""
    lines = _sample(data)
    solid = [line for line in lines if line.strip()]
    if not solid:
        return ""
    told = (form for form in FORMS if form in _IS_OF and task in ("", FORMS[form].task))
    return next((form for form in told if _IS_OF[form](solid if form != "columns" else lines)), "")


def form_for(data: bytes, task: str) -> str:
    """The form of a file that somebody says is of a task, whether or not it can be recognised."""
    lines = [line for line in _sample(data) if line.strip()]
    if task == "tagging":
        slashed = sum(1 for line in lines if "/" in line and "\t" not in line)
        return recognise(data, task) or ("slashes" if 2 * slashed > len(lines) else "columns")
    if task == "classification":
        tabbed = sum(1 for line in lines if "\t" in line)
        return recognise(data, task) or ("labels" if 2 * tabbed > len(lines) else "table")
    return "captions" if task == "captioning" else "pairs"


def are_labels(folder: Path, files: list[Path]) -> bool:
    """Whether the folders in a folder look like labels: each holds several short files, and nothing else."""
    parents = [path.relative_to(folder).parts[:-1] for path in files]
    counts = {parent: parents.count(parent) for parent in set(parents)}
    sizes = [path.stat().st_size for path in files]
    return (
        len(counts) > 1
        and all(len(parent) == 1 for parent in counts)
        and min(counts.values()) > 1
        and sum(sizes) <= LONGEST_DOCUMENT * len(files)
    )


def _sample(data: bytes) -> list[str]:
    """The whole lines at the beginning of a file."""
    piece = data[:SAMPLE]
    if len(data) > SAMPLE:
        piece = piece[: piece.rfind(b"\n") + 1] or piece
    return piece.decode("utf-8", "ignore").split("\n")


def _is_conllu(lines: list[str]) -> bool:
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    good = [
        len(row) == CONLLU_COLUMNS and bool(WORD_ID.fullmatch(row[0]) or OTHER_ID.fullmatch(row[0]))
        for row in rows
    ]
    return bool(good) and sum(good) > 0.5 * len(good)


def _is_slashed(lines: list[str]) -> bool:
    parts = [chunk.rpartition("/") for line in lines for chunk in cells_of(line)]
    tags = {tag for word, _, tag in parts if word and tag}
    good = sum(1 for word, _, tag in parts if word and tag and len(tag) <= LONGEST_TAG)
    addresses = sum(1 for word, _, _ in parts if "/" in word)
    return (
        len(parts) >= FEWEST_WORDS
        and good >= NEARLY * len(parts)
        and addresses <= (1 - NEARLY) * len(parts)
        and len(tags) <= MOST_TAGS
        and 2 * len(tags) <= len(parts)
    )


def _is_columns(lines: list[str]) -> bool:
    """A word and a tag on each line, with blank lines between sentences, and few different tags."""
    rows = [cells_of(line) for line in lines]
    solid = [row for row in rows if row]
    good = [row for row in solid if len(row) == 2]
    tags = {row[1] for row in good}
    blank = sum(1 for row in rows[:-1] if not row)
    return (
        len(good) >= FEWEST_WORDS
        and len(good) >= NEARLY * len(solid)
        and len(tags) <= MOST_TAGS
        and 2 * len(tags) <= len(good)
        and max(map(len, tags)) <= LONGEST_TAG
        and 0 < blank <= len(solid)
    )


def _tabbed(lines: list[str]) -> list[list[str]]:
    """The two cells of each line, where nearly all have one tab with something on both sides; else none."""
    rows = [[cell.strip() for cell in line.split("\t")] for line in lines]
    good = [row for row in rows if len(row) == 2 and all(row)]
    return good if len(good) >= max(FEWEST_LINES, NEARLY * len(rows)) else []


def _is_labelled(lines: list[str]) -> bool:
    rows = _tabbed(lines)
    labels = {row[0] for row in rows}
    return (
        bool(rows)
        and 2 * len(labels) <= len(rows)
        and all(len(label) <= 4 * LONGEST_TAG for label in labels)
        and len({row[1] for row in rows}) > len(labels)
    )


def _is_table(lines: list[str]) -> bool:
    return len(lines) >= FEWEST_LINES and find_table(lines[0]) is not None


def _is_captioned(lines: list[str]) -> bool:
    rows = _tabbed(lines)
    return bool(rows) and sum(is_picture(row[0]) for row in rows) >= NEARLY * len(lines)


def _is_pairs(lines: list[str]) -> bool:
    return bool(_tabbed(lines))


_IS_OF: dict[str, Callable[[list[str]], bool]] = {
    "conllu": _is_conllu,
    "columns": _is_columns,
    "slashes": _is_slashed,
    "labels": _is_labelled,
    "table": _is_table,
    "captions": _is_captioned,
    "pairs": _is_pairs,
}
"""Whether lines are of a form; only for columns the blank ones count."""
