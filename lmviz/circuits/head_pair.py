"""Two heads that together find a word again and read off what came next.

One of an earlier layer looks at the word before, so that each word knows what it follows; an induction head
of a later one finds the word that followed (Elhage et al. 2021; Olsson et al. 2022).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lmviz.circuits.head_scores import ABOVE_CHANCE, HeadScores, head_scores
from lmviz.decoding.continuation import Continuation
from lmviz.decoding.distribution import next_distribution
from lmviz.inspection.changed_model import ChangedModel
from lmviz.inspection.interventions import scale_head
from lmviz.models.interruption import look_up, uncounted_work
from lmviz.models.model import Model

Head = tuple[int, int]
"""The layer and the number of a head, from 0."""

CANDIDATES = 8
"""So many heads of earlier layers are left out in turn."""


@dataclass(frozen=True)
class HeadPair:
    """`before` looks at the word before; `follows`, in a later layer, at what followed last time.

    `share` is how much of its attention `follows` has there on random words said twice, and `without` how
    much is left without `before`; None where that was not measured.
    """

    before: Head
    follows: Head
    share: float | None = None
    without: float | None = None

    @property
    def is_needed(self) -> bool:
        """Whether the later head finds less than half as much without the earlier one."""
        return self.share is not None and self.without is not None and self.without < self.share / 2


def head_pair(scores: HeadScores) -> HeadPair | None:
    """The strongest induction head, and the head of an earlier layer that looks most at the word before.

    None where no head does the one clearly, or none before it the other more than twice as much as chance.
    """
    found = []
    chance = float((1 / np.arange(2, scores.ids.shape[1] + 1)).mean())  # of even attention on the word before
    for layer, head in np.argwhere(scores.roles == "induction").tolist():
        earlier = scores.previous[:layer]
        if layer and earlier.max() >= ABOVE_CHANCE * chance:
            before = np.unravel_index(int(earlier.argmax()), earlier.shape)
            found.append((float(scores.induction[layer, head]), before, (layer, head)))
    if not found:
        return None
    _, before, follows = max(found)
    return HeadPair((int(before[0]), int(before[1])), (follows[0], follows[1]))


def needed_pair(model: Model, *, words: int = 24, rows: int = 8) -> HeadPair | None:
    """The same, with the earlier head chosen by what is needed: without it the later one finds least.

    Of the heads of earlier layers, those that look most at the word before are left out in turn.
    """
    scores = head_scores(model, words=words, rows=rows)
    pair = head_pair(scores)
    if pair is None:
        return None
    layer, head = pair.follows
    earlier = scores.previous[:layer]
    strongest = np.argsort(-earlier, axis=None, kind="stable")[:CANDIDATES]
    left: dict[Head, float] = {}
    for number, at in enumerate(map(int, strongest)):
        look_up(number / len(strongest))
        one = at // earlier.shape[1], at % earlier.shape[1]
        with uncounted_work():
            changed = head_scores(ChangedModel(model, (scale_head(*one),)), words=words, rows=rows)
        left[one] = float(changed.induction[layer, head])
    before = min(left, key=left.__getitem__)
    return HeadPair(before, pair.follows, float(scores.induction[layer, head]), left[before])


def said_before(ids: Sequence[int] | np.ndarray) -> int | None:
    """The place of the word that followed the last one when it was said last; None where it is new."""
    places = np.flatnonzero(np.asarray(ids)[:-1] == ids[-1])
    return int(places[-1]) + 1 if len(places) else None


def chance_of(model: Model, text: str, id: int) -> float:
    """The probability that a token comes next after a text."""
    return float(next_distribution(Continuation.of(model, text).logits).probability_of(id))
