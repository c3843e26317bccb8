"""How far apart two models' states are on a text: layer by layer at each position, and over many texts.

At a position it is the length of the difference relative to the first model's state, and the cosine of the
angle between the two. Over many positions it is linear CKA (Kornblith et al. 2019), which asks whether the
same positions are alike in both, whatever the directions: for that the two may have different widths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.base.errors import LmvizError
from lmviz.circuits.cached_pass import CachedPass
from lmviz.circuits.places import carried
from lmviz.circuits.result import Numbers
from lmviz.differences.pair import ModelPair
from lmviz.inspection.recording import prepared
from lmviz.models.address import Address
from lmviz.models.interruption import look_up, uncounted_work
from lmviz.models.model import Model

STREAM = ("residual1", "residual2", "stream1", "stream2")
"""What the stream of a Transformer is called after each of its parts."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class StateDistance(Numbers):
    """‖after − before‖ / ‖before‖ by (place, position), and `cosine` in the same shape.

    `addresses` are the taps along the first axis. NaN stands where a state is 0.
    """

    cosine: np.ndarray
    addresses: tuple[str, ...]
    tokens: tuple[str, ...]

    @property
    def furthest(self) -> tuple[int, int]:
        """The (place, position) that is furthest apart."""
        row, column = np.unravel_index(np.nanargmax(self.array), self.array.shape)
        return int(row), int(column)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class StateSimilarity(Numbers):
    """Linear CKA by (place), or by (place of the first, place of the second) where they have unequal many.

    1 is the same up to a rotation and a scale, 0 nothing in common. `positions` is over how many it was
    taken. `addresses` are the taps of either along the axes.
    """

    addresses: tuple[tuple[str, ...], tuple[str, ...]]
    positions: int


def state_addresses(model: Model) -> tuple[str, ...]:
    """The taps that hold a model's state from below to above: its stream, or its hidden states and cells."""
    known = carried(model)
    kept = {address for kind in ("stream", "hidden", "cell") for address in known.get(kind, ())}
    found = []
    for tap in model.taps():
        at = Address.parse(tap.address)
        if tap.address in kept or (at.name in STREAM and at.layer is not None and not at.block):
            found.append(tap.address)
    return tuple(found)


def state_name(address: str) -> str:
    """What a person calls a tap of a state: "words", "attention 1", "feed-forward 1", "hidden 1"."""
    at = Address.parse(address)
    if at.layer is None:
        return "words" if "embedding" in address else at.name
    number = at.layer + 1
    if at.name in STREAM or at.name in ("norm1", "norm2"):
        return f"attention {number}" if at.name.endswith("1") else f"feed-forward {number}"
    return f"{at.name} {number}"


def state_distance(pair: ModelPair, ids: np.ndarray) -> StateDistance:
    """How far the states of two models of one shape are apart, over ids (position,).

    LmvizError where they differ in tokens or in shape.
    """
    pair.check_alike()
    addresses = state_addresses(pair.before)
    before, after = (_states(model, ids, addresses) for model in (pair.before, pair.after))
    apart, cosine = np.zeros((2, len(addresses), len(ids)))
    with np.errstate(divide="ignore", invalid="ignore"):
        for row, address in enumerate(addresses):
            one, other = before[address], after[address]
            lengths = np.linalg.norm(one, axis=1), np.linalg.norm(other, axis=1)
            apart[row] = np.linalg.norm(other - one, axis=1) / lengths[0]
            cosine[row] = (one * other).sum(axis=1) / (lengths[0] * lengths[1])
    apart[~np.isfinite(apart)] = np.nan
    tokenizer = pair.before.tokenizer
    tokens = tokenizer.tokens_of(ids) if tokenizer else tuple(map(str, ids))
    return StateDistance(
        array=apart,
        cosine=cosine,
        axes=("place", "position"),
        names={"place": tuple(map(state_name, addresses)), "position": tokens},
        addresses=addresses,
        tokens=tokens,
    )


def state_similarity(pair: ModelPair, documents: Sequence[np.ndarray]) -> StateSimilarity:
    """Linear CKA of the states over all positions of some stretches of ids, which both models can read whole.

    LmvizError where the two have different tokens, or where there are fewer than two positions.
    """
    *_, last = comparing_states(pair, documents)
    assert last is not None
    return last


def comparing_states(pair: ModelPair, documents: Sequence[np.ndarray]) -> Iterator[StateSimilarity | None]:
    """The same, and None after each stretch that was read before."""
    pair.check_read_alike()
    models = pair.before, pair.after
    addresses = state_addresses(pair.before), state_addresses(pair.after)
    if len(addresses[0]) == len(addresses[1]):
        pairs = [(row, row) for row in range(len(addresses[0]))]
    else:
        pairs = [(row, column) for row in range(len(addresses[0])) for column in range(len(addresses[1]))]
    read = [np.asarray(ids) for ids in documents if len(ids)]
    count = sum(map(len, read))
    if count < 2:
        raise LmvizError("Similarity is asked over many positions: choose a longer text.")
    states: list[dict[str, list[np.ndarray]]] = [{name: [] for name in side} for side in addresses]
    for number, ids in enumerate(read):
        look_up(number / (len(read) + 1))
        for model, names, known in zip(models, addresses, states, strict=True):
            for name, values in _states(model, ids, names).items():
                known[name].append(values)
        yield None
    centred = [{name: _centred(np.concatenate(parts)) for name, parts in known.items()} for known in states]
    found = np.full((len(addresses[0]), len(addresses[1])), np.nan)
    for row, column in pairs:
        found[row, column] = _alignment(centred[0][addresses[0][row]], centred[1][addresses[1][column]])
    labels = [tuple(map(state_name, side)) for side in addresses]
    if len(addresses[0]) == len(addresses[1]):
        yield StateSimilarity(
            array=found.diagonal().copy(),
            axes=("place",),
            names={"place": labels[0]},
            addresses=addresses,
            positions=count,
        )
        return
    yield StateSimilarity(
        array=found,
        axes=("before", "after"),
        names={"before": labels[0], "after": labels[1]},
        addresses=addresses,
        positions=count,
    )


def _states(model: Model, ids: np.ndarray, addresses: Sequence[str]) -> dict[str, np.ndarray]:
    """The states (position, channel) of some taps in double precision."""
    with uncounted_work():
        values = CachedPass(model, prepared(model, ids, (), {})).values
    return {address: values[address][0].cpu().double().numpy() for address in addresses}


def _centred(values: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(values - values.mean(axis=0))


def _alignment(one: torch.Tensor, other: torch.Tensor) -> float:
    """‖YᵀX‖² / (‖XᵀX‖ ‖YᵀY‖) of centred states (position, channel); NaN where one never changes."""
    both = float((other.T @ one).square().sum())
    alone = float((one.T @ one).norm()) * float((other.T @ other).norm())
    return both / alone if alone > 0 else float("nan")
