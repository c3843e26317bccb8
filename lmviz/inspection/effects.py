"""What each of several interventions does by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lmviz.inspection.changed_model import ChangedModel
from lmviz.inspection.intervention import Intervention
from lmviz.models.given_source import GivenSource
from lmviz.models.model import Model
from lmviz.models.reading import evaluation, on_device


def each_alone(
    model: Model,
    ids: np.ndarray,
    interventions: Sequence[Intervention],
    position: int = -1,
    source: np.ndarray | None = None,
) -> np.ndarray:
    """The logits (intervention, token) at a position of ids (position,), with each intervention by itself.

    They are those of the whole text as it stands; a model may give one answer for all of it.
    `source` (position,) is what a translator reads beside the text.
    Interventions that are switched off count as well. LmvizError where one names no tap of the model.
    """
    changed = (ChangedModel(model, [replace(item, enabled=True)]) for item in interventions)
    readers = (each if source is None else GivenSource(each, source) for each in changed)
    return np.stack([_logits(reader, ids, position) for reader in readers])


def _logits(model: Model, ids: np.ndarray, position: int) -> np.ndarray:
    with evaluation(model) as reader:
        answers = reader(on_device(model, np.array(ids)))[0]  # (position, token or label), or (label)
        found = answers if model.predicts.per == "text" else answers[position]
        return found.cpu().double().numpy()
