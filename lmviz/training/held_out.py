"""Evaluates models with different tokenizers on the same held-out text."""

from __future__ import annotations

from collections import Counter
from itertools import chain, zip_longest

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.base.reporting import Report, part_of, unheard
from lmviz.models.model import EVERY_LINE, Model
from lmviz.text.documents import Documents, divide
from lmviz.text.spelling import SpellingModel, unknown_words
from lmviz.text.stream import Stream, encode_documents
from lmviz.text.tokenizer import Tokenizer
from lmviz.training.evaluation import Evaluation, evaluate_ids

ENCODING = 0.1
"""The share of the progress that goes to turning the text into tokens."""


def evaluate_documents(model: Model, documents: Documents, progress: Report = unheard) -> Evaluation:
    """Judge a model on the documents of a corpus, read with the model's own tokenizer.

    A model that knows no START reads them as one text, one of EVERY_LINE line by line. `progress` hears
    of the share that is done, and may raise to cancel. LmvizError when the model has no tokenizer or no token
    can be judged.
    """
    tokenizer = model.tokenizer
    if tokenizer is None:
        raise LmvizError("This model has no tokenizer, so it cannot read a text: open it from a run.")
    if model.documents == EVERY_LINE or not tokenizer.marks_boundaries:
        text = "".join(chain.from_iterable(zip_longest(documents, documents.gaps(), fillvalue="")))
        if model.documents == EVERY_LINE:
            return evaluate_lines(model, text, progress)
        documents = divide([text.encode("utf-8")], "file")
    stream = encode_documents(documents, tokenizer, part_of(progress, 0.0, ENCODING))
    return evaluate_stream(model, stream, part_of(progress, ENCODING, 1.0))


def evaluate_lines(model: Model, text: str, progress: Report = unheard) -> Evaluation:
    """Judge a model on each line of a text as a sentence, as KenLM's `query` does.

    A line ends at "\\n" alone. Every word of it counts, and END; START counts where it is written in the
    text. LmvizError when the model has no tokenizer that knows START and END.
    """
    tokenizer = model.tokenizer
    if tokenizer is None or tokenizer.start_id is None or tokenizer.end_id is None:
        raise LmvizError("This model knows no START and END, so it cannot read lines one by one.")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    ids, lengths = tokenizer.encode_batch(lines)
    parts = np.split(ids, np.cumsum(lengths)[:-1])
    words = unknown_words(lines, tokenizer)
    return evaluate_ids(
        model,
        [np.concatenate([[tokenizer.start_id], part, [tokenizer.end_id]]) for part in parts],
        None,
        characters=len(text),
        unknown_id=tokenizer.unknown_id,
        spelling=_spelled(words, tokenizer),
        progress=progress,
    )


def evaluate_stream(model: Model, stream: Stream, progress: Report = unheard) -> Evaluation:
    """Judge a model on the stream of some documents.

    Characters are counted as the file has them, and unknown words are spelled out for the bits per
    character. LmvizError when no token can be judged.
    """
    documents, tokenizer = stream.documents, stream.tokenizer
    start = tokenizer.start_id if tokenizer.marks_boundaries else None
    return evaluate_ids(
        model,
        documents_of(stream.ids, start),
        start,
        characters=_characters(stream, documents, tokenizer),
        unknown_id=tokenizer.unknown_id,
        spelling=_spelling(stream.ids, documents, tokenizer),
        progress=progress,
    )


def documents_of(ids: np.ndarray, start: int | None) -> list[np.ndarray]:
    """A stream (token,) cut before each START; one document where there is none."""
    return [ids] if start is None else np.split(ids, np.flatnonzero(ids == start)[1:])


def _characters(stream: Stream, documents: Documents, tokenizer: Tokenizer) -> int:
    """How many characters the judged tokens stand for, END for what the file has between documents."""
    if not tokenizer.marks_boundaries or tokenizer.end_id is None:
        return stream.characters
    return stream.characters - len(documents) * len(documents.separator) + sum(map(len, documents.gaps()))


def _spelling(ids: np.ndarray, documents: Documents, tokenizer: Tokenizer) -> float:
    """The nats that it takes to spell out the judged tokens that are unknown."""
    if tokenizer.unknown_id is None or not (ids == tokenizer.unknown_id).any():
        return 0.0
    words = unknown_words(chain.from_iterable(batch.texts for batch in documents.batches()), tokenizer)
    if not tokenizer.marks_boundaries and ids[0] == tokenizer.unknown_id:
        beginning = next(documents.batches()).texts[0]
        words -= Counter([next(iter(unknown_words([beginning], tokenizer)))])  # the first is not judged
    return _spelled(words, tokenizer)


def _spelled(words: Counter[str], tokenizer: Tokenizer) -> float:
    spelling = SpellingModel(tokenizer)
    return sum(count * spelling.nats(word) for word, count in words.items())
