"""How many have answered what: the counts of every poll in one file, and nothing else of anybody."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from lmviz.base.files import write_atomically
from lmviz.polls.poll import LETTERS, Poll
from lmviz.text.ordinary_files import read_file
from lmviz.text.resources import data_folder

LARGEST_FILE = 1_000_000  # bytes
MOST = 9_999
"""Answers to one choice."""

Counts = dict[str, int]
"""How many chose each letter."""


def counts_path() -> Path:
    """The file of the counts; it may not exist yet."""
    return data_folder() / "polls.json"


def key_of(poll: Poll) -> str:
    """What counts are kept under: the question with its choices, so that others begin at nought."""
    told = "\n".join([poll.question, *(f"{choice.letter}: {choice.text}" for choice in poll.filled)])
    return hashlib.sha256(told.encode("utf-8")).hexdigest()[:16]


def counts_as_csv(polls: Iterable[Poll], counts: Mapping[str, Counts]) -> str:
    """A row for each choice of each poll that somebody has answered, under the names of the columns.

    The right choice of a poll that takes a model is left open.
    """
    table = io.StringIO()
    writer = csv.writer(table)
    writer.writerow(["poll", "question", "letter", "choice", "answers", "right"])
    for poll in polls:
        answers = counts.get(key_of(poll), {})
        if not any(answers.values()):
            continue
        right = () if poll.needs_model else poll.find_right().letters
        for choice in poll.filled:
            is_right = "" if poll.needs_model else "yes" if choice.letter in right else "no"
            words = (poll.title, poll.question, choice.letter, choice.text)
            writer.writerow([*words, answers.get(choice.letter, 0), is_right])
    return table.getvalue()


def read_counts(path: Path) -> dict[str, Counts]:
    """The counts of each poll by its key; what cannot be read counts as missing."""
    try:
        values = json.loads(read_file(path, LARGEST_FILE))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(values, dict):
        return {}
    return {key: found for key, value in values.items() if (found := _counts(value))}


def write_counts(path: Path, counts: Mapping[str, Counts]) -> None:
    """Write them all; LmvizError where that is refused."""
    write_atomically(path, json.dumps(dict(counts), indent=1, sort_keys=True).encode("utf-8"))


def _counts(value: object) -> Counts:
    if not isinstance(value, dict):
        return {}
    return {
        letter: number
        for letter, number in value.items()
        if letter in LETTERS and type(number) is int and 0 < number <= MOST
    }
