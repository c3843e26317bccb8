"""The loss map of an open corpus, and how often its tokens were learned from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.base.reporting import Report, part_of, unheard
from lmviz.tasks import NEXT_TOKEN
from lmviz.training.held_out import ENCODING, documents_judged
from lmviz.training.loss_map import LossMap, loss_map

if TYPE_CHECKING:
    from lmviz.models.model import Model
    from lmviz.text.corpus import Corpus
    from lmviz.text.examples_for import Part


def map_of_corpus(
    model: Model, corpus: Corpus, part: Part = "validation", progress: Report = unheard
) -> LossMap:
    """The loss of every token of a part of a corpus, read with the model's own tokenizer.

    LmvizError where model or corpus are of another task.
    """
    if corpus.task != NEXT_TOKEN or not model.predicts.continues or len(model.inputs) > 1:
        raise LmvizError(
            "A loss map is that of a language model over a plain text: open one, or look at the confusions "
            "of labels in Compare."
        )
    documents = corpus.training_documents if part == "training" else corpus.validation_documents
    if not len(documents):
        raise LmvizError(f"Nothing of {corpus.name} is held out: choose the text that was learned from.")
    ids, start = documents_judged(model, documents, part_of(progress, 0.0, ENCODING))
    counts = learned_counts(model, corpus)
    return loss_map(model, ids, start, counts=counts, progress=part_of(progress, ENCODING, 1.0))


def learned_counts(model: Model, corpus: Corpus) -> np.ndarray | None:
    """How often each token of a model was learned from, (id,); None where it cuts texts differently."""
    tokenizer = model.tokenizer
    if tokenizer is None or tokenizer.tokens() != corpus.tokenizer.tokens():
        return None
    return np.bincount(corpus.training, minlength=model.vocabulary_size)
