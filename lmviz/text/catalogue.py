"""The catalogue of corpora: those that lmviz generates, and public ones with address and checksum."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lmviz.base.errors import LmvizError
from lmviz.base.files import write_atomically
from lmviz.text.archive import read_members
from lmviz.text.own_corpora import pictures, stories, sums
from lmviz.text.own_tasks import (
    ambiguous,
    backwards,
    dates,
    echo,
    echo_nats,
    recall,
    recall_nats,
    reviews,
    twin,
)
from lmviz.text.reading import as_utf8, read_utf8
from lmviz.text.resources import DATA_VARIABLE, data_folder, resource_path

DRAWN = "drawn"
"""The floor of a text whose documents are drawn from the text itself."""


@dataclass(frozen=True)
class Entry:
    """A corpus that has a name.

    `characters` is its size, None where nobody has counted it, and `sha256` the checksum of its file;
    `options` are the fields of `CorpusOptions` that suit it. Either it comes with lmviz, or `make` makes its
    text, or it is downloaded from `address` on request: so many bytes as `sent`, 0 where that is not known.
    Where the address sends a tar.gz, `members` are its files of sources and, line by line, of targets.
    Where `make` takes a span, `spans` are the smallest and the largest.
    `floor` is what a reader who knows how the text was made still has to pay: in nats per target, or per
    document where the next token is predicted; for a span if it depends on it; `DRAWN` where each document
    is drawn from the text itself, as if it were a list.
    """

    name: str
    title: str
    description: str
    characters: int | None
    licence: str
    sha256: str
    options: Mapping[str, Any] = field(default_factory=dict)
    make: Callable[..., str] | None = None
    spans: tuple[int, int] | None = None
    floor: float | Callable[[int], float] | str | None = None
    address: str = ""
    sent: int = 0
    members: tuple[str, ...] = ()

    @property
    def task(self) -> str:
        """What a model is asked about it."""
        return str(self.options.get("task", "next-token"))

    @property
    def path(self) -> Path:
        """Where its file is, or will be once it is made or downloaded."""
        if self.address or self.make:
            ending = "tar.gz" if self.members else "txt"
            return data_folder() / "corpora" / f"{self.name}.{ending}"
        return resource_path("corpora", f"{self.name}.txt")

    @property
    def is_present(self) -> bool:
        """Whether it can be opened without the network."""
        return not self.address or os.path.exists(self.path)


CATALOGUE: tuple[Entry, ...] = (
    Entry(
        name="farm",
        title="Farm",
        description="344 plain sentences about a farm, for counting words: what do cows eat?",
        characters=13_583,
        licence="written for lmviz, MIT",
        sha256="af645052f6a116158485d452360036e99cfdbbd02647a2602995cabf26773c85",
        options={"tokenizer": "words", "lower_case": True, "documents": "line"},
        floor=DRAWN,
    ),
    Entry(
        name="stories",
        title="Stories",
        description="Short stories in which names, colours and things return several sentences later.",
        characters=2_000_258,
        licence="written for lmviz, MIT",
        sha256="421504f031675449b462393761c84906ff9dd0c2207a275296e33e3f9ed07b5c",
        options={"tokenizer": "words", "documents": "blank line"},
        make=stories,
        floor=71.64488987262555,
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
        floor=DRAWN,
    ),
    Entry(
        name="recall",
        title="Recall",
        description="A key comes back after other words and a question mark: how far does a model remember?",
        characters=311_036,
        licence="written for lmviz, MIT",
        sha256="a037a90a2d801d9fb7f67e19ed144f6a3f25ae7ee349359cc0eefaa2ff9cb2dd",
        options={"tokenizer": "words", "documents": "line"},
        make=recall,
        spans=(1, 500),
        floor=recall_nats,
    ),
    Entry(
        name="echo",
        title="Echo",
        description="Every word has a partner that follows it, a new one in each line: only repeating helps.",
        characters=648_888,
        licence="written for lmviz, MIT",
        sha256="8b870abadbe76beadf05389190cf8e76f058c8d5d677270d39ff60127471f27c",
        options={"tokenizer": "words", "documents": "line"},
        make=echo,
        floor=echo_nats(),
    ),
    Entry(
        name="four-sentences",
        title="Four sentences",
        description="Time flies like an arrow: four tagged sentences, two of them with the same words.",
        characters=140,
        licence="written for lmviz, MIT",
        sha256="11956980301970bb31753f07817ff3699997086d92407797d94e7082b49bba17",
        options={"task": "tagging", "validation": 0.0},
        floor=4 * math.log(2) / 20,
    ),
    Entry(
        name="ambiguous",
        title="Ambiguous",
        description='Tagged sentences, such as "the old man the boats": often only later words decide.',
        characters=325_910,
        licence="written for lmviz, MIT",
        sha256="d02466d06f7704708843ed22aaf91f4a9c86ccbf74a3610b759e7bb39d2c3711",
        options={"task": "tagging"},
        make=ambiguous,
        floor=0.025821022638706857,
    ),
    Entry(
        name="reviews",
        title="Reviews",
        description='Short reviews, good or bad, in which "not" and "but" turn the tide.',
        characters=215_856,
        licence="written for lmviz, MIT",
        sha256="9f976769b3db9971277c6d177587d912c366fc19a41211fb8525a38b2e3d8a29",
        options={"task": "classification"},
        make=reviews,
        floor=0.0,
    ),
    Entry(
        name="backwards",
        title="Backwards",
        description="Letters, and the same letters in reverse.",
        characters=460_924,
        licence="written for lmviz, MIT",
        sha256="31c756a2e01f9db2af855c7e32aa2299946af4f9f17d8af8d8bb35fc91ae9195",
        options={"task": "translation", "tokenizer": "characters"},
        make=backwards,
        spans=(1, 200),
        floor=0.0,
    ),
    Entry(
        name="dates",
        title="Dates",
        description="Dates as they are written out, and the same in digits, as ISO 8601 has them.",
        characters=335_385,
        licence="written for lmviz, MIT",
        sha256="1a076c87e8f8c07d64e3ec0896feb3858b33e1f713e65bb59a99d0e4f0a4a0d5",
        options={"task": "translation", "tokenizer": "characters"},
        make=dates,
        floor=0.0,
    ),
    Entry(
        name="twin",
        title="Twin",
        description="Sentences of one grammar in English and in French, with another order and agreement.",
        characters=849_051,
        licence="written for lmviz, MIT",
        sha256="841d36f46d1c2c69676038f7b2368307c5c5dc22819e8ae8e1b3b1a9000bf426",
        options={"task": "translation"},
        make=twin,
        spans=(3, 50),
        floor=0.0,
    ),
    Entry(
        name="pictures",
        title="Pictures",
        description="7 × 7 pixels with one or two shapes, and a caption such as “square above circle”.",
        characters=157_605,
        licence="written for lmviz, MIT",
        sha256="290d3c7965af146ede1bc9d5070423bb13ab7adf5f71405291e51758e9eaad5b",
        options={"task": "captioning"},
        make=pictures,
        floor=0.0,
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
        sent=1_115_394,
    ),
    Entry(
        name="english-web",
        title="English treebank",
        description="The English Web Treebank: blogs, e-mails, reviews and forums, every word tagged.",
        characters=None,
        licence="CC BY-SA 4.0, Universal Dependencies 2.7, Silveira et al. 2014",
        sha256="4e45f7b6f6d4e8d33e0ba7090fc37f2385a91711edb20d456d3fb5f45ac0fc28",
        options={"task": "tagging", "minimum_count": 2},
        address="https://raw.githubusercontent.com/UniversalDependencies/UD_English-EWT/r2.7/en_ewt-ud-train.conllu",
        sent=13_469_758,
    ),
    Entry(
        name="multi30k",
        title="Multi30k",
        description="29,000 English captions of photographs, and what translators made of them in German.",
        characters=None,
        licence="CC BY-NC-SA 4.0, Elliott et al. 2016",
        sha256="20140d013d05dd9a72dfde46478663ba05737ce983f478f960c1123c6671be5e",
        options={"task": "translation", "minimum_count": 2},
        address="https://raw.githubusercontent.com/neychev/small_DL_repo/master/datasets/Multi30k/training.tar.gz",
        members=("train.en", "train.de"),
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


def corpus_files(entry: Entry, span: int = 0) -> list[tuple[str, bytes]]:
    """The names and texts in UTF-8 of a corpus of the catalogue; with a span of one's own where it has one.

    Of a corpus with `members` they are the sources and the targets; of every other there is one.
    LmvizError where it has no span, or where it has yet to be downloaded.
    """
    if span:
        return [(entry.name, _made_with_span(entry, span))]
    path = corpus_path(entry.name)
    if not entry.members:
        return [(entry.name, read_utf8(path))]
    try:
        contents = read_members(path.read_bytes(), entry.members)
    except (OSError, ValueError) as error:
        raise LmvizError(f"{path} cannot be read ({error}): delete it and download it again.") from error
    return [
        (name, as_utf8(path / name, content)[0])
        for name, content in zip(entry.members, contents, strict=True)
    ]


def _made_with_span(entry: Entry, span: int) -> bytes:
    if entry.spans is None or entry.make is None:
        others = ", ".join(other.name for other in CATALOGUE if other.spans)
        raise LmvizError(f"{entry.name} has no span to choose, only {others} have: leave it 0.")
    smallest, largest = entry.spans
    if not smallest <= span <= largest:
        raise LmvizError(f"The span of {entry.name} is from {smallest} to {largest}, and not {span}.")
    return entry.make(span).encode("utf-8")


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
