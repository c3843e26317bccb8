"""A corpus: a tokenized text, split into a training and a validation part."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.base.figures import whole_percentage
from lmviz.base.loading import loads
from lmviz.base.reporting import Report, part_of, unheard
from lmviz.looks.shown import Shown
from lmviz.text.catalogue import corpus_files, find_entry
from lmviz.text.characters import clean
from lmviz.text.contents import Contents, TextOrigin, read_contents
from lmviz.text.corpus_options import AFTER_DECODING, OF_ROWS, CorpusOptions, choose_options
from lmviz.text.document_marks import written_marks
from lmviz.text.documents import Documents, split
from lmviz.text.encodings import RECOGNISED, Found, title_of
from lmviz.text.examples import Examples
from lmviz.text.floor import known_floor
from lmviz.text.layout import Layout
from lmviz.text.plain_documents import as_one, plain_documents
from lmviz.text.reading import check_no_address
from lmviz.text.statistics import Statistics, measure
from lmviz.text.stream import Stream, encode_documents
from lmviz.text.task_corpus import encode_task, fingerprint_of, fitting_options
from lmviz.text.task_reading import (
    FoundExamples,
    describe,
    read_examples,
    refuse_doubt,
    refuse_several,
    settings_of,
)
from lmviz.text.tokenizer import Tokenizer
from lmviz.text.tokenizer_training import train_tokenizer

Side = Literal["source", "target"]
"""What is read, and what is written for it where that is a text as well."""

_TOLD_BY_THE_TEXT = ("task", "span", *OF_ROWS, *AFTER_DECODING)
"""Options that leave nothing to be told apart once the text is there."""


@dataclass(frozen=True, eq=False, repr=False)
class Corpus(Shown):
    """Ids to learn from and to validate with, and the text behind them.

    `training` and `validation` are (token,) in the smallest unsigned type, read-only, memory-mapped
    when large, of `training_stream` and `validation_stream`, which know the text of each part too.
    `sources` are what it can be read again from, wherever one is then: absolute paths, or a name of the
    catalogue; none for a string, which is `content` in UTF-8. `target_sources` is the file of the other
    language where that is one of its own.

    `task` is what a model is asked: "next-token", "tagging", "classification", "translation" or
    "captioning". For all but the first there are examples of both parts, and `training` and `validation` hold
    the ids of their sources. `labels` are the names of label ids; `target_tokenizer` reads the other side of
    pairs. `floor` is the number of nats per target below which no model can go, where it is known.
    `recognised` says in a sentence how the text was read, `complaints` which lines were left out, and why.
    With `answers_only` the examples are chats, or questions and answers, of which the answers alone count.
    """

    name: str
    sources: tuple[str, ...]
    options: CorpusOptions
    tokenizer: Tokenizer
    training_stream: Stream
    validation_stream: Stream
    fingerprint: str
    target_sources: tuple[str, ...] = ()
    content: bytes = b""
    task: str = "next-token"
    labels: tuple[str, ...] = ()
    target_tokenizer: Tokenizer | None = None
    training_examples: Examples | None = None
    validation_examples: Examples | None = None
    target_streams: tuple[Stream, Stream] | None = None
    floor: float | None = None
    recognised: str = "Plain text."
    complaints: tuple[str, ...] = ()
    answers_only: bool = False

    @property
    def training(self) -> np.ndarray:
        """The ids to learn from."""
        return self.training_stream.ids

    @property
    def validation(self) -> np.ndarray:
        """The ids that are held out."""
        return self.validation_stream.ids

    @property
    def training_documents(self) -> Documents:
        """The texts to learn from."""
        return self.training_stream.documents

    @property
    def validation_documents(self) -> Documents:
        """The texts that are held out."""
        return self.validation_stream.documents

    @property
    def marks_boundaries(self) -> bool:
        """Whether documents are enclosed in START and END."""
        return self.tokenizer.marks_boundaries

    @property
    def training_text(self) -> str:
        """The training part as one string, decoded at each call."""
        return self.training_documents.text

    @property
    def characters_per_token(self) -> float:
        """The mean number of characters per predicted token, in the validation part if there is one."""
        part = self.validation_stream if len(self.validation) else self.training_stream
        unpredicted = len(part.documents) if self.marks_boundaries else 1
        return max(1, part.characters) / max(1, len(part.ids) - unpredicted)

    def statistics(self, side: Side = "source") -> Statistics:
        """Tokens, types, counts, lengths and the unknown rate, also of the targets of pairs; counted once."""
        if side not in self.sides:
            raise LmvizError(f"This text has no side {side!r}: it has {' and '.join(self.sides)}.")
        return self._statistics if side == "source" else self._target_statistics

    @property
    def sides(self) -> tuple[Side, ...]:
        """The sides that are texts."""
        return ("source",) if self.target_streams is None else ("source", "target")

    def tokenizer_of(self, side: Side) -> Tokenizer:
        """What cuts the texts of a side."""
        return self.target_tokenizer if side == "target" and self.target_tokenizer else self.tokenizer

    def training_of(self, side: Side) -> Stream:
        """The texts of a side to learn from."""
        is_target = side == "target" and self.target_streams is not None
        return self.target_streams[0] if is_target and self.target_streams else self.training_stream

    @cached_property
    def _target_statistics(self) -> Statistics:
        assert self.target_streams is not None, "pairs have targets"
        learned, kept = self.target_streams
        return measure(learned.ids, kept.ids, self.tokenizer_of("target"))

    @cached_property
    def _statistics(self) -> Statistics:
        examples = self.training_examples
        lengths = examples.source.lengths if examples is not None else None
        return measure(self.training, self.validation, self.tokenizer, lengths)


@loads("text")
def load_corpus(
    source: str | Path | Sequence[str | Path],
    tokenizer: str | Tokenizer | None = None,
    *,
    target: str | Path | None = None,
    target_tokenizer: Tokenizer | None = None,
    labels: Sequence[str] = (),
    options: CorpusOptions | None = None,
    contents: Contents | None = None,
    texts_alone: bool = False,
    progress: Report = unheard,
    **settings: Any,
) -> Corpus:
    """Read a file, several, a folder, or a corpus of the catalogue by its name.

    The task is recognised from the form of the text unless the setting `task` says it. `target` is a file
    whose lines are those of the source in another language.
    `settings` are fields of `CorpusOptions` and override `options`, which default to those of the
    catalogue's entry. A `Tokenizer` is used as it is, and unless `options` say how it was learned, it says
    so itself; otherwise one is learned from the training part. `target_tokenizer` and `labels` are those of a
    model, where the text is read for one. `contents` are what `read_contents` gave for the same source and
    options, which are then not read once more. With `texts_alone`, for a model that predicts the next token,
    labelled and tagged texts are read without labels, and pairs without what is wanted.
    `progress` hears of the share that is done, and may raise to cancel. LmvizError says what is wrong
    with the source.
    """
    entry = find_entry(source) if isinstance(source, str) else None
    defaults = CorpusOptions(**entry.options) if entry else CorpusOptions()
    chosen = choose_options(options or defaults, tokenizer, settings, is_told=options is not None)
    given = _Given(tokenizer, target_tokenizer, tuple(labels), part_of(progress, 0.1, 1.0), texts_alone)
    if entry:
        chosen = replace(chosen, encoding="utf-8")
        origin, files = TextOrigin(entry.name, (entry.name,)), corpus_files(entry, chosen.span)
        corpus = _build(origin, files, chosen, given, parallel=bool(entry.members))
        made = corpus.task, corpus.options, corpus.tokenizer, corpus.training, corpus.validation
        return replace(corpus, floor=known_floor(entry, *made))
    if chosen.span:
        raise LmvizError("Only texts that lmviz writes have a span that can be chosen: leave it 0.")
    if contents is None or not contents.are_whole:
        contents = read_contents(source, chosen, target=target, progress=progress)
    return _build_from(contents, given)


def text_corpus(
    text: str,
    name: str = "text",
    tokenizer: str | Tokenizer | None = None,
    *,
    options: CorpusOptions | None = None,
    progress: Report = unheard,
    **settings: Any,
) -> Corpus:
    """A corpus of a string; otherwise as `load_corpus`."""
    if not text.strip():
        raise LmvizError("The text is empty: there is nothing to learn from.")
    check_no_address(text.strip())
    chosen = choose_options(options or CorpusOptions(), tokenizer, settings, is_told=options is not None)
    chosen = replace(chosen, encoding="utf-8")
    data = clean(text).encode("utf-8").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    given = _Given(tokenizer, None, (), progress)
    return _build(TextOrigin(name, (), content=data), [(name, data)], chosen, given)


@dataclass(frozen=True)
class _Given:
    """What a text is read with: tokenizers and labels of a model, if any, and who hears of the progress."""

    tokenizer: str | Tokenizer | None
    target_tokenizer: Tokenizer | None
    labels: tuple[str, ...]
    report: Report
    texts_alone: bool = False

    @property
    def learned(self) -> Tokenizer | None:
        """A tokenizer that exists already."""
        return self.tokenizer if isinstance(self.tokenizer, Tokenizer) else None


def _build_from(contents: Contents, given: _Given) -> Corpus:
    """The corpus of what files hold, which takes their texts away."""
    texts = [data for _, data in contents.files]
    contents.files.clear()
    contents.raws.clear()
    origin, options, found = contents.origin, contents.options, contents.found
    layout = found.layout if isinstance(found, FoundExamples) else found
    if layout is not None and layout.doubt:
        if origin.sources:
            refuse_doubt(Path(origin.sources[0]).name, layout)
        found = replace(layout, roles={}, further={})  # what was pasted can be read as it stands
    if isinstance(found, FoundExamples) and found.text is not None and given.texts_alone:
        found = replace(found, text=None, documents=found.text.sources)
    elif isinstance(found, FoundExamples):
        if origin.sources and options.several == RECOGNISED:
            refuse_several(Path(origin.sources[0]).name, found)
        texts.clear()
        if found.text is not None:
            return _build_task(origin, found, options, given, contents.encodings, contents.training)
    return _build_plain(origin, texts, options, given, contents.encodings, found, contents.training)


def _build(
    origin: TextOrigin,
    files: list[tuple[str, bytes]],
    options: CorpusOptions,
    given: _Given,
    *,
    parallel: bool = False,
) -> Corpus:
    """The corpus of texts that lie in no file of a person's, of the task that is told or recognised."""
    return _build_from(
        Contents(origin, options, read_examples(files, options, parallel=parallel), (), files), given
    )


def _build_task(
    origin: TextOrigin,
    found: FoundExamples,
    options: CorpusOptions,
    given: _Given,
    encodings: Sequence[Found] = (),
    training: int | None = None,
) -> Corpus:
    text = found.text
    assert text is not None, "a task has examples"
    held_out = None if training is None else np.arange(len(text.sources)) >= found.counts[training - 1]
    options = fitting_options(text, _as_found(options, origin, found.layout, encodings))
    encoded = encode_task(
        text,
        options,
        given.learned,
        given.target_tokenizer,
        given.labels,
        part_of(given.report, 0.2, 1.0),
        held_out,
    )
    return Corpus(
        name=origin.name,
        sources=origin.sources,
        target_sources=origin.target_sources,
        content=origin.content,
        options=options,
        tokenizer=encoded.tokenizer,
        target_tokenizer=encoded.target_tokenizer,
        task=text.task,
        labels=encoded.labels,
        training_stream=encoded.streams[0],
        validation_stream=encoded.streams[1],
        training_examples=encoded.training,
        validation_examples=encoded.validation,
        target_streams=encoded.target_streams,
        fingerprint=fingerprint_of(text, encoded, options, held_out),
        recognised=describe(found) + _said_of_encoding(encodings),
        complaints=(*origin.notes, *found.complaints.sentences),
    )


def _as_found(
    options: CorpusOptions, origin: TextOrigin, layout: Layout | None, encodings: Sequence[Found]
) -> CorpusOptions:
    """The options with how the files were written, so that they are read alike the next time."""
    found = {each.encoding for each in encodings}
    told: dict[str, Any] = {"encoding": found.pop()} if len(found) == 1 else {}
    if layout is not None and not origin.target_sources and find_entry(origin.name) is None:
        told |= settings_of(layout)
    return replace(options, **told)


def _said_of_encoding(encodings: Sequence[Found]) -> str:
    """How the characters were read, where it is worth a sentence."""
    said = dict.fromkeys(found for found in encodings if found.encoding != "utf-8")
    if not said:
        return ""
    names = " and ".join(title_of(found.encoding) for found in said)
    likely = ", which is likely but not certain" if any(found.guessed for found in said) else ""
    return f" Its characters are read as {names}{likely}."


def _build_plain(
    origin: TextOrigin,
    files: list[bytes],
    options: CorpusOptions,
    given: _Given,
    encodings: Sequence[Found],
    found: FoundExamples | Layout | None,
    training: int | None,
) -> Corpus:
    """A text whose next token is to be predicted: files, or the texts of a column, each a document."""
    known, report = given.learned, given.report
    said, complaints = "Plain text.", origin.notes
    examples = found if isinstance(found, FoundExamples) and found.documents is not None else None
    if examples is not None:
        said, complaints = describe(examples), (*complaints, *examples.complaints.sentences)
    elif isinstance(found, Layout):
        said = (
            f"Plain text. It could be a table of {len(found.names)} columns, but nothing says which of "
            "them hold labels and texts: name them, such as columns=label=1,text=2."
        )
    plain = plain_documents(files, examples, options, training)
    if known is not None and not known.marks_boundaries and len(plain.documents) > 1:
        plain = as_one(plain, files if examples is None else [plain.documents.data])
    files.clear()  # the documents hold the text now
    said, complaints = said + plain.sentence, (*complaints, *filter(None, [plain.complaint]))
    options = _as_found(options, origin, None if examples is None else examples.layout, encodings)
    if plain.marks and origin.sources:
        options = replace(options, boundary=written_marks(plain.marks))
    documents = plain.documents
    exactly = options.tokenizer_options.kind == "characters"
    training_part, validation_part = split(
        documents, options.validation, options.seed, exactly, plain.held_out
    )
    if known is None:
        texts = _reported(training_part, part_of(report, 0.0, 0.5))
        known = train_tokenizer(texts, options.tokenizer_options, marks_boundaries=len(documents) > 1)
    middle = 1 - 0.5 * validation_part.size / max(1, documents.size)
    learned = encode_documents(training_part, known, part_of(report, 0.5, middle))
    held_out = encode_documents(validation_part, known, part_of(report, middle, 1.0))
    if len(learned.ids) + len(held_out.ids) < 2:
        raise LmvizError(f"{origin.name} has too little text: it needs at least two tokens.")
    if len(learned.ids) < 2:
        share = whole_percentage(options.validation)
        raise LmvizError(
            f"{origin.name} leaves fewer than two tokens to learn from, as {share} are held "
            "out for validation: give a longer text, or validation=0."
        )
    report(1.0)
    return Corpus(
        name=origin.name,
        sources=origin.sources,
        content=origin.content,
        options=options,
        tokenizer=known,
        training_stream=learned,
        validation_stream=held_out,
        fingerprint=_fingerprint(documents, options, known, plain.held_out),
        recognised=said + _said_of_encoding(encodings),
        complaints=complaints,
    )


def _fingerprint(
    documents: Documents, options: CorpusOptions, tokenizer: Tokenizer, held_out: np.ndarray | None
) -> str:
    values = {name: value for name, value in options.to_values().items() if name not in _TOLD_BY_THE_TEXT}
    digest = hashlib.sha256(documents.data)
    digest.update(documents.spans.tobytes())
    digest.update(b"" if held_out is None else held_out.tobytes())
    digest.update(json.dumps(values, sort_keys=True).encode("utf-8"))
    digest.update(tokenizer.json.encode("utf-8"))
    return digest.hexdigest()


def _reported(documents: Documents, report: Report) -> Iterator[str]:
    """The texts of the documents, or their pieces, saying how far it has got."""
    done = 0
    for batch in documents.batches():
        yield from batch.texts
        done += sum(map(len, batch.texts))
        report(min(1.0, done / max(1, documents.size)))
