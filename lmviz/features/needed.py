"""What the loss needs of each feature: by how much it rises where the feature is taken out of the states.

A feature is taken out where it fires, with the error left in, in some of the texts in which it fires. That is
a measurement, not an estimate by a gradient.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from lmviz.features.coding import Coding
from lmviz.features.feature_pass import FeaturePass
from lmviz.features.feature_reading import FeatureReading
from lmviz.models.batches_of_texts import POSITIONS
from lmviz.models.float64 import in_float64
from lmviz.models.interruption import look_up, uncounted_work
from lmviz.models.model import Model

TRIED = 8
"""Texts in which a feature is taken out."""

TOGETHER = 16
"""Features that are measured before the next is looked at."""

KEPT = 2**26
"""So many numbers of states are kept for the next features: 256 MB."""


@dataclass(frozen=True, eq=False)
class Needs:
    """By how much the loss rises without each feature, (feature,), NaN where it is not known yet.

    `losses` are nats a predicted token of all the texts, extrapolated from the texts that were tried to those
    in which the feature fires, and `errors` their standard errors: 0 where it was tried in all of these, NaN
    where it was tried in one of several. `each` is the rise for one firing. `done` features are measured,
    those that fire most often first.
    """

    losses: np.ndarray
    errors: np.ndarray
    each: np.ndarray
    done: int

    @property
    def is_complete(self) -> bool:
        """Whether all features are measured."""
        return self.done == len(self.losses)

    def of(self, reading: FeatureReading) -> FeatureReading:
        """The reading with what was found of its features."""
        return replace(reading, needed=self.losses, needed_error=self.errors, needed_each=self.each)


def needed(
    model: Model, reading: FeatureReading, *, tried: int = TRIED, features: Sequence[int] | None = None
) -> Iterator[Needs]:
    """What the loss needs of features, as it becomes known; of all, or of some. A silent one needs 0."""
    removal = _Removal(FeaturePass(model, reading.dictionary), reading)
    losses, errors, each = (np.full(reading.size, np.nan) for _ in range(3))
    losses[reading.on == 0] = errors[reading.on == 0] = 0.0
    asked = np.arange(reading.size) if features is None else np.array(list(features), dtype=np.int64)
    order = asked[np.argsort(-reading.on[asked], kind="stable")]
    order = order[reading.on[order] > 0]
    predicted = max(sum(len(ids) - 1 for ids in reading.rows), 1)
    for first in range(0, len(order), TOGETHER):
        look_up(first / len(order))
        some = order[first : first + TOGETHER]
        with uncounted_work():
            found = removal.rises({int(one): removal.texts(int(one), tried) for one in some})
        for feature, (rises, firings) in found.items():
            texts = int(reading.in_texts[feature])
            losses[feature] = rises.mean() * texts / predicted
            errors[feature] = _standard_error(rises, texts) * texts / predicted
            each[feature] = rises.sum() / max(firings, 1)
        yield Needs(losses.copy(), errors.copy(), each.copy(), int(np.isfinite(losses).sum()))
    if not len(order):
        yield Needs(losses, errors, each, int(np.isfinite(losses).sum()))


def _standard_error(rises: np.ndarray, texts: int) -> float:
    """Of the mean over some of so many texts, drawn without putting back (Cochran 1977)."""
    tried = len(rises)
    if tried == texts:
        return 0.0
    return float(np.sqrt(rises.var(ddof=1) / tried * (1 - tried / texts))) if tried > 1 else float("nan")


class _Removal:
    """Takes features out of the states of texts."""

    def __init__(self, read: FeaturePass, reading: FeatureReading) -> None:
        self._read, self._reading = read, reading
        self._kept: dict[int, _Known] = {}
        self._cells = 0

    def texts(self, feature: int, tried: int) -> list[int]:
        """Texts drawn at random among those in which a feature fires."""
        return [place.text for place in self._reading[feature].drawn()[:tried]]

    def rises(self, texts: dict[int, list[int]]) -> dict[int, tuple[np.ndarray, int]]:
        """For each feature the rise of the summed loss of each text, (text,), and how often it fired."""
        found: dict[int, list[float]] = {feature: [] for feature in texts}
        fired = dict.fromkeys(texts, 0)
        pairs = [(feature, text) for feature, own in texts.items() for text in own]
        rows = self._reading.rows
        pairs.sort(key=lambda pair: len(rows[pair[1]]))
        self._remember(sorted({text for _, text in pairs}, key=lambda text: len(rows[text])))
        for batch in _by_positions(pairs, rows):
            look_up()
            without = self._without(batch)
            for (feature, text), (loss, firings) in zip(batch, without, strict=True):
                found[feature].append(loss - self._kept[text].loss)
                fired[feature] += firings
        return {feature: (np.array(rises), fired[feature]) for feature, rises in found.items()}

    def _remember(self, texts: Sequence[int]) -> None:
        """Read the texts that are not known yet: their states and losses."""
        rows = self._reading.rows
        if self._cells > KEPT:
            self._kept, self._cells = {}, 0
        missing = [(0, text) for text in texts if text not in self._kept]
        for batch in _by_positions(missing, rows):
            numbers = [text for _, text in batch]
            found = self._read.read([rows[text] for text in numbers])
            for row, text in enumerate(numbers):
                states, target = (all_of[row, : len(rows[text])] for all_of in (found.states, found.target))
                self._kept[text] = _Known(states, target, float(in_float64(found.losses[row]).sum()))
                self._cells += states.numel() + target.numel() * self._reading.dictionary.is_transcoder

    def _without(self, batch: Sequence[tuple[int, int]]) -> list[tuple[float, int]]:
        """The summed loss of each text without a feature, and at how many places that fires."""
        rows = [self._reading.rows[text] for _, text in batch]
        features = torch.tensor([feature for feature, _ in batch])
        counts = torch.from_numpy(self._read.counted(rows))
        removed = _Removing(self._read.coding, features, counts)
        if self._read.goes_on:
            known = [self._kept[text] for _, text in batch]
            states, target = (
                torch.nn.utils.rnn.pad_sequence(each, batch_first=True)
                for each in ([one.states for one in known], [one.target for one in known])
            )
            losses = self._read.losses_from(rows, states, target, removed)
        else:
            losses = self._read.losses_with(rows, removed)
        return list(zip(in_float64(losses).sum(1).tolist(), removed.firings.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class _Known:
    """A text that was read: the states that features are read off and stand for, and its summed loss."""

    states: torch.Tensor
    target: torch.Tensor
    loss: float


class _Removing:
    """Takes one feature out of each row, where it counts; `firings` (row,) says how often it was on."""

    def __init__(self, coding: Coding, features: torch.Tensor, counts: torch.Tensor) -> None:
        self._coding, self._features, self._counts = coding, features, counts
        self.firings = torch.zeros(len(features), dtype=torch.int64)

    def __call__(self, activations: torch.Tensor, position: int | None) -> torch.Tensor:
        counts = self._counts if position is None else self._counts[:, position]
        rows = torch.arange(len(activations))
        own = activations[rows, ..., self._features] * counts.to(activations)
        self.firings += (own > 0).reshape(len(own), -1).sum(1).cpu()
        written = self._coding.decoder[self._features]
        return -own[..., None] * (written if own.ndim == 1 else written[:, None])


def _by_positions(
    pairs: Sequence[tuple[int, int]], rows: Sequence[np.ndarray]
) -> Iterator[list[tuple[int, int]]]:
    """Pairs whose texts make padded batches of a bounded size; they come in the order of their lengths."""
    group: list[tuple[int, int]] = []
    for pair in pairs:
        if group and len(rows[pair[1]]) * (len(group) + 1) > POSITIONS:
            yield group
            group = []
        group.append(pair)
    if group:
        yield group
