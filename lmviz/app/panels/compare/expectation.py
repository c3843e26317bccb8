"""What one model expects, the next word or a label, over common units, and how far several agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.widgets.base.figures import percentage
from lmviz.base.errors import LmvizError
from lmviz.decoding.comparison import jensen_shannon, overlap
from lmviz.decoding.continuation import Continuation
from lmviz.decoding.distribution import Distribution, next_distribution
from lmviz.decoding.remarks import compared_remark
from lmviz.decoding.shared_units import SharedUnits, shared_labels, shared_units

if TYPE_CHECKING:
    from lmviz.models.model import Model


class UnitsCache:
    """The units of the models that were asked for last. Used in the reading thread alone."""

    def __init__(self) -> None:
        self._key: tuple[OpenedModel, ...] = ()
        self._units: SharedUnits | None = None

    def units(self, models: Sequence[OpenedModel]) -> SharedUnits:
        """Those of the models' tokenizers, in the same order."""
        key = tuple(models)
        if self._units is None or key != self._key:
            self._key, self._units = key, shared_units([model.tokenizer for model in models])
        return self._units


@dataclass(frozen=True, eq=False)
class Expectation:
    """What one model expects: its distribution and its shares (unit,) of the common units.

    Where it cannot read the text there is a sentence instead.
    """

    distribution: Distribution | None
    shares: np.ndarray | None
    units: SharedUnits | None
    sentence: str = ""


def expect(
    model: Model, text: str, end: int, place: int, models: Sequence[OpenedModel], cache: UnitsCache
) -> Expectation:
    """What the model at a place among `models` expects where a text has come to `end`, in characters.

    Of a model of labels it is the label of the token there, or of the text, all of which is read. For the
    reading thread.
    """
    from lmviz.decoding.labels import label_distribution

    try:
        if not model.predicts.continues:
            found = label_distribution(model, text, end)
            labels = shared_labels([item.predicts.names for item in models])
            return Expectation(found, labels.share(place, found.probabilities), labels)
        text = text[:end]
        continuation = Continuation.of(model, text)
        found = next_distribution(continuation.logits, tokens=continuation.tokens)
    except LmvizError as sentence:
        return Expectation(None, None, None, str(sentence))
    units = cache.units(models)
    return Expectation(found, units.share(place, found.probabilities), units)


def agreement_in_words(found: Sequence[Expectation]) -> str:
    """How far the models agree; empty where there are no two, or one cannot read the text."""
    table, units = _compared(found)
    if units is None:
        return ""
    parts = [
        f"{percentage(float(overlap(table)))} in common",
        f"Jensen–Shannon divergence {float(jensen_shannon(table)):.3f} bits",
    ]
    if units.by == "beginning":
        parts.append("compared by first characters, since their tokens differ")
    return " · ".join(parts)


def remark_on(found: Sequence[Expectation], names: Sequence[str], noun: str) -> str:
    """On what models of these names are furthest apart, or agree; empty where neither stands out."""
    table, units = _compared(found)
    if units is None:
        return ""
    nouns = {"beginning": "beginning", "label": "label"}
    return compared_remark(names, table, units.names, nouns.get(units.by, noun))


def _compared(found: Sequence[Expectation]) -> tuple[np.ndarray, SharedUnits | None]:
    """The shares (model, unit) of units that all models have; no units where they cannot be compared."""
    shares = [item.shares for item in found if item.shares is not None]
    if len(shares) < 2 or len(shares) < len(found):
        return np.zeros((0, 0)), None
    return np.stack(shares), found[0].units
