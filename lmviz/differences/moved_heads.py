"""How far the attention of each head has moved from one model to the other.

A row of weights is a distribution over the words before; half the sum of its absolute differences is the
share of the attention that went elsewhere, between 0 and 1 (total variation distance).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lmviz.circuits.cached_pass import CachedPass
from lmviz.circuits.result import Numbers
from lmviz.differences.pair import ModelPair
from lmviz.inspection.indices import from_start
from lmviz.inspection.recording import prepared
from lmviz.models.address import Address
from lmviz.models.model import Model


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MovedHeads(Numbers):
    """The share of its attention that each head moved, by (layer, head), on average over the positions.

    `by_position` is (layer, head, query). `before` and `after` are the patterns, (layer, head, query, key).
    """

    by_position: np.ndarray
    before: np.ndarray
    after: np.ndarray
    tokens: tuple[str, ...]

    def at(self, position: int) -> np.ndarray:
        """The shares (layer, head) at one position; LmvizError where there is none."""
        place = from_start("position", position, self.by_position.shape[2])
        found: np.ndarray = self.by_position[:, :, place]
        return found

    def most(self, position: int | None = None) -> tuple[int, int]:
        """The (layer, head) that moved most, at a position or on average."""
        moved = self.array if position is None else self.at(position)
        layer, head = np.unravel_index(int(moved.argmax()), moved.shape)
        return int(layer), int(head)


def moved_heads(pair: ModelPair, ids: np.ndarray) -> MovedHeads | None:
    """How far the heads of two models of one shape moved over ids (position,); None where there are none.

    LmvizError where they differ in tokens or in shape.
    """
    pair.check_alike()
    addresses = _patterns(pair.before)
    if not addresses:
        return None
    before, after = (_weights(model, ids, addresses) for model in (pair.before, pair.after))
    moved = np.abs(after - before).sum(axis=-1) / 2
    tokenizer = pair.before.tokenizer
    return MovedHeads(
        array=moved.mean(axis=-1),
        axes=("layer", "head"),
        by_position=moved,
        before=before,
        after=after,
        tokens=tokenizer.tokens_of(ids) if tokenizer else tuple(map(str, ids)),
    )


def _patterns(model: Model) -> list[str]:
    return [tap.address for tap in model.taps() if _is_pattern(tap.address)]


def _is_pattern(address: str) -> bool:
    at = Address.parse(address)
    return at.layer is not None and (at.block, at.name) == ("attention", "weights")


def _weights(model: Model, ids: np.ndarray, addresses: list[str]) -> np.ndarray:
    """The patterns of all layers, (layer, head, query, key)."""
    values = CachedPass(model, prepared(model, ids, (), {})).values
    return np.stack([values[address][0].cpu().double().numpy() for address in addresses])
