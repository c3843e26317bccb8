"""Evaluates models with different tokenizers on the same held-out text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from lmviz.errors import LmvizError
from lmviz.text.documents import Documents, divide
from lmviz.text.stream import encode_documents
from lmviz.training.evaluation import Evaluation, evaluate_ids

if TYPE_CHECKING:
    from lmviz.models.model import Model

ENCODING = 0.1
"""The share of the progress that goes to turning the text into tokens."""


def evaluate_documents(
    model: Model, documents: Documents, progress: Callable[[float], None] = lambda share: None
) -> Evaluation:
    """Judge a model on the documents of a corpus, read with the model's own tokenizer.

    A model that knows no START reads them as one text. `progress` hears of the share that is done, and
    may raise to cancel. LmvizError when the model has no tokenizer or no token can be judged.
    """
    tokenizer = model.tokenizer
    if tokenizer is None:
        raise LmvizError("This model has no tokenizer, so it cannot read a text: open it from a run.")
    if not tokenizer.marks_boundaries:
        documents = divide([documents.text.encode("utf-8")], "file")
    stream = encode_documents(documents, tokenizer, lambda share: progress(ENCODING * share))
    start = tokenizer.start_id if tokenizer.marks_boundaries else None
    pieces = [stream.ids] if start is None else np.split(stream.ids, np.flatnonzero(stream.ids == start)[1:])
    return evaluate_ids(
        model,
        pieces,
        start,
        characters=stream.characters,
        progress=lambda share: progress(ENCODING + (1 - ENCODING) * share),
    )
