"""Turns the examples of a task into ids: tokenizers for both sides, labels, training and validation."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.base.reporting import Report
from lmviz.text.corpus_options import OF_ROWS, CorpusOptions
from lmviz.text.documents import Documents, draw
from lmviz.text.examples import Examples, Sequences
from lmviz.text.pictures import picture_tokenizer
from lmviz.text.stream import Stream, encode_documents
from lmviz.text.task_text import TaskText
from lmviz.text.tokenizer import Tokenizer
from lmviz.text.tokenizer_options import TokenizerOptions
from lmviz.text.tokenizer_training import train_tokenizer
from lmviz.text.words import WORD_PATTERN


@dataclass(frozen=True)
class EncodedTask:
    """The examples of a task as ids, and what was learned to make them so."""

    tokenizer: Tokenizer
    target_tokenizer: Tokenizer | None
    labels: tuple[str, ...]
    training: Examples
    validation: Examples
    streams: tuple[Stream, Stream]  # the sources of both
    target_streams: tuple[Stream, Stream] | None  # the targets of both, where they are texts


def fitting_options(text: TaskText, options: CorpusOptions) -> CorpusOptions:
    """The options with a tokenizer that suits the task.

    Each word of tagged text is one token. Where words as lmviz cuts them would be others, the spaces
    between them decide. LmvizError where characters or pieces of words are asked for.
    """
    kind = options.tokenizer_options.kind
    if text.task != "tagging" or kind == "spaces":
        return options
    if kind != "words":
        raise LmvizError(
            f"Tagged text has a tag for each word, so {kind} cannot be its tokens: choose words or spaces."
        )
    return options if _are_words(text.sources) else replace(options, tokenizer="spaces")


def encode_task(
    text: TaskText,
    options: CorpusOptions,
    tokenizer: Tokenizer | None,
    target_tokenizer: Tokenizer | None,
    labels: tuple[str, ...],
    report: Report,
    held_out: np.ndarray | None = None,
) -> EncodedTask:
    """Split the examples, learn what is not given, and encode both parts.

    `labels`, where given, are the names of a model's label ids; LmvizError for one that is none of them.
    `held_out` says which examples are for validation, (example,) bool; otherwise they are drawn.
    """
    if held_out is None:
        held_out = draw(len(text.sources), options.validation, options.seed)
    learned, kept = text.sources.select(~held_out), text.sources.select(held_out)
    answers, names = _labelled(text, labels)
    ends = text.task == "translation"
    source = tokenizer or _source_tokenizer(text.task, learned, options.tokenizer_options, ends=ends)
    report(0.3)
    _check_marks(source, ends)
    streams = (
        encode_documents(learned, source, start=False, end=ends),
        encode_documents(kept, source, start=False, end=ends),
    )
    report(0.6)
    if text.targets is None:
        target, targets, sides = None, None, [answers.select(~held_out), answers.select(held_out)]
        texts: list[Documents | None] = [None, None]
    else:
        texts = [text.targets.select(~held_out), text.targets.select(held_out)]
        target, targets = _encode_targets(text.targets, held_out, options, target_tokenizer)
        sides = [Sequences(stream.ids, stream.starts) for stream in targets]
    report(1.0)
    if text.task == "tagging":
        _check_words(streams, sides)
    training, validation = (
        Examples(
            Sequences(stream.ids, stream.starts), side, written, None if target is None else target.unknown_id
        )
        for stream, side, written in zip(streams, sides, texts, strict=True)
    )
    return EncodedTask(source, target, names, training, validation, streams, targets)


def fingerprint_of(
    text: TaskText, encoded: EncodedTask, options: CorpusOptions, held_out: np.ndarray | None = None
) -> str:
    """SHA-256 of all that decides about a corpus of examples."""
    digest = hashlib.sha256(text.sources.data)
    digest.update(text.sources.spans.tobytes())
    if text.targets is not None:
        digest.update(text.targets.data)
        digest.update(text.targets.spans.tobytes())
    if text.answers is not None:
        digest.update(text.answers.ids.tobytes())
        digest.update(text.answers.starts.tobytes())
    digest.update(b"" if held_out is None else held_out.tobytes())
    told = {name: value for name, value in options.to_values().items() if name not in OF_ROWS}
    values = {**told, "task": text.task, "labels": encoded.labels}
    digest.update(json.dumps(values, sort_keys=True).encode("utf-8"))
    for tokenizer in (encoded.tokenizer, encoded.target_tokenizer):
        digest.update(tokenizer.json.encode("utf-8") if tokenizer else b"")
    return digest.hexdigest()


def _encode_targets(
    targets: Documents, held_out: np.ndarray, options: CorpusOptions, tokenizer: Tokenizer | None
) -> tuple[Tokenizer, tuple[Stream, Stream]]:
    parts = targets.select(~held_out), targets.select(held_out)
    tokenizer = tokenizer or _learn(parts[0], options.tokenizer_options, boundaries=True, ends=True)
    if not tokenizer.marks_boundaries:
        raise LmvizError("The tokenizer of the other language has no START: choose another.")
    learned, kept = (encode_documents(part, tokenizer) for part in parts)
    return tokenizer, (learned, kept)


def _source_tokenizer(task: str, documents: Documents, options: TokenizerOptions, *, ends: bool) -> Tokenizer:
    """What cuts the sources; the pixels of a picture are the same in every corpus."""
    if task == "captioning":
        return picture_tokenizer()
    return _learn(documents, options, boundaries=False, ends=ends)


def _learn(documents: Documents, options: TokenizerOptions, *, boundaries: bool, ends: bool) -> Tokenizer:
    texts = (text for batch in documents.batches() for text in batch.texts)
    return train_tokenizer(texts, options, marks_boundaries=boundaries, ends=ends)


def _labelled(text: TaskText, labels: tuple[str, ...]) -> tuple[Sequences, tuple[str, ...]]:
    """The label ids under the names that are given, or the text's own; none for a translation."""
    if text.answers is None:
        return Sequences.of([], 0), ()
    if not labels:
        return text.answers, text.labels
    unknown = next((name for name in text.labels if name not in labels), None)
    if unknown is not None:
        raise LmvizError(
            f"The label {unknown!r} is none of those the model knows, which are {', '.join(labels)}."
        )
    places = np.array([labels.index(name) for name in text.labels], dtype=np.min_scalar_type(len(labels)))
    return Sequences(places[text.answers.ids], text.answers.starts), labels


def _are_words(sentences: Documents) -> bool:
    """Whether each of the words between spaces is one word as lmviz cuts them."""
    from tokenizers import Regex, pre_tokenizers

    cutter = pre_tokenizers.Split(Regex(WORD_PATTERN), "removed", invert=True)
    words = {word for batch in sentences.batches() for text in batch.texts for word in text.split(" ")}
    return all(len(cutter.pre_tokenize_str(word)) == 1 for word in words)


def _check_words(streams: Iterable[Stream], tags: Iterable[Sequences]) -> None:
    for stream, side in zip(streams, tags, strict=True):
        if not np.array_equal(stream.starts, side.starts):
            raise LmvizError(
                "This tokenizer cuts the words of tagged text into pieces: choose words or spaces."
            )


def _check_marks(tokenizer: Tokenizer, ends: bool) -> None:
    if tokenizer.marks_boundaries:
        raise LmvizError(
            "This tokenizer puts START before each text, which no model of this task reads: choose another."
        )
    if ends and tokenizer.end_id is None:
        raise LmvizError("This tokenizer has no END, which comes after each source: choose another.")
