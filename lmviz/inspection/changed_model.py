"""A model with interventions, with the interface of a model, for decoding token by token."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from lmviz.inspection.intervention import Intervention
from lmviz.inspection.recording import TapRecorder, check_addresses
from lmviz.inspection.surgery import changed_tokens
from lmviz.models.given_source import GivenSource
from lmviz.models.model import Model
from lmviz.models.model_around import ModelAround
from lmviz.models.sequences import TEXT
from lmviz.models.tap import Listener


class ChangedModel(ModelAround):
    """Another model with interventions in force: what it predicts is what `trace` with them shows.

    It computes on the other's own weights, so that both are always at the same step, and by the explicit
    path. It carries no state along: each reading begins at the first token, so that a change at one
    position stays at that position however far the text goes on. Of a text beyond the context, positions
    count from the first token that is still read, as in a trace. LmvizError when an intervention names
    no tap.
    """

    changes_stay = True

    def __init__(self, model: Model, interventions: Sequence[Intervention]) -> None:
        super().__init__(model)
        self.interventions = tuple(item for item in interventions if item.enabled)
        check_addresses(model.taps(), self.interventions)

    def as_read(self, ids: np.ndarray) -> tuple[np.ndarray, Model]:
        others = [item for item in self.interventions if not item.concerns_tokens]
        if len(others) == len(self.interventions):
            return ids, self
        first = 0 if self.context is None else max(0, len(ids) - self.context)
        read = changed_tokens(ids[first:], self.interventions, self.vocabulary_size)
        reader = ChangedModel(self.unchanged, others) if others else self.unchanged
        return np.concatenate([ids[:first], read]), reader

    def listen(self, tokens: torch.Tensor, listener: Listener, **further: torch.Tensor) -> torch.Tensor:
        """The listener receives every value after the interventions, and may change it further."""
        rows = [
            torch.from_numpy(changed_tokens(row.cpu().numpy(), self.interventions, self.vocabulary_size))
            for row in tokens
        ]
        lengths = {name: read.shape[1] for name, read in ({TEXT: tokens} | further).items()}
        recorder = TapRecorder(self.taps(), self.interventions, lengths)
        return self.unchanged.listen(
            torch.stack(rows).to(tokens.device),
            lambda tap, value, position: listener(tap, recorder(tap, value, position), position),
            **further,
        )


def without_changes(model: Model) -> Model | None:
    """A model without its interventions, also one whose source is settled; None where it has none."""
    if isinstance(model, GivenSource):
        unchanged = without_changes(model.unchanged)
        return None if unchanged is None else GivenSource(unchanged, model.source)
    return model.unchanged if isinstance(model, ChangedModel) else None
