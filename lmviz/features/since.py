"""Since when features exist: a dictionary of one step, read at the other steps of the training.

At each step the same texts are read, and each feature's activations held against those at its own step. A
feature is there once the two go together, and is there since the first step from which they always do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.features.dictionary import Dictionary
from lmviz.features.feature_pass import FeaturePass
from lmviz.looks.shown import Shown
from lmviz.models.float64 import in_float64
from lmviz.models.interruption import look_up, uncounted_work
from lmviz.models.model import Model

THERE = 0.5
"""The correlation from which on a feature counts as there."""

CELLS = 2**25
"""So many activations of the own step are kept: 128 MB."""


@dataclass(frozen=True, eq=False, repr=False)
class FeaturesOverTime(Shown):
    """A dictionary at some steps: `explained` (step,) of the variance, `agreement` (step, feature).

    An agreement is the correlation of a feature's activations with those at the step of the dictionary, NaN
    for one that is silent at either. `tokens` were read.
    """

    steps: tuple[int, ...]
    explained: np.ndarray
    agreement: np.ndarray
    tokens: int

    @property
    def since(self) -> np.ndarray:
        """(feature,) The step since which each is there; NaN where it is not at the last of the steps."""
        there = np.nan_to_num(self.agreement) >= THERE
        always = np.logical_and.accumulate(there[::-1], axis=0)[::-1]
        first = np.argmax(always, axis=0)
        return np.where(always.any(axis=0), np.array(self.steps, dtype=np.float64)[first], np.nan)

    @property
    def there(self) -> np.ndarray:
        """(step,) The share of the features that are there, among those that are on at all."""
        known = np.isfinite(self.agreement).any(axis=0)
        there = np.nan_to_num(self.agreement[:, known]) >= THERE
        return there.mean(axis=1) if known.any() else np.full(len(self.steps), np.nan)


def features_over_time(
    own: Model, dictionary: Dictionary, models: Iterable[tuple[int, Model]], rows: Sequence[np.ndarray]
) -> Iterator[FeaturesOverTime]:
    """A dictionary at the steps of models, as they come; `own` is the model of its own step."""
    kept: list[np.ndarray] = []
    tokens = 0
    for ids in rows:
        if kept and tokens * dictionary.size > CELLS:
            break
        kept.append(ids)
        tokens += len(ids) - 1
    with uncounted_work():
        expected, _ = _activations(own, dictionary, kept)
    steps: list[int] = []
    explained: list[float] = []
    agreement: list[np.ndarray] = []
    for step, model in models:
        look_up()
        with uncounted_work():
            found, share = _activations(model, dictionary, kept)
        order = np.searchsorted(steps, step)
        steps.insert(order, step)
        explained.insert(order, share)
        agreement.insert(order, _correlations(expected, found))
        yield FeaturesOverTime(tuple(steps), np.array(explained), np.stack(agreement), tokens)


def _activations(
    model: Model, dictionary: Dictionary, rows: Sequence[np.ndarray]
) -> tuple[torch.Tensor, float]:
    """(token, feature) for the rows in their order, and the share of the variance that is explained."""
    read = FeaturePass(model, dictionary)
    begins = np.cumsum([0, *(len(ids) - 1 for ids in rows)])
    found = torch.zeros(int(begins[-1]), dictionary.size)
    errors = squares = 0.0
    total: torch.Tensor | float = 0.0
    for batch in read.batches(rows):
        look_up()
        both = read.read([rows[at] for at in batch])
        for row, at in enumerate(batch):
            own, target = (states[row, 1 : len(rows[at])].float() for states in (both.states, both.target))
            activations = read.coding.encoded(own)
            found[begins[at] : begins[at + 1]] = activations.cpu()
            left = target - read.coding.reconstructed(own, activations)
            errors += float(in_float64(left).square().sum())
            squares += float(in_float64(target).square().sum())
            total = total + in_float64(target).sum(0)
    mean = torch.as_tensor(total)
    variance = squares - float((mean * mean).sum()) / max(len(found), 1)
    return found, 1 - errors / variance if variance > 0 else float("nan")


def _correlations(one: torch.Tensor, other: torch.Tensor) -> np.ndarray:
    """(feature,) float64, NaN where either never changes."""
    first, second = (in_float64(each) - in_float64(each).mean(0) for each in (one, other))
    lengths = (first.square().sum(0) * second.square().sum(0)).sqrt()
    products = (first * second).sum(0)
    return np.where(lengths > 0, products / lengths.clamp_min(1e-30), torch.nan).astype(np.float64)
