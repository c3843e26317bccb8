"""One look into a model: the prefix traced at one moment of its training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lmviz.app.opened_models import OpenedModel
    from lmviz.inspection.intervention import Intervention
    from lmviz.inspection.trace import Trace
    from lmviz.models.model import Model


@dataclass(frozen=True)
class Reading:
    """A trace, and what it was taken from.

    `baseline` is the same without interventions, None when none are in force.
    """

    trace: Trace
    baseline: Trace | None
    model: OpenedModel
    step: int


def read(
    model: Model,
    opened: OpenedModel,
    step: int,
    text_or_ids: str | np.ndarray,
    interventions: Sequence[Intervention],
) -> Reading:
    """Trace a prefix with a model that carries the weights of `step`."""
    from lmviz.inspection.trace import trace

    enabled = tuple(item for item in interventions if item.enabled)
    changed = trace(model, text_or_ids, interventions=enabled)
    baseline = trace(model, text_or_ids) if enabled else None
    return Reading(changed, baseline, opened, step)
