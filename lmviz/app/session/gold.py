"""What the open text says is right for a text that is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.session.reading import Reading

if TYPE_CHECKING:
    from lmviz.text.corpus import Corpus  # with all that reads texts, which the first paint does without


def gold_of(reading: Reading, corpus: Corpus | None) -> list[frozenset[int]]:
    """For a model of labels, the ids of the labels that are right at each place, or for the text.

    There are several where the text has the same words with different labels. Empty where it has no such
    example, or is not for the model's task.
    """
    predicts = reading.trace.predicts
    if corpus is None or predicts.continues or corpus.task != reading.model.task.name:
        return []
    ids = _ids_in(corpus, reading)
    parts = (corpus.training_examples, corpus.validation_examples)
    answers = [row for part in parts if part is not None for row in part.answers_to(ids)]
    return [_by_model(corpus, predicts.names, places) for places in zip(*answers, strict=True)]


def _ids_in(corpus: Corpus, reading: Reading) -> np.ndarray:
    """The ids of what is read in the corpus; none where it has not all of its words."""
    if corpus.fingerprint == reading.model.description.fingerprint:
        return reading.trace.ids
    encoding = corpus.tokenizer.encode_prefix(reading.trace.text)
    alike = encoding.tokens == tuple(reading.trace.tokens)
    return encoding.ids if alike and not any(encoding.unknown) else np.zeros(0, dtype=np.int64)


def _by_model(corpus: Corpus, names: Sequence[str], places: Sequence[int]) -> frozenset[int]:
    labels = (corpus.labels[place] for place in places)
    return frozenset(names.index(label) for label in labels if label in names)
