"""Why a head looks there: its score as the sum over pairs of parts, one of the query's and one of the key's.

A score is a dot product, so with a query and a key that are sums it is the sum of all products. Both are
taken apart into features, what these leave, words and all else (see `lmviz.features.held_walk`): with
features of the stream before the layer these are the parts of the two states, and nothing but the scale of
the normalisation is held.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lmviz.base.arguments import whole_number
from lmviz.base.errors import LmvizError
from lmviz.circuits.cached_pass import CachedPass
from lmviz.features.graph import FeatureNode
from lmviz.features.held_walk import HeldWalk, Stop
from lmviz.features.state_parts import StateParts, check_placed
from lmviz.inspection.backpropagation import unchanged
from lmviz.inspection.indices import from_start
from lmviz.inspection.recording import prepared
from lmviz.looks.shown import Shown
from lmviz.models.operations import DotProducts, Scale
from lmviz.models.tap import Tap

if TYPE_CHECKING:
    from lmviz.features.dictionary import Dictionary
    from lmviz.inspection.intervention import Intervention
    from lmviz.models.model import Model


@dataclass(frozen=True)
class PairShare:
    """What two parts add to a score together, by their numbers among those of the query and of the key."""

    query: int
    key: int
    share: float


@dataclass(frozen=True, eq=False, repr=False)
class ScorePairs(Shown):
    """A head's score of a key from a query, as the sum of `shares` (query part, key part).

    `queries` and `keys` are the parts, of which the last is all else: biases, positions, averages. The
    `effect` of each is what all its pairs add together. `value` is the score before any mask and cap,
    `beside` what is added to it that is no product, such as a bias of distance.
    """

    layer: int
    head: int
    query: int
    key: int
    tokens: tuple[str, ...]
    queries: tuple[FeatureNode, ...]
    keys: tuple[FeatureNode, ...]
    shares: np.ndarray
    value: float
    beside: float

    @property
    def total(self) -> float:
        """The sum of all pairs and of what is added beside, which is `value` but for rounding."""
        return math.fsum([*self.shares.ravel().tolist(), self.beside])

    @property
    def has_features(self) -> bool:
        """Whether any feature is among the parts of either."""
        return any(part.kind == "feature" for part in (*self.queries, *self.keys))

    def strongest(self, count: int = 10) -> list[PairShare]:
        """The pairs that add most, either sign."""
        order = np.argsort(-np.abs(self.shares), axis=None, kind="stable")[: whole_number("count", count)]
        pairs = (divmod(int(at), len(self.keys)) for at in order)
        return [PairShare(query, key, float(self.shares[query, key])) for query, key in pairs]


def score_pairs(
    model: Model,
    text: str | Sequence[int] | np.ndarray,
    dictionaries: Sequence[Dictionary],
    layer: int,
    head: int,
    key: int,
    query: int = -1,
    *,
    interventions: Sequence[Intervention] = (),
) -> ScorePairs:
    """The score of a key from a query, by positions from 0, or from the end where they are negative.

    LmvizError where there is no such head or place, and where the key stands after the query.
    """
    model, interventions = unchanged(model, interventions)
    layer, taps = whole_number("layer", layer), {tap.address: tap for tap in model.taps()}
    scaled = taps.get(f"layers/{layer}/attention/scaled")
    products = taps.get(f"layers/{layer}/attention/products")
    if scaled is None or products is None or not isinstance(products.operation, DotProducts):
        raise LmvizError(
            f"{model.name or 'This model'} has no layer {layer} with heads that look at its own text: layers "
            "are counted from 0."
        )
    read = CachedPass(model, prepared(model, text, interventions, {}))
    check_placed(dictionaries, read)
    heads, count = read.values[products.address].shape[1:3]
    head = from_start("head", head, heads)
    query, key = from_start("position", query, count), from_start("position", key, count)
    if model.causal and key > query:
        raise LmvizError(f"Position {key} comes after {query}, and nothing looks ahead: exchange the two.")
    parts = [StateParts.of(one, read) for one in dictionaries]
    walk, operation = HeldWalk(read), products.operation
    tokens = read.reading.prefix.tokens
    asked, queries = _taken_apart(walk, parts, taps[operation.queries], head, query, tokens)
    looked, keys = _taken_apart(walk, parts, taps[operation.keys], head // operation.shared, key, tokens)
    scale = scaled.operation.scale if isinstance(scaled.operation, Scale) else 1.0
    shares = scale * asked.T @ looked
    beside = 0.0
    if isinstance(scaled.operation, Scale) and scaled.operation.bias:
        beside = float(walk.value(scaled.operation.bias)[head, query, key])
    vectors = (
        walk.value(operation.queries)[head, query],
        walk.value(operation.keys)[head // operation.shared, key],
    )
    return ScorePairs(
        layer,
        head,
        query,
        key,
        tokens,
        _with_effects(queries, shares.sum(axis=1)),
        _with_effects(keys, shares.sum(axis=0)),
        shares,
        scale * float(vectors[0] @ vectors[1]) + beside,
        beside,
    )


def _with_effects(parts: Sequence[FeatureNode], effects: np.ndarray) -> tuple[FeatureNode, ...]:
    return tuple(replace(part, effect=float(effect)) for part, effect in zip(parts, effects, strict=True))


def _taken_apart(
    walk: HeldWalk,
    parts: Sequence[StateParts],
    tap: Tap,
    head: int,
    position: int,
    tokens: Sequence[str],
) -> tuple[np.ndarray, list[FeatureNode]]:
    """A query or a key as a sum, (channel, part), and what the parts are; the last is all else."""
    heads, count, width = walk.value(tap.address).shape
    begins = np.zeros((width, heads, count, width))
    begins[np.arange(width), head, position, np.arange(width)] = 1

    def stop(part: StateParts) -> Stop:
        return lambda slopes: {} if part.skip is None else {part.dictionary.tap: slopes @ part.skip}

    walked = walk.back({tap.address: begins}, {part.dictionary.target: stop(part) for part in parts})
    vectors: list[np.ndarray] = []
    nodes: list[FeatureNode] = []
    rest = walked.rest.copy()

    def add(vector: np.ndarray, node: FeatureNode) -> None:
        if vector.any():
            vectors.append(vector)
            nodes.append(node)

    for part in parts:
        target, along = part.dictionary.target, part.along
        there = walked.stopped.get(target)
        if there is None:
            continue
        rest += (there @ part.average).sum(axis=1)
        for at in np.flatnonzero(there.any(axis=(0, 2))).tolist():
            for feature in np.flatnonzero(part.activations[at]).tolist():
                activation = float(part.activations[at, feature])
                node = FeatureNode("feature", target, at, tokens[at], 0.0, feature, activation, along)
                add(there[:, at] @ part.decoder[feature] * activation, node)
            add(there[:, at] @ part.error[at], FeatureNode("error", target, at, tokens[at], 0.0, along=along))
    for address, there in walked.words.items():
        for at in np.flatnonzero(there.any(axis=(0, 2))).tolist():
            word = FeatureNode("word", address, at, tokens[at], 0.0, int(walk.read.ids[at]))
            add(there[:, at] @ walk.value(address)[at], word)
    vectors.append(rest)
    nodes.append(FeatureNode("rest", "", position, tokens[position], 0.0))
    return np.stack(vectors, axis=1), nodes


def pairs_in_words(found: ScorePairs, count: int = 3) -> str:
    """The strongest pairs, and how much pairs of features, and those with an error, add together."""
    from lmviz.base.figures import signed_figure

    strongest = [
        f"{_name(found.queries[pair.query], found.query)} × {_name(found.keys[pair.key], found.key)} "
        f"{signed_figure(pair.share)}"
        for pair in found.strongest(count)
    ]
    kinds = [[part.kind for part in parts] for parts in (found.queries, found.keys)]
    are_features = np.outer(*(np.array(each) == "feature" for each in kinds))
    are_errors = np.logical_or.outer(*(np.array(each) == "error" for each in kinds))
    of_features = signed_figure(float(found.shares[are_features].sum()))
    of_errors = signed_figure(float(found.shares[are_errors].sum()))
    return (
        f"As pairs, of the query and of the key: {', '.join(strongest)}. Pairs of two features add "
        f"{of_features} of {signed_figure(found.value)}, pairs with an error {of_errors}."
    )


def _name(part: FeatureNode, own: int) -> str:
    what = {"feature": f"feature {part.feature}", "rest": "all else"}.get(part.kind, part.kind)
    is_elsewhere = part.kind == "word" or (part.kind != "rest" and part.position != own)
    return f"{what} at “{part.token}”" if is_elsewhere else what
