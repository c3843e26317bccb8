"""Which pairs of texts translators are judged by: some of each length, and none that were learned from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.text.catalogue import find_entry
from lmviz.text.corpus import Corpus, load_corpus
from lmviz.text.documents import Documents
from lmviz.text.examples import Examples

FURTHEST = 50
"""Sources of texts that lmviz writes are judged up to so many tokens, however short the text's own are."""

EACH = 40
"""So many pairs of each length at most."""

FEWEST = 5
"""Lengths with fewer pairs are left out where there are others."""

LENGTHS = 12
"""About so many lengths at most."""

_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500)


@dataclass(frozen=True)
class TextPair:
    """A source and what is wanted for it, as texts; `length` are the tokens of the source without END."""

    source: str
    target: str
    length: int


def judged_pairs(corpus: Corpus, each: int = EACH) -> tuple[TextPair, ...]:
    """Pairs of a text, up to `each` of a length, the shortest first, as the text's own tokens tell them.

    They are the pairs kept from training. A text that lmviz writes is written anew with longer sources, and
    pairs that are learned from are left out. Where there are many lengths, only multiples of 2, 5 or more are
    taken. LmvizError where the text has no pairs, or kept none.
    """
    examples, sources = _longer(corpus) or (corpus.validation_examples, corpus.validation_documents)
    if corpus.target_tokenizer is None or examples is None:
        raise LmvizError(f"{corpus.name} has no pairs of texts: open one that has, such as twin.")
    if not len(examples):
        raise LmvizError(f"{corpus.name} has no held-out part: open it again with a validation share.")
    assert examples.texts is not None, "what is wanted are texts"
    lengths = examples.source.lengths - 1
    return tuple(
        TextPair(sources[place], examples.texts[place], length)
        for length in judged_lengths(lengths.tolist())
        for place in np.flatnonzero(lengths == length)[:each].tolist()
    )


def judged_lengths(lengths: Sequence[int]) -> tuple[int, ...]:
    """Which lengths are judged, ascending, of those that sources have."""
    counts = Counter(lengths)
    enough = [length for length in counts if counts[length] >= FEWEST] or list(counts)
    for step in _STEPS:
        chosen = sorted(length for length in enough if length % step == 0)
        if 0 < len(chosen) <= LENGTHS:
            return tuple(chosen)
    return tuple(sorted(enough))


def _longer(corpus: Corpus) -> tuple[Examples, Documents] | None:
    """Pairs that the corpus does not learn from, sources up to FURTHEST, and these as texts; None where lmviz
    cannot write them."""
    entry = find_entry(corpus.sources[0]) if len(corpus.sources) == 1 else None
    learned = corpus.training_examples
    if entry is None or entry.spans is None or corpus.target_tokenizer is None or learned is None:
        return None
    span = min(FURTHEST, entry.spans[1])
    if int(learned.source.lengths.max(initial=1)) - 1 >= span:
        return None
    written = load_corpus(
        entry.name,
        corpus.tokenizer,
        target_tokenizer=corpus.target_tokenizer,
        options=replace(corpus.options, span=span, validation=0.0),
    )
    longer = written.training_examples
    assert longer is not None, "what has pairs at one length has them at another"
    assert longer.texts is not None, "what is wanted are texts"
    known = {source.tobytes() for source in learned.source}
    fresh = np.array([source.tobytes() not in known for source in longer.source])
    sides = longer.source.select(fresh), longer.target.select(fresh), longer.texts.select(fresh)
    return Examples(*sides, longer.unknown), written.training_documents.select(fresh)
