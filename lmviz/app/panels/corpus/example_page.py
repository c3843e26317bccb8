"""A page of the examples of a task, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmviz.app.widgets.text.examples_view import ShownExample

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
    examples, tokenizer = corpus.training_examples, corpus.tokenizer
    assert examples is not None, "plain text has no examples"
    shown = []
    for number in page:
        ids, answer = examples.source[number].tolist(), examples.target[number].tolist()
        other = corpus.target_tokenizer
        names = () if other is not None else tuple(corpus.labels[id] for id in answer)
        shown.append(
            ShownExample(
                words=_words(tokenizer, ids),
                tags=names if corpus.task == "tagging" else (),
                label=names[0] if corpus.task == "classification" else "",
                target=_words(other, answer) if other is not None else (),
                unknown=tuple(n for n, id in enumerate(ids) if id == tokenizer.unknown_id),
                pixels=tuple(id == 1 for id in ids) if corpus.task == "captioning" else (),
            )
        )
    return shown


def _words(tokenizer: Tokenizer, ids: list[int]) -> tuple[str, ...]:
    from lmviz.text.tokenizer import visible

    return tuple(visible(tokenizer.token(id)) for id in ids)
