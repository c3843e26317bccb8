"""Evaluates models with different tokenizers on the same held-out text."""

from __future__ import annotations

from collections import Counter
from itertools import chain, zip_longest

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.base.reporting import Report, part_of, unheard
from lmviz.models.finite import check_score
from lmviz.models.float64 import in_float64
from lmviz.models.model import EVERY_LINE, IGNORED, Model
from lmviz.text.documents import Documents, divide
from lmviz.text.examples import AnsweredTexts
from lmviz.text.spelling import SpellingModel, unknown_words
from lmviz.text.stream import Stream, encode_documents
from lmviz.text.tokenizer import Tokenizer
from lmviz.training.evaluation import Evaluation, evaluate_ids, judged_parts, perplexity_from

ENCODING = 0.1
"""The share of the progress that goes to turning the text into tokens."""


def evaluate_documents(model: Model, documents: Documents, progress: Report = unheard) -> Evaluation:
    """Judge a model on the documents of a corpus, read with the model's own tokenizer.

    A model that knows no START reads them as one text, one of EVERY_LINE line by line. `progress` hears
    of the share that is done, and may raise to cancel. LmvizError when the model has no tokenizer or no token
    can be judged.
    """
    if model.documents == EVERY_LINE:
        return evaluate_lines(model, _as_one_text(documents), progress)
    stream = _stream_of(model, documents, part_of(progress, 0.0, ENCODING))
    return evaluate_stream(model, stream, part_of(progress, ENCODING, 1.0))


def documents_judged(
    model: Model, documents: Documents, progress: Report = unheard
) -> tuple[list[np.ndarray], int | None]:
    """What `evaluate_documents` judges: the ids of each document, and the id that does not count."""
    if model.documents == EVERY_LINE:
        return lines_judged(model, _as_one_text(documents)), None
    stream = _stream_of(model, documents, progress)
    start = stream.tokenizer.start_id if stream.tokenizer.marks_boundaries else None
    return documents_of(stream.ids, start), start


def _stream_of(model: Model, documents: Documents, progress: Report) -> Stream:
    tokenizer = model.tokenizer_needed()
    if not tokenizer.marks_boundaries:
        documents = divide([_as_one_text(documents).encode("utf-8")], "file")
    return encode_documents(documents, tokenizer, progress)


def _as_one_text(documents: Documents) -> str:
    return "".join(chain.from_iterable(zip_longest(documents, documents.gaps(), fillvalue="")))


def evaluate_lines(model: Model, text: str, progress: Report = unheard) -> Evaluation:
    """Judge a model on each line of a text as a sentence, as KenLM's `query` does.

    A line ends at "\\n" alone. Every word of it counts, and END; START counts where it is written in the
    text. LmvizError when the model has no tokenizer that knows START and END.
    """
    documents = lines_judged(model, text)
    tokenizer = model.tokenizer
    assert tokenizer is not None, "its lines were read"
    words = unknown_words(_lines_of(text), tokenizer)
    return evaluate_ids(
        model,
        documents,
        None,
        characters=len(text),
        unknown_id=tokenizer.unknown_id,
        spelling=_spelled(words, tokenizer),
        progress=progress,
    )


def lines_judged(model: Model, text: str) -> list[np.ndarray]:
    """What `evaluate_lines` judges: the ids of each line, with START before it and END behind it."""
    tokenizer = model.tokenizer
    if tokenizer is None or tokenizer.start_id is None or tokenizer.end_id is None:
        raise LmvizError("This model knows no START and END, so it cannot read lines one by one.")
    ids, lengths = tokenizer.encode_batch(_lines_of(text))
    parts = np.split(ids, np.cumsum(lengths)[:-1])
    return [np.concatenate([[tokenizer.start_id], part, [tokenizer.end_id]]) for part in parts]


def _lines_of(text: str) -> list[str]:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


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


def evaluate_answers(model: Model, chats: AnsweredTexts, progress: Report = unheard) -> Evaluation:
    """Judge a model on the tokens of chats that count, those of the answers, as a training on them does.

    LmvizError when none counts.
    """
    counts = list(chats.target)
    total, judged = 0.0, 0
    for part in judged_parts(model, list(chats.source), None, progress):
        values = in_float64(part.values).numpy()
        for row, window in enumerate(part.windows):
            places = np.flatnonzero(part.targets[row] != IGNORED)
            places = places[counts[window.number][window.start + 1 + places] > 0]
            total += float(values[row, places].sum())
            judged += len(places)
    if not judged:
        raise LmvizError("No token of an answer counts in these chats: choose others.")
    mean = -total / judged
    check_score(model, mean)
    return Evaluation(judged, mean, perplexity_from(mean), None)


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
