"""A corpus: a tokenized text, split into a training and a validation part."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from lmviz.configuration import Configuration, setting
from lmviz.errors import LmvizError
from lmviz.text.catalogue import corpus_path, find_entry
from lmviz.text.characters import clean
from lmviz.text.documents import SEPARATORS, Documents, divide, split
from lmviz.text.examples import Examples
from lmviz.text.reading import check_encoding, read_utf8, text_files
from lmviz.text.statistics import Statistics, measure
from lmviz.text.stream import encode_documents
from lmviz.text.tokenizer import Tokenizer
from lmviz.text.tokenizer_options import TokenizerOptions
from lmviz.text.tokenizer_training import train_tokenizer

Report = Callable[[float], None]


@dataclass(frozen=True)
class CorpusOptions(Configuration):
    """How a text becomes a corpus."""

    tokenizer: str = setting("words", "What a token is: characters, words, or bpe:N for N byte pairs.")
    lower_case: bool = setting(False, "Whether capital letters become small ones.")
    minimum_count: int = setting(
        1, "How often a token must occur in the training part; rarer ones are unknown.", minimum=1
    )
    vocabulary: int = setting(
        0,
        "The largest number of characters or words, the special tokens included; 0 keeps every one.",
        zero="all",
        label="Largest vocabulary",
        minimum=0,
        maximum=1_000_000,
    )
    documents: str = setting(
        "file", "Where a document ends; models learn where documents begin.", choices=tuple(SEPARATORS)
    )
    validation: float = setting(
        0.1, "The share of the text that is kept from training.", minimum=0.0, maximum=0.9
    )
    seed: int = setting(0, "Draws the validation documents.", minimum=0, advanced=True)
    encoding: str = setting("utf-8", "How the file writes its characters.", advanced=True)

    def check(self) -> None:
        check_encoding(self.encoding)
        _ = self.tokenizer_options

    @property
    def tokenizer_options(self) -> TokenizerOptions:
        """The part that is about the vocabulary."""
        options = TokenizerOptions.from_specification(self.tokenizer)
        return TokenizerOptions(
            kind=options.kind,
            vocabulary=options.vocabulary or self.vocabulary,
            minimum_count=self.minimum_count,
            lower_case=self.lower_case,
        )


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """Ids to learn from and to validate with, and the text behind them.

    `training` and `validation` are (token,) in the smallest unsigned type, read-only, memory-mapped
    when large; see `lmviz.text.stream.Stream` for what they hold. `characters` are those of the
    predicted tokens of each part, for bits per character. `sources` are what it can be read again from,
    wherever one is then: absolute paths, or a name of the catalogue; none for a string.

    `task` is what a model is asked: "next-token", "tagging", "classification" or "translation". For all
    but the first there are examples of both parts, and `training` and `validation` hold the ids of their
    sources. `labels` are the names of label ids; `target_tokenizer` reads the other side of pairs.
    `floor` is the number of nats per target below which no model can go, where it is known. `recognised`
    says in a sentence how the text was read, and `complaints` which lines were left out, and why.
    """

    name: str
    sources: tuple[str, ...]
    options: CorpusOptions
    tokenizer: Tokenizer
    training: np.ndarray
    validation: np.ndarray
    training_documents: Documents
    validation_documents: Documents
    training_characters: int
    validation_characters: int
    fingerprint: str
    task: str = "next-token"
    labels: tuple[str, ...] = ()
    target_tokenizer: Tokenizer | None = None
    training_examples: Examples | None = None
    validation_examples: Examples | None = None
    floor: float | None = None
    recognised: str = "Plain text"
    complaints: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return (
            f"<Corpus {self.name!r}: {len(self.training):,} training and "
            f"{len(self.validation):,} validation tokens, {self.tokenizer!r}>"
        )

    @property
    def marks_boundaries(self) -> bool:
        """Whether documents are enclosed in START and END."""
        return self.tokenizer.marks_boundaries

    @property
    def training_text(self) -> str:
        """The training part as one string, decoded at each call."""
        return self.training_documents.text

    @property
    def validation_text(self) -> str:
        """The validation part as one string, decoded at each call."""
        return self.validation_documents.text

    @property
    def characters_per_token(self) -> float:
        """The mean number of characters per predicted token, in the validation part if there is one."""
        held_out = len(self.validation) > 0
        ids, documents = (
            (self.validation, self.validation_documents)
            if held_out
            else (self.training, self.training_documents)
        )
        unpredicted = len(documents) if self.marks_boundaries else 1
        characters = self.validation_characters if held_out else self.training_characters
        return max(1, characters) / max(1, len(ids) - unpredicted)

    def statistics(self) -> Statistics:
        """Tokens, types, counts, lengths and the unknown rate; counted once."""
        return self._statistics

    @cached_property
    def _statistics(self) -> Statistics:
        return measure(self.training, self.validation, self.tokenizer)


def load_corpus(
    source: str | Path | Sequence[str | Path],
    tokenizer: str | Tokenizer | None = None,
    *,
    options: CorpusOptions | None = None,
    progress: Report | None = None,
    **settings: Any,
) -> Corpus:
    """Read a file, several, a folder, or a corpus of the catalogue by its name.

    `settings` are fields of `CorpusOptions` and override `options`, which default to those of the
    catalogue's entry. A `Tokenizer` is used as it is, and unless `options` say how it was learned, it says
    so itself; otherwise one is learned from the training part.
    `progress` hears of the share that is done, and may raise to cancel. LmvizError says what is wrong
    with the source.
    """
    entry = find_entry(source) if isinstance(source, str) else None
    defaults = CorpusOptions(**entry.options) if entry else CorpusOptions()
    chosen = _choose(options or defaults, tokenizer, settings, is_told=options is not None)
    report = progress or _ignore
    paths = [corpus_path(entry.name)] if entry else text_files(source)
    share = 0.1 / len(paths)
    files = [
        read_utf8(path, "utf-8" if entry else chosen.encoding, _part(report, n * share, (n + 1) * share))
        for n, path in enumerate(paths)
    ]
    sources = (entry.name,) if entry else tuple(map(os.path.abspath, paths))
    return _build(_name(source), sources, files, chosen, tokenizer, _part(report, 0.1, 1.0))


def text_corpus(
    text: str,
    name: str = "text",
    tokenizer: str | Tokenizer | None = None,
    *,
    options: CorpusOptions | None = None,
    progress: Report | None = None,
    **settings: Any,
) -> Corpus:
    """A corpus of a string; otherwise as `load_corpus`."""
    if not text.strip():
        raise LmvizError("The text is empty: there is nothing to learn from.")
    chosen = _choose(options or CorpusOptions(), tokenizer, settings, is_told=options is not None)
    data = clean(text).encode("utf-8").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return _build(name, (), [data], chosen, tokenizer, progress or _ignore)


def _name(source: str | Path | Sequence[str | Path]) -> str:
    """What a corpus is called: after its file or folder, or the first of several."""
    if isinstance(source, str | Path):
        return Path(source).resolve().stem
    return _name(source[0]) if len(source) == 1 else f"{_name(source[0])} and {len(source) - 1} more"


def _choose(
    options: CorpusOptions, tokenizer: str | Tokenizer | None, settings: dict[str, Any], *, is_told: bool
) -> CorpusOptions:
    """The options with the settings; `is_told` says that they are known to be those of the tokenizer."""
    if isinstance(tokenizer, str):
        settings = {**settings, "tokenizer": tokenizer}
    elif isinstance(tokenizer, Tokenizer) and not is_told and tokenizer.options is not None:
        settings = {**_learned(tokenizer.options), **settings}
    elif not isinstance(tokenizer, Tokenizer | None):
        raise LmvizError(f"There is no tokenizer {tokenizer!r}: choose characters, words, or bpe:4096.")
    return CorpusOptions.from_values({**options.to_values(), **settings}) if settings else options


def _learned(options: TokenizerOptions) -> dict[str, Any]:
    """How a tokenizer was learned as settings of a corpus."""
    return {
        "tokenizer": options.specification,
        "vocabulary": 0 if options.kind == "bpe" else options.vocabulary,
        "minimum_count": options.minimum_count,
        "lower_case": options.lower_case,
    }


def _build(
    name: str,
    sources: tuple[str, ...],
    files: list[bytes],
    options: CorpusOptions,
    tokenizer: str | Tokenizer | None,
    report: Report,
) -> Corpus:
    given = tokenizer if isinstance(tokenizer, Tokenizer) else None
    documents = divide(files, options.documents)
    if given is not None and not given.marks_boundaries and len(documents) > 1:
        documents = divide([b"\n".join(files)], "file")  # without boundaries there is only one document
    files.clear()  # the documents hold the text now
    exactly = options.tokenizer_options.kind == "characters"
    training, validation = split(documents, options.validation, options.seed, exactly)
    if given is None:
        texts = _reported(training, _part(report, 0.0, 0.5))
        given = train_tokenizer(texts, options.tokenizer_options, marks_boundaries=len(documents) > 1)
    middle = 1 - 0.5 * validation.size / max(1, documents.size)
    learned = encode_documents(training, given, _part(report, 0.5, middle))
    if len(learned.ids) < 2:
        raise LmvizError(f"{name} has too little text: two tokens are the least.")
    held_out = encode_documents(validation, given, _part(report, middle, 1.0))
    report(1.0)
    return Corpus(
        name=name,
        sources=sources,
        options=options,
        tokenizer=given,
        training=learned.ids,
        validation=held_out.ids,
        training_documents=training,
        validation_documents=validation,
        training_characters=learned.characters,
        validation_characters=held_out.characters,
        fingerprint=_fingerprint(documents, options, given),
    )


def _fingerprint(documents: Documents, options: CorpusOptions, tokenizer: Tokenizer) -> str:
    digest = hashlib.sha256(documents.data)
    digest.update(documents.spans.tobytes())
    digest.update(json.dumps(options.to_values(), sort_keys=True).encode("utf-8"))
    digest.update(tokenizer.json.encode("utf-8"))
    return digest.hexdigest()


def _reported(documents: Documents, report: Report) -> Iterator[str]:
    """The texts of the documents, or their pieces, saying how far it has got."""
    done = 0
    for batch in documents.batches():
        yield from batch.texts
        done += sum(map(len, batch.texts))
        report(min(1.0, done / max(1, documents.size)))


def _part(report: Report, start: float, end: float) -> Report:
    """Reports the progress of a part of the work as progress of the whole."""
    return lambda share: report(start + share * (end - start))


def _ignore(share: float) -> None:
    """Nobody listens."""
