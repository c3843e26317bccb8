"""The examples of an open corpus as a model reads them, which may have learned from another corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.text.examples import Examples, Sequences
from lmviz.text.stream import encode_documents

if TYPE_CHECKING:
    from lmviz.text.corpus import Corpus
    from lmviz.text.tokenizer import Tokenizer

Part = Literal["training", "validation"]


def examples_for(
    corpus: Corpus,
    part: Part,
    tokenizer: Tokenizer,
    labels: tuple[str, ...] = (),
    target_tokenizer: Tokenizer | None = None,
) -> Examples:
    """A part of a corpus with the ids of a model: those of its tokenizers, and of its `labels`.

    `tokenizer` reads the sources, and `target_tokenizer` the texts that belong to them where the corpus has
    pairs. They come in the order of the corpus. LmvizError where the corpus has no examples, has a label that
    is none of `labels`, or where the model's tokens are not the words that have tags.
    """
    found = corpus.training_examples if part == "training" else corpus.validation_examples
    documents = corpus.training_documents if part == "training" else corpus.validation_documents
    if found is None:
        raise LmvizError(f"The text {corpus.name} has no examples: open tagged or labelled text, or pairs.")
    source, target, unknown = found.source, found.target, found.unknown
    if tokenizer.json != corpus.tokenizer.json:
        ends = corpus.task == "translation"
        stream = encode_documents(documents, tokenizer, start=False, end=ends)
        source = Sequences(stream.ids, stream.starts)
    if corpus.target_tokenizer is not None:
        reader = target_tokenizer or corpus.target_tokenizer
        target, unknown = _targets(found, corpus.target_tokenizer, reader), reader.unknown_id
    elif labels != corpus.labels:
        target = _renamed(target, corpus.labels, labels)
    if corpus.task == "tagging" and not np.array_equal(source.starts, target.starts):
        raise LmvizError(
            f"This model cuts the words of {corpus.name} in another way, so their tags do not fit."
        )
    return Examples(source, target, found.texts, unknown)


def _targets(found: Examples, own: Tokenizer, other: Tokenizer) -> Sequences:
    """The texts that are wanted as ids of another tokenizer, between START and END."""
    if own.json == other.json:
        return found.target
    start, end = other.start_id, other.end_id
    if start is None or end is None:
        raise LmvizError("The model's tokenizer has no START and END, so it cannot read pairs.")
    assert found.texts is not None, "what is wanted are texts"
    encoded = (other.encode(text).tolist() for text in found.texts)
    return Sequences.of(([start, *ids, end] for ids in encoded), other.vocabulary_size - 1)


def _renamed(target: Sequences, own: tuple[str, ...], other: tuple[str, ...]) -> Sequences:
    """The same labels by the ids that the model has for them."""
    unknown = next((name for name in own if name not in other), None)
    if unknown is not None:
        raise LmvizError(
            f"The label {unknown!r} is none of those the model knows, which are {', '.join(other)}."
        )
    places = np.array([other.index(name) for name in own], dtype=np.min_scalar_type(len(other)))
    return Sequences(places[target.ids], target.starts)
