"""The answer as a bill: what features, what they leave unexplained and all other parts add to a measure.

What a dictionary stands for is a sum: what each feature writes, an average, and an error. Where attribution
comes to it, it goes on to these. So the bill adds up to the measure exactly, and the error is a row of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.circuits.attribution import Attribution, of_walk
from lmviz.circuits.cached_pass import CachedPass
from lmviz.circuits.linear_walk import LinearWalk
from lmviz.circuits.read_contrast import ReadContrast, read_contrast
from lmviz.circuits.result import Numbers
from lmviz.features.bill_kinds import AVERAGE, ERROR, FEATURE
from lmviz.features.state_parts import check_placed
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.names import title_of
from lmviz.inspection.recording import prepared
from lmviz.looks.shown import Shown
from lmviz.models.interruption import look_up
from lmviz.models.sequences import TEXT

if TYPE_CHECKING:
    from lmviz.circuits.contrast import Contrast
    from lmviz.features.dictionary import Dictionary
    from lmviz.models.model import Model


@dataclass(frozen=True)
class FeatureShare:
    """What one feature adds: `dictionary` is the number of its dictionary in the bill, from 0."""

    dictionary: int
    feature: int
    share: float
    activation: float


@dataclass(frozen=True)
class AloneShares:
    """Shares of the measure's change that go where only some parts have the values of the changed text."""

    features: float
    errors: float


@dataclass(frozen=True, eq=False, repr=False)
class FeatureBill(Shown):
    """A measure as the sum of features, errors and all other parts.

    `features` are the largest first, by the size of their shares. `errors` and `averages` (dictionary,) are
    what each dictionary leaves unexplained and writes without any feature. `attribution` has all parts,
    these among them, and what rounding leaves; `alone` says what happens if only features, or only errors,
    are those of the changed text, None where there is no such text or a dictionary is a transcoder.
    """

    dictionaries: tuple[Dictionary, ...]
    attribution: Attribution
    features: tuple[FeatureShare, ...]
    errors: np.ndarray
    averages: np.ndarray
    alone: AloneShares | None

    @property
    def value(self) -> float:
        """The measure."""
        return self.attribution.value

    @property
    def total(self) -> float:
        """The sum of all parts, that of rounding among them."""
        return self.attribution.total

    @property
    def explained(self) -> float:
        """What all features add together."""
        return float(sum(found.share for found in self.features))

    def name_of(self, dictionary: int) -> str:
        """What a dictionary stands for, in words."""
        return title_of(self.dictionaries[dictionary].target)


def feature_bill(
    model: Model,
    contrast: Contrast,
    dictionaries: Sequence[Dictionary],
    *,
    interventions: Sequence[Intervention] = (),
) -> FeatureBill:
    """The bill of a measure on the text itself; with a changed text also what features and errors do alone.

    LmvizError where no dictionary is given, where two stand for the same states, where what one stands for is
    no part of the sum that the measure is, and as `lmviz.attribute` raises it.
    """
    given = tuple(dictionaries)
    question = read_contrast(model, contrast, interventions)
    read = CachedPass(question.model, question.clean, question.span)
    check_placed(given, read)
    walk = LinearWalk(question, read, stops=[one.target for one in given])
    rows: list[FeatureShare] = []
    errors, averages = np.zeros(len(given)), np.zeros(len(given))
    for number, dictionary in enumerate(given):
        found, errors[number], averages[number] = _taken_apart(walk, number, dictionary)
        rows += found
    rows.sort(key=lambda row: -abs(row.share))
    targets = tuple(one.target for one in given)
    labels = tuple(f"{targets[row.dictionary]}·{row.feature}" for row in rows)
    stopped = {
        FEATURE: Numbers(
            array=np.array([row.share for row in rows]), axes=("feature",), names={"feature": labels}
        ),
        ERROR: Numbers(array=errors.copy(), axes=("tap",), names={"tap": targets}),
        AVERAGE: Numbers(array=averages.copy(), axes=("tap",), names={"tap": targets}),
    }
    attribution = of_walk(walk, stopped)
    return FeatureBill(given, attribution, tuple(rows), errors, averages, _alone(question, given))


def _taken_apart(
    walk: LinearWalk, number: int, dictionary: Dictionary
) -> tuple[list[FeatureShare], float, float]:
    """The shares of a dictionary's features, of its error and of its average; skips belong to the average."""
    leaf = walk.leaves.get(dictionary.target)
    if leaf is None or leaf.slopes.ndim != 2:
        raise LmvizError(
            f"What {dictionary!r} stands for is no part of the sum that the measure is: choose features of "
            "the stream, or of what a layer writes."
        )
    slopes, states = leaf.slopes, walk.value(dictionary.target)
    read = states if dictionary.tap == dictionary.target else walk.value(dictionary.tap)
    activations = dictionary.encode(read.astype(np.float32)).astype(np.float64)
    decoder = dictionary.decoder.astype(np.float64)
    by_feature = ((slopes @ decoder.T) * activations).sum(axis=0)
    rest = np.broadcast_to(dictionary.decoder_bias.astype(np.float64), states.shape)
    if dictionary.skip is not None:
        rest = rest + read @ dictionary.skip.T.astype(np.float64)
    error = states - activations @ decoder - rest
    counted = np.abs(slopes).sum(axis=1) > 0
    on = np.flatnonzero((activations[counted] > 0).any(axis=0))
    largest = activations[counted].max(axis=0) if counted.any() else activations.max(axis=0)
    found = [FeatureShare(number, int(at), float(by_feature[at]), float(largest[at])) for at in on]
    return found, float((slopes * error).sum()), float((slopes * rest).sum())


def _alone(question: ReadContrast, dictionaries: Sequence[Dictionary]) -> AloneShares | None:
    if question.changed is None or any(one.is_transcoder for one in dictionaries):
        return None
    clean, changed = question.passes()
    before, after = clean.measure(question.scalar), changed.measure(question.scalar)
    if before == after:
        return None
    states = {one.target: changed.values[one.target][0].float().cpu().numpy() for one in dictionaries}

    def taken(features: bool) -> float:
        look_up()
        puts = [
            Intervention(one.target, "replace", _Put(one, states[one.target], features))
            for one in dictionaries
        ]
        others = {name: read.ids for name, read in question.clean.beside.items() if name != TEXT}
        made = (*question.clean.interventions, *puts)
        reading = prepared(question.model, question.clean.prefix.ids, made, others)
        now = CachedPass(question.model, reading, question.span).measure(question.scalar)
        return (before - now) / (before - after)

    return AloneShares(features=taken(True), errors=taken(False))


class _Put:
    """Puts the features, or the errors, of another text's states into states, position by position."""

    def __init__(self, dictionary: Dictionary, other: np.ndarray, features: bool) -> None:
        self._dictionary, self._features, self._at = dictionary, features, 0
        self._activations = dictionary.encode(other)
        self._errors = other - dictionary.decode(self._activations)

    def __call__(self, states: np.ndarray) -> np.ndarray:
        first = self._at if len(states) < len(self._errors) else 0  # a recurrence asks one by one
        self._at = first + len(states)
        there = slice(first, first + len(states))
        activations = self._dictionary.encode(states)
        if self._features:
            moved = (self._activations[there] - activations) @ self._dictionary.decoder
        else:
            moved = self._errors[there] - (states - self._dictionary.decode(activations))
        return np.asarray(states + moved)
