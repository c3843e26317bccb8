"""What stands out in a corpus, as a sentence made of its counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lmviz.base.figures import count, number, percentage
from lmviz.text.tag_counts import tag_counts
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.text.corpus import Corpus

FEW = 0.1
"""The share of all types that is few, where half of the text consists of them."""

LARGER = 1.25
"""How much more often than on average a class has to occur before that is said."""

OTHER_LENGTH = 1.1
"""How much longer the texts of one side have to be than those of the other."""


def corpus_remark(corpus: Corpus) -> str:
    """What a model can gain from counts alone, or has to cope with; empty where nothing stands out.

    All of it is of the part to learn from.
    """
    makers = {
        "next-token": _frequent_words,
        "classification": _largest_class,
        "tagging": _usual_tags,
        "translation": _lengths,
    }
    maker = makers.get(corpus.task)
    return maker(corpus) if maker is not None and len(corpus.training) else ""


def _frequent_words(corpus: Corpus) -> str:
    """How few types make half of the text, and how many occur once (Zipf 1935)."""
    statistics, tokenizer = corpus.statistics(), corpus.tokenizer
    ids = statistics.by_rank
    boundaries = [id for id in (tokenizer.start_id, tokenizer.end_id) if id is not None]
    times = statistics.counts[ids[~np.isin(ids, boundaries)]]
    if not len(times):
        return ""
    half = int(np.searchsorted(np.cumsum(times), times.sum() / 2)) + 1
    if half > FEW * len(times):
        return ""
    noun, once = tokenizer.noun, int((times == 1).sum())
    named = f"{count(half)} of its {count(len(times))} {noun}s"
    rare = f", and {count(once)} occur only once" if once else ""
    return f"Half of the text consists of {named}{rare}."


def _largest_class(corpus: Corpus) -> str:
    """How often a model is right that always says the class that occurs most."""
    assert corpus.training_examples is not None, "classified text has examples"
    times = np.bincount(corpus.training_examples.target.ids, minlength=len(corpus.labels))
    most, share = int(times.argmax()), float(times.max() / max(1, times.sum()))
    if len(times) < 2 or share * len(times) < LARGER:
        return ""
    return (
        f"{percentage(share)} of the texts are “{visible(corpus.labels[most])}”: a model that always says so "
        "is right as often."
    )


def _usual_tags(corpus: Corpus) -> str:
    """How often each word's most frequent tag is the right one (Charniak et al. 1993)."""
    assert corpus.training_examples is not None, "tagged text has examples"
    found = tag_counts(corpus.training_examples, len(corpus.labels))
    total = sum(times for tags in found.values() for _, times in tags)
    usual = sum(tags[0][1] for tags in found.values())
    several = sum(len(tags) > 1 for tags in found.values())
    if not several or not total:
        return ""
    what = f"{count(several)} of {count(len(found))} words have several tags"
    return f"{what}; each word's most frequent tag is right for {percentage(usual / total)} of the text."


def _lengths(corpus: Corpus) -> str:
    """How much longer targets are than sources."""
    sources, targets = (corpus.statistics(side).lengths.sum() for side in corpus.sides)
    if not sources or not targets or 1 / OTHER_LENGTH < targets / sources < OTHER_LENGTH:
        return ""
    noun = corpus.tokenizer_of("target").noun
    return (
        f"For each {corpus.tokenizer.noun} of a source there are {number(float(targets / sources), 2)} "
        f"{noun}s of its target."
    )
