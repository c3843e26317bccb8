"""The loss map of an open corpus, and how often its tokens were learned from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.base.reporting import Report, part_of, unheard
from lmviz.models.sequences import SOURCE, TEXT
from lmviz.tasks import NEXT_TOKEN
from lmviz.training.answer_map import map_of_examples
from lmviz.training.held_out import ENCODING, documents_judged
from lmviz.training.loss_map import LossMap, loss_map

if TYPE_CHECKING:
    from lmviz.models.model import Model
    from lmviz.text.corpus import Corpus
    from lmviz.text.examples import Examples
    from lmviz.text.examples_for import Part


def map_of_corpus(
    model: Model, corpus: Corpus, part: Part = "validation", progress: Report = unheard
) -> LossMap:
    """The loss of every token, or every label, of a part of a corpus, read with the model's own tokenizers.

    LmvizError where model and corpus are of different tasks.
    """
    if corpus.task != model.task:
        raise LmvizError(
            f"{corpus.name} is read for {corpus.task}, and this model is for {model.task}: open a text that "
            "it can be asked about."
        )
    if not is_of_plain_text(model):
        examples = examples_of_corpus(model, corpus, part)
        counts = learned_counts(model, corpus)
        return map_of_examples(model, examples, counts=counts, progress=progress)
    documents = corpus.training_documents if part == "training" else corpus.validation_documents
    if not len(documents):
        raise LmvizError(f"Nothing of {corpus.name} is held out: choose the text that was learned from.")
    ids, start = documents_judged(model, documents, part_of(progress, 0.0, ENCODING))
    counts = learned_counts(model, corpus)
    return loss_map(model, ids, start, counts=counts, progress=part_of(progress, ENCODING, 1.0))


def is_of_plain_text(model: Model) -> bool:
    """Whether a model predicts the next token of one text, and nothing else is read beside it."""
    return model.predicts.continues and len(model.inputs) == 1


def examples_of_corpus(model: Model, corpus: Corpus, part: Part) -> Examples:
    """The examples of a part of a corpus as a model reads them; LmvizError where nothing is held out."""
    from lmviz.text.examples_for import examples_for

    documents = corpus.training_documents if part == "training" else corpus.validation_documents
    if not len(documents):
        raise LmvizError(f"Nothing of {corpus.name} is held out: choose the text that was learned from.")
    if SOURCE not in model.inputs:
        tokenizer = model.tokenizer_needed()
        return examples_for(corpus, part, tokenizer, model.predicts.names)
    return examples_for(
        corpus, part, model.tokenizer_needed(SOURCE), target_tokenizer=model.tokenizer_needed()
    )


def learned_counts(model: Model, corpus: Corpus) -> np.ndarray | None:
    """How often each token of a model was learned from, (id,); None where it cuts texts differently."""
    tokenizer = model.tokenizer_of(TEXT)
    own = corpus.tokenizer_of("target" if SOURCE in model.inputs else "source")
    if tokenizer is None or tokenizer.tokens() != own.tokens():
        return None
    examples = corpus.training_examples
    if examples is None or corpus.task == NEXT_TOKEN:
        read = corpus.training
    else:
        read = examples.target.ids if SOURCE in model.inputs else examples.source.ids
    return np.bincount(read, minlength=model.vocabulary_size)
