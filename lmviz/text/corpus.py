"""A corpus: a tokenized text, split into a training and a validation part."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.base.loading import loads
from lmviz.base.reporting import Report, part_of, unheard
from lmviz.text.catalogue import corpus_files, find_entry
from lmviz.text.characters import clean
from lmviz.text.corpus_options import AFTER_DECODING, OF_ROWS, CorpusOptions, choose_options
from lmviz.text.documents import Documents, divide, split
from lmviz.text.encodings import RECOGNISED, Found, find_encoding, title_of
from lmviz.text.examples import Examples
from lmviz.text.floor import known_floor
from lmviz.text.layout import Layout, told_columns
from lmviz.text.reading import (
    as_utf8,
    check_encoding,
    check_no_address,
    check_room,
    find_files,
    read_raw,
    read_utf8,
)
from lmviz.text.several_files import are_labels, find_languages
from lmviz.text.statistics import Statistics, measure
from lmviz.text.stream import Stream, encode_documents
from lmviz.text.task_corpus import encode_task, fingerprint_of, fitting_options
from lmviz.text.task_reading import (
    FoundExamples,
    describe,
    read_examples,
    read_labelled_folders,
    read_parallel,
    settings_of,
)
from lmviz.text.tokenizer import Tokenizer
from lmviz.text.tokenizer_training import train_tokenizer

Side = Literal["source", "target"]
"""What is read, and what is written for it where that is a text as well."""

_TOLD_BY_THE_TEXT = ("task", "span", *OF_ROWS, *AFTER_DECODING)
"""Options that leave nothing to be told apart once the text is there."""


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
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

    def __repr__(self) -> str:
        return (
            f"<Corpus {self.name!r}: {len(self.training):,} training and "
            f"{len(self.validation):,} validation tokens, {self.tokenizer!r}>"
        )

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
    def validation_text(self) -> str:
        """The validation part as one string, decoded at each call."""
        return self.validation_documents.text

    @property
    def characters_per_token(self) -> float:
        """The mean number of characters per predicted token, in the validation part if there is one."""
        part = self.validation_stream if len(self.validation) else self.training_stream
        unpredicted = len(part.documents) if self.marks_boundaries else 1
        return max(1, part.characters) / max(1, len(part.ids) - unpredicted)

    def statistics(self, side: Side = "source") -> Statistics:
        """Tokens, types, counts, lengths and the unknown rate, also of the targets of pairs; counted once."""
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
    options, which are then not read once more.
    `progress` hears of the share that is done, and may raise to cancel. LmvizError says what is wrong
    with the source.
    """
    entry = find_entry(source) if isinstance(source, str) else None
    defaults = CorpusOptions(**entry.options) if entry else CorpusOptions()
    chosen = choose_options(options or defaults, tokenizer, settings, is_told=options is not None)
    given = _Given(tokenizer, target_tokenizer, tuple(labels), part_of(progress, 0.1, 1.0))
    if entry:
        chosen = replace(chosen, encoding="utf-8")
        origin, files = TextOrigin(entry.name, (entry.name,)), corpus_files(entry, chosen.span)
        corpus = _build(origin, files, chosen, given, parallel=bool(entry.members))
        made = corpus.task, corpus.options, corpus.tokenizer, corpus.training, corpus.validation
        return replace(corpus, floor=known_floor(entry, *made))
    if chosen.span:
        raise LmvizError(
            "A span can be chosen for texts that lmviz writes, and this is none of them: leave it 0."
        )
    if contents is None or not contents.are_whole:
        contents = read_contents(source, chosen, target=target, progress=progress)
    return _build_from(contents, given)


@dataclass(frozen=True, eq=False)
class Contents:
    """What the files of a text hold, read once: examples, or columns that nothing tells, or plain text.

    `files` are names and texts in UTF-8, which the corpus that is made of them takes away; `raws` are their
    bytes where these might be read otherwise. `written` are the times at which the files were written.
    """

    origin: TextOrigin
    options: CorpusOptions
    found: FoundExamples | Layout | None
    written: tuple[int, ...]
    files: list[tuple[str, bytes]] = field(default_factory=list)
    raws: list[bytes] = field(default_factory=list)
    encodings: tuple[Found, ...] = ()

    @property
    def are_whole(self) -> bool:
        """Whether a corpus can be made of them, as the files are now."""
        there = bool(self.files) or isinstance(self.found, FoundExamples)
        return there and self.written == _written(self.origin)


def read_contents(
    source: str | Path | Sequence[str | Path],
    options: CorpusOptions,
    *,
    target: str | Path | None = None,
    counted: bool = False,
    progress: Report = unheard,
) -> Contents:
    """What a file, several, or a folder hold; LmvizError as of `load_corpus`.

    `counted` says that rows which repeat another are counted, which takes memory.
    """
    paths, others = find_files(source, lambda: progress(0.0))
    origin = TextOrigin(
        _name(source), tuple(map(os.path.abspath, paths)), notes=tuple(map(_not_read, others))
    )
    targets = [] if target is None else find_files(target)[0]
    check_room([*paths, *targets])
    if target is not None and (len(paths) != 1 or len(targets) != 1):
        raise LmvizError("Of two languages each has one file: name one source and one target.")
    if target is None and (options.form == "folders" or _is_labelled(source, paths, options)):
        written = _written(origin)
        return Contents(origin, options, read_labelled_folders(paths, options.encoding), written)
    by_language = (
        _languages_of(source, paths, options)
        if target is None
        else _told_apart(paths[0], targets[0], options)
    )
    if by_language is not None:
        return _read_languages(origin, *by_language, options, progress, counted=counted)
    written = _written(origin)
    files, raws, encodings = _texts(paths, options.encoding, progress)
    found = read_examples(files, options, counted=counted)
    return Contents(origin, options, found, written, files, raws, encodings)


def read_lines(source: str | Path | Sequence[str | Path], encoding: str = RECOGNISED) -> str:
    """The text of what `load_corpus` reads, with the carriage returns that stand in it."""
    entry = find_entry(source) if isinstance(source, str) else None
    if entry:
        contents = [data for _, data in corpus_files(entry)]
    else:
        paths, _ = find_files(source)
        check_room(paths)
        contents = [read_utf8(path, encoding, line_ends=False) for path in paths]
    return "\n".join(data.decode("utf-8").removesuffix("\n") for data in contents) + "\n"


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
class TextOrigin:
    """Where a corpus comes from: its name and sources, the string where it has none, what was passed over."""

    name: str
    sources: tuple[str, ...]
    target_sources: tuple[str, ...] = ()
    content: bytes = b""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Given:
    """What a text is read with: tokenizers and labels of a model, if any, and who hears of the progress."""

    tokenizer: str | Tokenizer | None
    target_tokenizer: Tokenizer | None
    labels: tuple[str, ...]
    report: Report

    @property
    def learned(self) -> Tokenizer | None:
        """A tokenizer that exists already."""
        return self.tokenizer if isinstance(self.tokenizer, Tokenizer) else None


def _written(origin: TextOrigin) -> tuple[int, ...]:
    """When the files were written last; LmvizError where one is gone."""
    try:
        return tuple(os.stat(path).st_mtime_ns for path in (*origin.sources, *origin.target_sources))
    except OSError as error:
        raise LmvizError(f"{error.filename} cannot be read: {error.strerror}.") from None


def _texts(
    paths: Sequence[Path], encoding: str, report: Report
) -> tuple[list[tuple[str, bytes]], list[bytes], tuple[Found, ...]]:
    """The names of files and their texts in UTF-8, their bytes where these could be others, and encodings."""
    share = 0.1 / len(paths)
    files, raws, encodings = [], [], []
    for number, path in enumerate(paths):
        raw = read_raw(path)
        found = find_encoding(raw) if encoding == RECOGNISED else Found(check_encoding(encoding))
        data = as_utf8(path, raw, found.encoding, part_of(report, number * share, (number + 1) * share))
        files.append((path.name, data))
        is_usual = found.encoding in ("utf-8", "utf-16") or raw.isascii()
        raws.append(raw if found.guessed or not is_usual else b"")
        encodings.append(found)
    return files, raws, tuple(encodings)


def _is_labelled(
    source: str | Path | Sequence[str | Path], files: list[Path], options: CorpusOptions
) -> bool:
    """Whether the source is a folder whose folders are labels."""
    if not isinstance(source, str | Path) or not os.path.isdir(source) or options.form != RECOGNISED:
        return False
    if options.task == "classification":
        return all(path.parent != Path(source) for path in files)
    return options.task == RECOGNISED and are_labels(Path(source), files)


def _languages_of(
    source: str | Path | Sequence[str | Path], files: list[Path], options: CorpusOptions
) -> tuple[list[tuple[Path, Path]], tuple[str, str]] | None:
    """Pairs of files that are named alike but for their language, and the languages; None for others."""
    if options.task not in (RECOGNISED, "translation") or options.form not in (RECOGNISED, "parallel"):
        return None
    found = find_languages(files)
    if found is None:
        if options.form == "parallel":
            raise LmvizError(
                f"{files[0]} has no file beside it that is named alike but for a language, as train.en and "
                "train.de are: name both."
            )
        return None
    languages, groups = found
    told = told_columns(options.columns)
    first, second = (told.get(role, "") for role in ("source", "target")) if told else languages[:2]
    if {first, second} - set(languages):
        raise LmvizError(
            f"There are no files for both {first!r} and {second!r}: there are {', '.join(languages)}."
        )
    return [(group[first], group[second]) for group in groups], (first, second)


def _told_apart(
    one: Path, other: Path, options: CorpusOptions
) -> tuple[list[tuple[Path, Path]], tuple[str, str]]:
    """The source and the target of two files, and their names; a person may tell them the other way round."""
    names = one.name, other.name
    told = told_columns(options.columns)
    if told.get("source") in ("2", names[1]) and names[0] != names[1]:
        (one, other), names = (other, one), (names[1], names[0])
    return [(one, other)], names


def _read_languages(
    origin: TextOrigin,
    pairs: list[tuple[Path, Path]],
    languages: tuple[str, str],
    options: CorpusOptions,
    report: Report,
    *,
    counted: bool,
) -> Contents:
    """What files of two languages hold, line by line."""
    if options.task not in (RECOGNISED, "translation"):
        raise LmvizError(
            f"Two files of two languages are for translation, not for {options.task}: leave the task out."
        )
    if len(pairs) == 1:
        source, target = map(os.path.abspath, pairs[0])
        origin = replace(origin, sources=(source,), target_sources=(target,))
        options = replace(options, form=RECOGNISED, columns="")
    written = _written(origin)
    files, raws, encodings = _texts([path for pair in pairs for path in pair], options.encoding, report)
    halves = list(zip(files[::2], files[1::2], strict=True))
    found = read_parallel(halves, languages, unrepeated=options.unrepeated, counted=counted)
    return Contents(origin, options, found, written, [], raws, encodings)


def _build_from(contents: Contents, given: _Given) -> Corpus:
    """The corpus of what files hold, which takes their texts away."""
    texts = [data for _, data in contents.files]
    contents.files.clear()
    contents.raws.clear()
    origin, options, found = contents.origin, contents.options, contents.found
    if isinstance(found, FoundExamples):
        texts.clear()
        if found.text is not None:
            return _build_task(origin, found, options, given, contents.encodings)
    return _build_plain(origin, texts, options, given, contents.encodings, found)


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
) -> Corpus:
    text = found.text
    assert text is not None, "a task has examples"
    options = fitting_options(text, _as_found(options, origin, found.layout, encodings))
    encoded = encode_task(
        text, options, given.learned, given.target_tokenizer, given.labels, part_of(given.report, 0.2, 1.0)
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
        fingerprint=fingerprint_of(text, encoded, options),
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


def _not_read(path: Path) -> str:
    return f"{path.name} is about the texts, and is not read."


def _build_plain(
    origin: TextOrigin,
    files: list[bytes],
    options: CorpusOptions,
    given: _Given,
    encodings: Sequence[Found],
    found: FoundExamples | Layout | None,
) -> Corpus:
    """A text whose next token is to be predicted: files, or the texts of a column, each a document."""
    known, report = given.learned, given.report
    said, complaints = "Plain text.", origin.notes
    if isinstance(found, FoundExamples) and found.documents is not None:
        said, complaints = describe(found), (*complaints, *found.complaints.sentences)
        options = _as_found(options, origin, found.layout, encodings)
        documents = found.documents
        files = [documents.data]
    else:
        options = _as_found(options, origin, None, encodings)
        documents = divide(files, options.documents)
        if isinstance(found, Layout):
            said = (
                f"Plain text. It could be a table of {len(found.names)} columns, but nothing says which of "
                "them hold labels and texts: name them, such as columns=label=1,text=2."
            )
    if known is not None and not known.marks_boundaries and len(documents) > 1:
        documents = divide([b"\n".join(files)], "file")  # without boundaries there is only one document
    files.clear()  # the documents hold the text now
    exactly = options.tokenizer_options.kind == "characters"
    training, validation = split(documents, options.validation, options.seed, exactly)
    if known is None:
        texts = _reported(training, part_of(report, 0.0, 0.5))
        known = train_tokenizer(texts, options.tokenizer_options, marks_boundaries=len(documents) > 1)
    middle = 1 - 0.5 * validation.size / max(1, documents.size)
    learned = encode_documents(training, known, part_of(report, 0.5, middle))
    if len(learned.ids) < 2:
        raise LmvizError(f"{origin.name} has too little text: two tokens are the least.")
    held_out = encode_documents(validation, known, part_of(report, middle, 1.0))
    report(1.0)
    return Corpus(
        name=origin.name,
        sources=origin.sources,
        content=origin.content,
        options=options,
        tokenizer=known,
        training_stream=learned,
        validation_stream=held_out,
        fingerprint=_fingerprint(documents, options, known),
        recognised=said + _said_of_encoding(encodings),
        complaints=complaints,
    )


def _name(source: str | Path | Sequence[str | Path]) -> str:
    """What a corpus is called: after its file or folder, or the first of several where they differ."""
    if isinstance(source, str | Path):
        return Path(source).resolve().stem
    names = set(map(_name, source))
    return _name(source[0]) if len(names) == 1 else f"{_name(source[0])} and {len(source) - 1} more"


def _fingerprint(documents: Documents, options: CorpusOptions, tokenizer: Tokenizer) -> str:
    values = {name: value for name, value in options.to_values().items() if name not in _TOLD_BY_THE_TEXT}
    digest = hashlib.sha256(documents.data)
    digest.update(documents.spans.tobytes())
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
