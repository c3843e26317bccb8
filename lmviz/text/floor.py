"""The nats per target below which no model can go, where the source of a text is known.

Whoever knows how a text was made pays −log p of it, and on average nobody pays less (Gibbs' inequality; Cover
and Thomas 2006, theorem 2.6.3). On one text a model can only be below it by luck.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from lmviz.text.catalogue import DRAWN, Entry
from lmviz.text.corpus_options import CorpusOptions
from lmviz.text.statistics import count_ids
from lmviz.text.tokenizer import Tokenizer


def known_floor(
    entry: Entry,
    task: str,
    options: CorpusOptions,
    tokenizer: Tokenizer,
    training: np.ndarray,
    validation: np.ndarray,
) -> float | None:
    """The floor of a corpus of the catalogue, given the ids of both parts, (token,); None if it is unknown.

    Next tokens have to tell each document by itself for that, as START and END around it make them. Where the
    documents were not drawn from a list, their tokens also have to tell all of the text: no word is unknown,
    and letters are as large as they were.
    """
    if entry.floor is None or task != entry.task:
        return None
    if task != "next-token":
        return entry.floor if isinstance(entry.floor, float) else None
    usual = CorpusOptions(**entry.options)
    if not tokenizer.marks_boundaries or options.documents != usual.documents:
        return None
    sequences = [*_documents(training, tokenizer), *_documents(validation, tokenizer)]
    if isinstance(entry.floor, str):
        assert entry.floor == DRAWN, "there is no other word for a floor"
        nats = _entropy(sequences)
    else:
        seen = count_ids(training, tokenizer.vocabulary_size) + count_ids(
            validation, tokenizer.vocabulary_size
        )
        lacking = tokenizer.unknown_id is not None and seen[tokenizer.unknown_id] > 0
        if lacking or options.lower_case != usual.lower_case:
            return None
        nats = entry.floor if isinstance(entry.floor, float) else entry.floor(options.span)
    return nats * len(sequences) / (len(training) + len(validation) - len(sequences))


def _documents(ids: np.ndarray, tokenizer: Tokenizer) -> list[np.ndarray]:
    """The ids of each document, which begins with START."""
    return np.split(ids, np.flatnonzero(ids == tokenizer.start_id))[1:]


def _entropy(documents: list[np.ndarray]) -> float:
    """Nats of a document that is drawn from these, the more often the more often it is among them."""
    counts = Counter(document.tobytes() for document in documents)
    total = len(documents)
    return -sum(count / total * math.log(count / total) for count in counts.values())
