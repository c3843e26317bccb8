"""What two models are compared on: texts as ids, cut as `evaluate` cuts them, or as they are written."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.differences.pair import ModelPair
from lmviz.models.model import EVERY_LINE, Model
from lmviz.models.prefix import read_prefix
from lmviz.text.corpus import Corpus
from lmviz.text.documents import Documents, divide
from lmviz.text.stream import encode_documents
from lmviz.training.held_out import documents_of
from lmviz.training.judged_file import text_in

Given = str | Path | Corpus | Sequence[int] | np.ndarray
"""A file, a text, a corpus, whose held-out part is meant, or a row of ids."""


LENGTH = 128
"""States and heads are compared over at most so many tokens at once."""


@dataclass(frozen=True, eq=False)
class JudgedText:
    """Documents of ids (token,), and the id that is no target, START where there is one."""

    documents: Sequence[np.ndarray]
    start: int | None = None


def judged_text(model: Model, given: Given) -> JudgedText:
    """What is given as a model reads it; LmvizError where it cannot."""
    tokenizer = model.tokenizer
    start = tokenizer.start_id if tokenizer is not None and tokenizer.marks_boundaries else None
    if isinstance(given, str | np.ndarray | list | tuple) and not _is_file(given):
        return JudgedText([read_prefix(model, given).ids], start)
    return ids_of_documents(model, texts(model, given))


def ids_of_documents(model: Model, documents: Documents) -> JudgedText:
    """The documents of a corpus as a model reads them; LmvizError where it cannot."""
    tokenizer = model.tokenizer_needed()
    start = tokenizer.start_id if tokenizer.marks_boundaries else None
    if model.documents == EVERY_LINE:
        raise LmvizError(
            "A model of sentences, as of an ARPA file, is compared on a text and not on a file: give a text."
        )
    if start is None:
        whole = "".join(chain.from_iterable(zip_longest(documents, documents.gaps(), fillvalue="")))
        documents = divide([whole.encode("utf-8")], "file")
    return JudgedText(documents_of(encode_documents(documents, tokenizer).ids, start), start)


def judged_texts(pair: ModelPair, given: Given) -> Sequence[str]:
    """What is given as texts; LmvizError for ids, which mean something else to either model."""
    if isinstance(given, str) and not _is_file(given):
        return [given]
    if isinstance(given, str | Path | Corpus):
        return texts(pair.before, given)
    raise LmvizError("These models have different tokens, so ids mean something else to each: give a text.")


def texts(model: Model, given: Given) -> Documents:
    """The documents of a file, or of what a corpus holds out; of all of it where nothing is held out."""
    if isinstance(given, Corpus):
        return given.validation_documents if len(given.validation_documents) else given.training_documents
    if not isinstance(given, str | Path):
        raise LmvizError(f"{given!r} is no text: give a file, a text, a corpus, or a row of token ids.")
    return text_in(model, given).training_documents


def first_stretches(pair: ModelPair, documents: Sequence[str], positions: int) -> list[np.ndarray]:
    """The first documents as stretches of ids that both models read at once, so many positions in all."""
    found: list[np.ndarray] = []
    left = positions
    for document in documents:
        ids = read_prefix(pair.before, document).ids if document else np.zeros(0, dtype=np.int64)
        for stretch in windows(pair, ids):
            if left <= 0:
                return found
            found.append(stretch[:left])
            left -= len(found[-1])
    return found


def last_tokens(pair: ModelPair, ids: np.ndarray, most: int = LENGTH) -> np.ndarray:
    """The last tokens of ids (token,) that both models read at once, `most` at most."""
    return np.asarray(ids[-_at_once(pair, most) :], dtype=np.int64)


def windows(pair: ModelPair, ids: np.ndarray) -> list[np.ndarray]:
    """Ids (token,) cut into stretches that both models read at once."""
    size = _at_once(pair, LENGTH)
    return [np.asarray(ids[first : first + size], dtype=np.int64) for first in range(0, len(ids), size)]


def _at_once(pair: ModelPair, most: int) -> int:
    contexts = [model.context for model in (pair.before, pair.after) if model.context is not None]
    return min([most, *contexts])


def _is_file(given: object) -> bool:
    """Whether a string is the path of a file; one that no file can have is a text."""
    return isinstance(given, str) and len(given) < 4096 and "\n" not in given and os.path.isfile(given)
