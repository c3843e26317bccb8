"""What a feature writes and reads, as words, and what becomes of the next word as it is turned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.features.coding import Coding
from lmviz.features.dictionary import Dictionary
from lmviz.features.feature_pass import FeaturePass
from lmviz.features.feature_reading import FeaturePlace, FeatureReading
from lmviz.inspection.recording import prepared
from lmviz.looks.shown import Shown
from lmviz.models.batches_of_texts import POSITIONS
from lmviz.models.float64 import in_float64
from lmviz.models.interruption import look_up
from lmviz.models.model import Model
from lmviz.models.precision import widened

PLACES = 24
"""Places at which it is measured what a feature writes."""

FACTORS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0)
"""By how much a feature is turned."""

LARGEST_GROUP = 24
"""A group of words that stands out has at most so many."""


@dataclass(frozen=True, eq=False, repr=False)
class WrittenWords(Shown):
    """By how much the logit of each word rises through a feature, (token,), the mean over `places`.

    It is measured: the logits of the next word with the feature less those without it, at places where it is
    strongest, with their mean over all words taken off, which changes no probability.
    """

    rises: np.ndarray
    places: int
    names: tuple[str, ...]

    def top(self, count: int = LARGEST_GROUP) -> tuple[tuple[str, float], ...]:
        """The words that rise most, and by how much."""
        return tuple((self.names[at], float(self.rises[at])) for at in self.order[:count])

    def bottom(self, count: int = 8) -> tuple[tuple[str, float], ...]:
        """The words that fall most."""
        return tuple((self.names[at], float(self.rises[at])) for at in self.order[::-1][:count])

    @property
    def order(self) -> np.ndarray:
        """The tokens, the one that rises most first."""
        return np.argsort(-self.rises, kind="stable")

    @property
    def group(self) -> int:
        """How many words rise together before the largest gap among those that rise most."""
        top = self.rises[self.order[: LARGEST_GROUP + 1]]
        return int(np.argmax(top[:-1] - top[1:])) + 1 if len(top) > 1 else 1

    @property
    def group_ids(self) -> np.ndarray:
        """The tokens of that group."""
        return self.order[: self.group]


def written_words(model: Model, reading: FeatureReading, feature: int, places: int = PLACES) -> WrittenWords:
    """What a feature writes at the places where it is strongest; nothing where it never fires."""
    read = FeaturePass(model, reading.dictionary)
    strongest = sorted(reading[feature].strongest(places), key=lambda place: place.position)
    total, count = np.zeros(model.outputs), 0
    for batch in _batches(strongest):
        look_up(count / len(strongest))
        rows = [reading.rows[place.text][: place.position + 1] for place in batch]
        ids = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
        for row, own in enumerate(rows):
            ids[row, : len(own)] = own
        last = torch.tensor([place.position for place in batch])
        at = torch.arange(len(batch)), last
        own_logits = read.logits_with(ids, None)[at]
        without = read.logits_with(ids, _AtOnePlace(read.coding, feature, last))[at]
        rises = (own_logits - without).cpu().double().numpy()
        total += (rises - rises.mean(axis=1, keepdims=True)).sum(axis=0)
        count += len(batch)
    return WrittenWords(total / max(count, 1), count, reading.names)


def read_words(
    model: Model, dictionary: Dictionary, feature: int, count: int = 10
) -> tuple[tuple[str, float], ...]:
    """The words whose embeddings alone a feature's encoder answers to most; none where widths differ."""
    tensors = model.tensors()
    if model.tokenizer is None or "embedding.weight" not in tensors:
        return ()
    embedding = widened(tensors["embedding.weight"]).detach().cpu().numpy()
    if embedding.shape[1] != dictionary.width:
        return ()
    scores = embedding @ dictionary.encoder[feature]
    best = np.argsort(-scores, kind="stable")[:count]
    return tuple((model.tokenizer.token(int(at)), float(scores[at])) for at in best)


def neighbours(dictionary: Dictionary, feature: int, count: int = 5) -> tuple[tuple[int, float], ...]:
    """The features whose directions are most like that of one, and the cosines."""
    cosines = dictionary.directions @ dictionary.directions[feature]
    cosines[feature] = -np.inf
    best = np.argsort(-cosines, kind="stable")[: min(count, dictionary.size - 1)]
    return tuple((int(at), float(cosines[at])) for at in best)


@dataclass(frozen=True, eq=False, repr=False)
class TurnedFeature(Shown):
    """The next word's probabilities (factor, token) as a feature is multiplied by each of `factors`.

    `is_on` says whether the feature is on anywhere in the text: if not, nothing changes.
    """

    factors: np.ndarray
    probabilities: np.ndarray
    is_on: bool

    def share(self, tokens: Sequence[int] | np.ndarray) -> np.ndarray:
        """(factor,) What some words have together."""
        return np.asarray(self.probabilities[:, np.asarray(tokens, dtype=np.int64)].sum(axis=1))

    def replaced_by(self, tokens: Sequence[int] | np.ndarray, count: int) -> np.ndarray:
        """The tokens that gain most where the feature is taken out, none of `tokens` among them."""
        own = int(np.argmin(np.abs(self.factors - 1)))
        gains = self.probabilities[0] - self.probabilities[own]
        gains[np.asarray(tokens, dtype=np.int64)] = -np.inf
        return np.argsort(-gains, kind="stable")[:count]


def turned_feature(
    model: Model,
    dictionary: Dictionary,
    feature: int,
    text: str | np.ndarray,
    factors: Sequence[float] = FACTORS,
) -> TurnedFeature:
    """What is expected after a text as a feature is turned at all of its states, with the error kept."""
    read = FeaturePass(model, dictionary)
    given = prepared(model, text, (), {})
    ids = np.tile(given.ids, (len(factors), 1))
    turning = _Turning(read.coding, feature, torch.tensor(list(factors), dtype=torch.float32))
    logits = read.logits_with(ids, turning)[:, -1]
    shares = torch.softmax(in_float64(logits), dim=-1).cpu().numpy()
    return TurnedFeature(np.array(factors, dtype=np.float64), shares, turning.is_on)


class _AtOnePlace:
    """Takes a feature out of each row at one position."""

    def __init__(self, coding: Coding, feature: int, positions: torch.Tensor) -> None:
        self._coding, self._feature, self._positions = coding, feature, positions

    def __call__(self, activations: torch.Tensor, position: int | None) -> torch.Tensor:
        own = activations[..., self._feature]
        if position is None:
            places = torch.arange(own.shape[1], device=own.device)
            there = places[None] == self._positions.to(own.device)[:, None]
        else:
            there = self._positions.to(own.device) == position
        return -(own * there)[..., None] * self._coding.decoder[self._feature]


class _Turning:
    """Multiplies a feature by a factor of each row."""

    def __init__(self, coding: Coding, feature: int, factors: torch.Tensor) -> None:
        self._coding, self._feature, self._factors = coding, feature, factors
        self.is_on = False

    def __call__(self, activations: torch.Tensor, position: int | None) -> torch.Tensor:
        own = activations[..., self._feature]
        self.is_on = self.is_on or bool((own > 0).any())
        factors = self._factors.to(own)
        moved = own * ((factors[:, None] if position is None else factors) - 1)
        return moved[..., None] * self._coding.decoder[self._feature]


def _batches(places: Sequence[FeaturePlace]) -> list[list[FeaturePlace]]:
    """Places of texts that are read together; they come in the order of how much is read."""
    found: list[list[FeaturePlace]] = []
    for place in places:
        if found and (place.position + 1) * (len(found[-1]) + 1) <= POSITIONS:
            found[-1].append(place)
        else:
            found.append([place])
    return found
