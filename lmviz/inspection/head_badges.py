"""Classifies attention heads by their behaviour on a given text.

Each score is a mean share of attention: to the token before (Clark et al. 2019), to the first token (the
"attention sink" of Xiao et al. 2024), and to the token after earlier occurrences of the current one, the
prefix matching of induction heads (Olsson et al. 2022). A head gets a badge when its score reaches the
threshold and is at least twice that of uniform attention. The second condition excludes short texts, where
even uniform attention would reach the threshold.

A fourth is the share on the same word said before. One more score gives no badge: the share on the one other
word, after the first, that later words look at most, where a head rests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lmviz.inspection.attention import attention_layers, attention_place
from lmviz.inspection.trace import Trace
from lmviz.models.sequences import SOURCE

PREVIOUS, FIRST, INDUCTION = "previous", "first", "induction"
DUPLICATE, REST = "duplicate", "rest"

THRESHOLDS: Mapping[str, float] = {PREVIOUS: 0.5, FIRST: 0.5, INDUCTION: 0.4, DUPLICATE: 0.5}
"""Shares of attention that earn a badge. Half is what Clark et al. call attending to one place; induction
heads spend more of their attention on the first token, where they rest when there is nothing to match."""

RESTS_ON_FIRST, RESTS_ON_ANOTHER = 0.5, 0.3
"""Shares of the attention of later words from which a head rests on the first word, or on another."""

ABOVE_CHANCE = 2.0
"""How many times the score of even attention a badge takes."""

STRETCH = 64
"""So many queries are summed up at once."""

FEWEST = 3
"""With fewer queries to judge by, there is no score."""


@dataclass(frozen=True)
class HeadBadge:
    """A head's scores by kind, None where the text cannot tell, and the badges it earns, best first.

    `rests_on` is the position of the word on which it rests; None where it does not.
    """

    layer: int
    head: int
    scores: Mapping[str, float | None]
    badges: tuple[str, ...]
    rests_on: int | None = None


@dataclass(frozen=True, eq=False)
class Pattern:
    """The cells (query, key) that such a head attends to, and the queries (query,) that count."""

    cells: np.ndarray
    queries: np.ndarray

    @cached_property
    def places(self) -> tuple[np.ndarray, np.ndarray]:
        """The cells of the queries that count, as queries (cell,) in their order and keys (cell,)."""
        number, keys = np.nonzero(self.cells[self.queries])
        return self.queries[number], keys

    def share(self, rows: np.ndarray, first: int) -> np.ndarray:
        """What the weights (head, query, key) of the queries from `first` on add to the score (head,)."""
        queries, keys = self.places
        start, end = np.searchsorted(queries, [first, first + rows.shape[1]])
        cells = rows[:, queries[start:end] - first, keys[start:end]]
        return cells.sum(axis=1, dtype=np.float64) / len(self.queries)

    def chance(self, *, sees_all: bool = False) -> float:
        """The score of a head that looks alike at all it sees: up to a word, or everywhere."""
        seen = len(self.cells) if sees_all else self.queries + 1
        return float((self.cells[self.queries].sum(axis=1) / seen).mean())


def head_badges(trace: Trace, side: str = "") -> tuple[tuple[HeadBadge, ...], ...]:
    """The badges of every head, by layer; empty for families without attention.

    `side` is "encoder" or "decoder" of a model that translates: heads that look within the source, or within
    the translation.
    """
    patterns = head_patterns(trace.sequences[SOURCE].ids if side == "encoder" else trace.ids)
    return tuple(_of_layer(trace, layer, side, patterns) for layer in attention_layers(trace, side))


def head_patterns(ids: np.ndarray) -> dict[str, Pattern]:
    """Where the kinds of heads would look in a text of ids (position,), as far as it can tell them apart.

    The first two queries count for none: there the previous token is the first. Induction leaves out the
    current token and the one before, which other kinds of heads look at. One word that is said again is
    enough for heads that look at the same word.
    """
    positions = np.arange(len(ids))
    query, key = positions[:, None], positions[None, :]
    follows = np.zeros((len(ids), len(ids)), dtype=bool)
    follows[:, 1:] = (ids[:, None] == ids[None, :-1]) & (key[:, 1:] <= query - 2)
    cells = {
        PREVIOUS: key == query - 1,
        FIRST: (key == 0) & (query > 0),
        INDUCTION: follows,
        DUPLICATE: (ids[:, None] == ids[None, :]) & (key < query),
    }
    patterns = {
        kind: Pattern(where, np.flatnonzero(where.any(axis=1) & (positions >= 2)))
        for kind, where in cells.items()
    }
    least = {DUPLICATE: 1}
    return {
        kind: pattern for kind, pattern in patterns.items() if len(pattern.queries) >= least.get(kind, FEWEST)
    }


def _add_what_later_give(by_key: np.ndarray, rows: np.ndarray, first: int) -> None:
    """Add to `by_key` (head, key) the weights (head, query, key), from `first` on, of later queries.

    Stretch by stretch, so that of keys that come later still nothing is read.
    """
    for start in range(0, rows.shape[1], STRETCH):
        stretch = rows[:, start : start + STRETCH]
        place, end = first + start, first + start + stretch.shape[1]
        by_key[:, :place] += stretch[..., :place].sum(axis=1)
        by_key[:, place:end] += np.tril(stretch[..., place:end], -1).sum(axis=1)


def _of_layer(trace: Trace, layer: int, side: str, patterns: Mapping[str, Pattern]) -> tuple[HeadBadge, ...]:
    weights = trace[f"{attention_place(layer, side)}/weights"]
    heads = weights.shape[0]
    sees_all = bool(weights.at(**{weights.axes[1]: 0})[:, 1:].any())  # the first word what follows it
    scores = {kind: np.zeros(heads) for kind in patterns}
    by_key = np.zeros((heads, weights.shape[2]))  # what the words after it give to each
    for first, rows in weights.blocks():
        for kind, pattern in patterns.items():
            scores[kind] += pattern.share(rows, first)
        _add_what_later_give(by_key, rows, first)
    by_key /= np.arange(weights.shape[2] - 1, -1, -1).clip(min=1)
    others = by_key[:, 1:-FEWEST]
    needed = {
        kind: max(THRESHOLDS[kind], ABOVE_CHANCE * patterns[kind].chance(sees_all=sees_all))
        for kind in patterns
        if kind in THRESHOLDS
    }
    badges = []
    for head in range(heads):
        own = {kind: float(score[head]) for kind, score in scores.items()}
        if others.shape[1]:
            own[REST] = float(others[head].max())
        earned = [kind for kind in needed if own[kind] >= needed[kind]]
        earned.sort(key=own.__getitem__, reverse=True)
        rests_on = None
        if own.get(FIRST, 0.0) >= RESTS_ON_FIRST:
            rests_on = 0
        elif own.get(REST, 0.0) >= RESTS_ON_ANOTHER:
            rests_on = 1 + int(others[head].argmax())
        known = {kind: own.get(kind) for kind in (*THRESHOLDS, REST)}
        badges.append(HeadBadge(layer, head, known, tuple(earned), rests_on))
    return tuple(badges)
