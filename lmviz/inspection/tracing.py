"""Tracing: runs one forward pass of a model and records it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from lmviz.inspection.changed_model import ChangedModel
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.recording import record
from lmviz.inspection.trace import Trace
from lmviz.models.given_source import GivenSource
from lmviz.models.model import Model
from lmviz.models.sequences import SOURCE


def trace(
    model: Model,
    text_or_ids: str | Sequence[int] | np.ndarray,
    *,
    taps: Collection[str] | None = None,
    interventions: Sequence[Intervention] = (),
    earlier: Trace | None = None,
    answers_later: bool = False,
    **further: str | Sequence[int] | np.ndarray,
) -> Trace:
    """Write down one forward pass, without gradients and without dropout.

    `taps` are patterns of addresses such as "layers/*/hidden"; by default every tap is recorded. Of a
    prefix longer than the model's context only the last tokens are read (`Trace.dropped`). Interventions
    that are switched off have no effect; those of a `ChangedModel` come first. Where `earlier`, a trace by
    the same model with the same weights, begins alike, its values are taken over as far as that goes.
    With `answers_later`, answers over a large vocabulary are computed at the positions that are looked at,
    as long as nobody writes to the model's weights. `further` are the sequences that the model reads beside
    the text, such as source="…" for a translation. LmvizError when the prefix cannot be read, when a pattern
    matches no tap, or when an intervention does not fit.
    """
    if isinstance(model, GivenSource):
        further = {SOURCE: model.source, **further}
        model = model.unchanged
    while isinstance(model, ChangedModel):
        interventions = (*model.interventions, *interventions)
        model = model.unchanged
    return record(model, text_or_ids, taps, interventions, earlier, answers_later, **further)
