"""How a classifier comes to its label: the answers for beginnings of a text, and without each word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.base.errors import LmvizError
from lmviz.inspection.changed_model import ChangedModel
from lmviz.inspection.intervention import Intervention
from lmviz.models.model import Model
from lmviz.models.reading import evaluation, on_device

LONGEST = 128
"""Words at the end of a text that are read; it takes two readings for each."""


@dataclass(frozen=True, eq=False)
class ClassReadings:
    """Probabilities of labels, (position, label) float64, NaN where a text is too long to read it so often.

    `beginnings` are those of the text up to a word, that word included; its last row is the text itself.
    `without` are those of the text from which the word was taken out; NaN where nothing is left.
    """

    beginnings: np.ndarray
    without: np.ndarray

    def effects(self, label: int) -> np.ndarray:
        """By how much a label's probability changes when each word is taken out, (position,)."""
        changes: np.ndarray = self.without[:, label] - self.beginnings[-1, label]
        return changes


def read_beginnings(model: Model, ids: Sequence[int] | np.ndarray) -> np.ndarray:
    """The answers for the beginnings of a text of ids (position,), as in `ClassReadings`."""
    text = np.array(ids, dtype=np.int64)
    found = np.full((len(text), len(model.predicts.names)), np.nan)
    with evaluation(model) as reader:
        for place in range(max(0, len(text) - LONGEST), len(text)):
            found[place] = _answer(reader, text[: place + 1])
    return found


def _answer(model: Model, text: np.ndarray) -> np.ndarray:
    """The probabilities of a text's labels, (label,) float64."""
    with torch.no_grad():
        found: np.ndarray = model(on_device(model, text))[0].cpu().double().softmax(-1).numpy()
    return found


def read_classes(
    model: Model, ids: Sequence[int] | np.ndarray, interventions: Sequence[Intervention] = ()
) -> ClassReadings:
    """Read a text of ids (position,) again and again, each time whole, under interventions.

    LmvizError where the model gives no label to a text as a whole.
    """
    if model.predicts.per != "text":
        raise LmvizError(
            f"This model predicts {model.predicts.describe()}: open a classifier, which answers for the text."
        )
    text, changed = np.array(ids, dtype=np.int64), ChangedModel(model, list(interventions))
    without = np.full((len(text), len(model.predicts.names)), np.nan)
    with evaluation(changed) as reader:
        for place in range(max(0, len(text) - LONGEST), len(text)) if len(text) > 1 else ():
            without[place] = _answer(reader, np.delete(text, place))
    return ClassReadings(read_beginnings(changed, text), without)
