"""Which words a change of the model moved most: what it had expected before, and what it expects after."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lmviz.decoding.glance import glance

LOST = 0.005
"""The share that a word must have lost to stand first."""


@dataclass(frozen=True, eq=False)
class Shift:
    """The words that moved most, (word,) each: `ids`, and their probabilities `before` and `after`.

    They are ordered by how far they moved. Where a word has `lost` a share that is worth telling, the one
    that lost most stands first. Entropies are Shannon's, in bits, over the whole vocabulary.
    """

    ids: np.ndarray
    before: np.ndarray
    after: np.ndarray
    lost: bool
    entropy_before: float
    entropy_after: float


def largest_shifts(before: np.ndarray, after: np.ndarray, count: int) -> Shift:
    """The `count` words that moved most from logits `before` to `after`, both (token,).

    Words that hardly moved are ordered by what is expected after. LmvizError where logits cannot be
    normalised.
    """
    looks = glance(before, 1), glance(after, 1)
    first, second = (look.probabilities_of_all() for look in looks)
    moved = np.round(np.abs(second - first), 3)
    count = min(count, len(first))
    order = np.lexsort((np.arange(len(first)), -second, -moved))[:count]
    loser = int(np.argmin(second - first))
    lost = float(first[loser] - second[loser]) >= LOST
    if lost:
        order = np.concatenate([[loser], order[order != loser]])[:count]
    return Shift(order, first[order], second[order], lost, looks[0].entropy, looks[1].entropy)
