"""Whether features that are opened belong to a model and a tap: what its loss says on some passages."""

from __future__ import annotations

from collections.abc import Sequence

from lmviz.base.errors import LmvizError
from lmviz.base.figures import counted, percentage
from lmviz.features.dictionary import Dictionary
from lmviz.features.judging import judged
from lmviz.features.texts import ReadText
from lmviz.models.model import Model

PASSAGES = 20

LEAST_RECOVERED, LEAST_EXPLAINED = 0.5, 0.0
"""Features of another model, or of another tap, leave less than half of the loss, or explain nothing."""


def belonging(model: Model, dictionary: Dictionary, rows: Sequence[ReadText]) -> Dictionary:
    """The dictionary, judged on the first passages; LmvizError where these say that it belongs elsewhere."""
    found = judged(model, dictionary, rows[:PASSAGES])
    worth, name = found.worth, model.name or "this model"
    assert worth is not None, "it was judged"
    place = dictionary.target
    passages = f"on {counted(min(PASSAGES, len(rows)), 'passage')}"
    if worth.recovered is not None and worth.recovered < LEAST_RECOVERED:
        raise LmvizError(
            f"These features do not belong to {place} of {name}: {passages} the loss with them is "
            f"{worth.loss_reconstructed:.2f}, which lies nearer to that with the mean state, "
            f"{worth.loss_mean:.2f}, than to the model's own, {worth.loss:.2f}. Choose the tap or the model "
            "that they were found in."
        )
    if worth.recovered is None and worth.variance_explained < LEAST_EXPLAINED:
        raise LmvizError(
            f"These features do not belong to {place} of {name}: {passages} they explain "
            f"{percentage(worth.variance_explained)} of the variance. Choose the tap or the model that they "
            "were found in."
        )
    return found
