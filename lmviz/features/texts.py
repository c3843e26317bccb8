"""Texts whose states a dictionary is learned from, as rows of ids, and others that are held out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.models.interruption import look_up
from lmviz.models.model import Model
from lmviz.models.prefix import read_prefix
from lmviz.models.sequences import SOURCE, TEXT
from lmviz.readouts.passages import stretches
from lmviz.text.corpus import Corpus
from lmviz.text.examples_for import Part, examples_for

LENGTH = 128
"""Tokens of a row at most."""

HELD_OUT = 16_384
"""Tokens that are held out, a tenth of all at most."""

PIECE = 12
"""Characters that are read for each token of a row: a token has fewer in nearly all texts."""

SHORTEST = 3
"""Tokens; the first of a text is left out, and something must be left to predict."""


@dataclass(frozen=True, eq=False)
class ReadText:
    """A text as a model reads it: `ids` (token,), and the ids of what is read beside it, if anything."""

    ids: np.ndarray
    source: np.ndarray | None = None

    @property
    def lengths(self) -> dict[str, int]:
        """How many positions each sequence has."""
        return {TEXT: len(self.ids)} | ({} if self.source is None else {SOURCE: len(self.source)})


@dataclass(frozen=True, eq=False)
class FeatureTexts:
    """Rows to learn from, in the order in which they are read, and rows that are held out from it."""

    learned: tuple[ReadText, ...]
    held_out: tuple[ReadText, ...]


def read_feature_texts(
    model: Model,
    given: Corpus | Sequence[str],
    *,
    tokens: int,
    length: int = LENGTH,
    held_out: int = HELD_OUT,
    seed: int = 0,
) -> FeatureTexts:
    """Rows of at most `length` tokens, in an order drawn by the seed, `tokens` or a little more in all.

    Of a corpus its validation part is held out, if it has one; otherwise some of the rows are. LmvizError
    where there is not enough text, or where a corpus has not what the model reads.
    """
    length = length if model.context is None else min(length, model.context)
    if model.inputs == (TEXT,):
        learned, kept = _of_texts(model, given, tokens, length, held_out, seed)
    else:
        learned, kept = _of_pairs(model, given, tokens, length, held_out, seed)
    if not kept:
        total, count = sum(len(row.ids) for row in learned), 0
        while len(learned) > 1 and count < min(held_out, total / 10):
            kept.append(learned.pop())
            count += len(kept[-1].ids)
    if not learned or not kept:
        raise LmvizError(
            f"There is too little text to learn from: give at least two texts of {SHORTEST} tokens, better "
            "some hundred thousand tokens."
        )
    return FeatureTexts(tuple(learned), tuple(kept))


def _of_texts(
    model: Model, given: Corpus | Sequence[str], tokens: int, length: int, held_out: int, seed: int
) -> tuple[list[ReadText], list[ReadText]]:
    if isinstance(given, Corpus):
        rows = _begins if given.task in ("tagging", "classification") else _rows
        learned = _up_to(rows(model, given.training_documents, length, seed), tokens)
        return learned, _up_to(rows(model, given.validation_documents, length, seed), held_out)
    return _up_to(_rows(model, given, length, seed), tokens + held_out), []


def _of_pairs(
    model: Model, given: Corpus | Sequence[str], tokens: int, length: int, held_out: int, seed: int
) -> tuple[list[ReadText], list[ReadText]]:
    if not isinstance(given, Corpus) or given.task != model.task or len(model.inputs) != 2:
        raise LmvizError(
            f"{model.name or 'This model'} reads a source beside its text: give a corpus of pairs, as "
            "lmviz.load_corpus reads it."
        )
    found = []
    reads, writes = model.tokenizer_needed(SOURCE), model.tokenizer_needed()
    parts: tuple[tuple[Part, int], ...] = ("training", tokens), ("validation", held_out)
    for part, most in parts:
        pairs = examples_for(given, part, reads, target_tokenizer=writes)
        rows = (
            ReadText(
                np.asarray(pairs.target[at][:length], dtype=np.int64),
                np.asarray(pairs.source[at], dtype=np.int64),
            )
            for at in _drawn(range(len(pairs)), seed)
            if model.context is None or len(pairs.source[at]) <= model.context
        )
        found.append(_up_to(rows, most))
    return found[0], found[1]


def _drawn(given: Sequence, seed: int) -> Iterator:  # type: ignore[type-arg]  # ids, texts or numbers
    for number in np.random.default_rng(seed).permutation(len(given)):
        yield given[int(number)]


def _up_to(rows: Iterator[ReadText], tokens: int) -> list[ReadText]:
    """The first rows that have so many tokens together, and all where they have fewer."""
    found: list[ReadText] = []
    count = 0
    for row in rows:
        look_up()
        if len(row.ids) >= SHORTEST:
            found.append(row)
            count += len(row.ids)
        if count >= tokens:
            break
    return found


def _begins(model: Model, texts: Sequence[str], length: int, seed: int) -> Iterator[ReadText]:
    """A row of each text, which has one label or one for each word: its beginning where it is longer."""
    for text in _drawn(texts, seed):
        if text.strip():
            yield ReadText(np.asarray(read_prefix(model, text).ids[:length]))


def _rows(model: Model, texts: Sequence[str], length: int, seed: int) -> Iterator[ReadText]:
    """The rows of texts; those of a long text are drawn from all over it."""
    start = None if model.tokenizer is None else model.tokenizer.start_id
    held, whole = -1, ""  # a corpus makes a document anew each time it is asked for, however long it is
    for text, first, last in _drawn(stretches(texts, length * PIECE), seed):
        if text != held:
            held, whole = text, texts[text]
        piece = whole[first:last]
        if not piece.strip():
            continue
        ids = np.asarray(read_prefix(model, piece).ids)
        if first and len(ids) and ids[0] == start:  # it goes on in the middle of its text
            ids = ids[1:]
        for begin in range(0, len(ids), length):
            yield ReadText(ids[begin : begin + length])
