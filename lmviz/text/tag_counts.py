"""How often each word of a tagged text has each tag."""

from __future__ import annotations

import numpy as np

from lmviz.text.examples import Examples


def tag_counts(examples: Examples, labels: int) -> dict[int, list[tuple[int, int]]]:
    """By the id of a word its tags, as label ids, and how often it has each, the most frequent first."""
    pairs = examples.source.ids.astype(np.int64) * labels + examples.target.ids
    found, counts = np.unique(pairs, return_counts=True)
    order = np.lexsort((found, -counts))
    by_word: dict[int, list[tuple[int, int]]] = {}
    for pair, count in zip(found[order].tolist(), counts[order].tolist(), strict=True):
        by_word.setdefault(pair // labels, []).append((pair % labels, count))
    return by_word
