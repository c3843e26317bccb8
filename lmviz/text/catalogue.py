"""The catalogue of corpora: those that lmviz generates, and public ones with address and checksum."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lmviz.errors import LmvizError
from lmviz.files import write_atomically
from lmviz.text.own_corpora import stories, sums
from lmviz.text.resources import DATA_VARIABLE, data_folder, resource_path


@dataclass(frozen=True)
class Entry:
    """A corpus that has a name.

    `characters` is its size and `sha256` the checksum of its file; `options` are the fields of
    `CorpusOptions` that suit it. Either it comes with lmviz, or `make` makes its text, or it is
    downloaded from `address` on request.
    """

    name: str
    title: str
    description: str
    characters: int
    licence: str
    sha256: str
    options: Mapping[str, Any] = field(default_factory=dict)
    make: Callable[[], str] | None = None
    address: str = ""

    @property
    def path(self) -> Path:
        """Where its file is, or will be once it is made or downloaded."""
        if self.address or self.make:
            return data_folder() / "corpora" / f"{self.name}.txt"
        return resource_path("corpora", f"{self.name}.txt")

    @property
    def is_present(self) -> bool:
        """Whether it can be opened without the network."""
        return not self.address or self.path.exists()


CATALOGUE: tuple[Entry, ...] = (
    Entry(
        name="farm",
        title="Farm",
        description="344 plain sentences about a farm, for counting words: what do cows eat?",
        characters=13_583,
        licence="written for lmviz, MIT",
        sha256="af645052f6a116158485d452360036e99cfdbbd02647a2602995cabf26773c85",
        options={"tokenizer": "words", "lower_case": True, "documents": "line"},
    ),
    Entry(
        name="stories",
        title="Stories",
        description="Short stories in which names, colours and things return several sentences later.",
        characters=2_000_262,
        licence="written for lmviz, MIT",
        sha256="0cb7464fe8c2c99b761a8f4512ef6a65835fbee00d659aa80e60f84aa742dbc0",
        options={"tokenizer": "words", "documents": "blank line"},
        make=stories,
    ),
    Entry(
        name="sums",
        title="Sums",
        description="All additions of two numbers below 100, character by character.",
        characters=92_895,
        licence="written for lmviz, MIT",
        sha256="4d513a8bf8e1f01a424527072519360fcdf3cd19e1e234b9dd8e9d7be83d1aee",
        options={"tokenizer": "characters", "documents": "line"},
        make=sums,
    ),
    Entry(
        name="tiny-shakespeare",
        title="Tiny Shakespeare",
        description="Scenes from Shakespeare's plays, the usual first text of character models.",
        characters=1_115_394,
        licence="public domain, collected by Andrej Karpathy",
        sha256="86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
        options={"tokenizer": "characters", "documents": "file"},
        address="https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt",
    ),
)


def find_entry(name: str) -> Entry | None:
    """The entry of that name, None where there is none."""
    return next((entry for entry in CATALOGUE if entry.name == name), None)


def corpus_path(name: str) -> Path:
    """The file of a corpus of the catalogue, which is generated first if lmviz generates it.

    LmvizError where the catalogue has no such corpus, or it has yet to be downloaded.
    """
    entry = find_entry(name)
    if entry is None:
        known = ", ".join(entry.name for entry in CATALOGUE)
        raise LmvizError(f"There is no corpus {name!r}: the catalogue has {known}.")
    if _is_whole(entry):
        return entry.path
    if entry.make:
        return _made(entry.path, entry.make())
    if entry.address:
        raise LmvizError(f"{entry.title} is not on this computer yet: download it from the catalogue first.")
    return entry.path


def _made(path: Path, text: str) -> Path:
    try:
        return write_atomically(path, text.encode("utf-8"))
    except LmvizError:
        raise LmvizError(
            f"{path.stem} is made when it is first needed, but {path.parent} cannot be written to: name "
            f"another folder in {DATA_VARIABLE}."
        ) from None


def _is_whole(entry: Entry) -> bool:
    """Whether the file is there, and is the one that the entry means."""
    try:
        return hashlib.sha256(entry.path.read_bytes()).hexdigest() == entry.sha256
    except OSError:
        return False
