"""A page of the examples of a task, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmviz.app.widgets.text.examples_view import ShownExample
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.text.corpus import Corpus
    from lmviz.text.tokenizer import Tokenizer

MOST = 60
WORDS = 480
BEFORE = 1


def page_at(corpus: Corpus, place: int) -> range:
    """The numbers of the training examples to show, from just before the one with the token at a place."""
    examples = corpus.training_examples
    assert examples is not None, "plain text has no examples"
    first = max(0, examples.source.sequence_at(place) - BEFORE)
    starts = examples.source.starts
    last = first + 1
    while last < min(len(examples), first + MOST) and starts[last] - starts[first] < WORDS:
        last += 1
    return range(first, min(last, len(examples)))


def shown_examples(corpus: Corpus, page: range) -> list[ShownExample]:
    """The examples of a page as they are read: their words, and their tags, label or target."""
    examples, tokenizer, texts = corpus.training_examples, corpus.tokenizer, corpus.training_documents
    assert examples is not None, "plain text has no examples"
    wanted = examples.texts
    shown = []
    for number in page:
        ids, answer = examples.source[number].tolist(), examples.target[number].tolist()
        other = corpus.target_tokenizer
        names = () if other is not None else tuple(corpus.labels[id] for id in answer)
        shown.append(
            ShownExample(
                words=_words(tokenizer, ids, texts[number]),
                tags=names if corpus.task == "tagging" else (),
                label=names[0] if corpus.task == "classification" else "",
                target=_words(other, answer, wanted[number]) if other is not None and wanted else (),
                unknown=tuple(n for n, id in enumerate(ids) if id == tokenizer.unknown_id),
                pixels=tuple(id == 1 for id in ids) if corpus.task == "captioning" else (),
            )
        )
    return shown


def _words(tokenizer: Tokenizer, ids: list[int], text: str) -> tuple[str, ...]:
    """The tokens of a text, one that the vocabulary lacks as it is written."""
    if tokenizer.unknown_id not in ids:
        return tuple(visible(tokenizer.token(id)) for id in ids)
    encoding = tokenizer.encode_prefix(text)
    unknown = (
        text[start:end]
        for (start, end), is_unknown in zip(encoding.offsets, encoding.unknown, strict=True)
        if is_unknown
    )
    return tuple(visible(next(unknown) if id == tokenizer.unknown_id else tokenizer.token(id)) for id in ids)
