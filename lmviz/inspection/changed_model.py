"""A model with interventions, with the interface of a model, for decoding token by token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from lmviz.base.errors import LmvizError
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.recording import TapRecorder, check_addresses
from lmviz.inspection.surgery import changed_tokens
from lmviz.models.given_source import GivenSource
from lmviz.models.model import Model
from lmviz.models.sequences import TEXT
from lmviz.models.tap import Listener, Stage, Tap


class ChangedModel(Model):
    """Another model with interventions in force: what it predicts is what `trace` with them shows.

    It computes on the other's own weights, so that both are always at the same step, and by the explicit
    path. It carries no state along: each reading begins at the first token, so that a change at one
    position stays at that position however far the text goes on. Of a text beyond the context, positions
    count from the first token that is still read, as in a trace. LmvizError when an intervention names
    no tap.
    """

    changes_stay = True

    def __init__(self, model: Model, interventions: Sequence[Intervention]) -> None:
        super().__init__(model.configuration, model.vocabulary_size, model.predicts)
        self.unchanged = model
        self.interventions = tuple(item for item in interventions if item.enabled)
        self.family, self.inputs, self.causal = model.family, model.inputs, model.causal
        self.further_tokenizers = model.further_tokenizers
        self.further_vocabularies = model.further_vocabularies
        self.context, self.tokenizer, self.name = model.context, model.tokenizer, model.name
        self.documents, self.is_foreign = model.documents, model.is_foreign
        self.train(model.training)
        check_addresses(model.taps(), self.interventions)

    @property
    def step(self) -> int:  # type: ignore[override]  # only the unchanged model is loaded anew
        """The step whose weights the model carries now."""
        return self.unchanged.step

    @property
    def task(self) -> str:
        """That of the unchanged model."""
        return self.unchanged.task

    def check_source(self, ids: np.ndarray) -> None:
        self.unchanged.check_source(ids)

    @property
    def sight(self) -> int | None:
        """That of the unchanged model."""
        return self.unchanged.sight

    def forward(
        self, tokens: torch.Tensor, lengths: torch.Tensor | None = None, **further: torch.Tensor
    ) -> torch.Tensor:
        """See Model; texts of different lengths are read one by one, as they are."""
        if lengths is not None and (lengths < tokens.shape[1]).any():
            raise LmvizError("A changed model reads texts one at a time: leave the lengths out.")
        return self.listen(tokens, lambda tap, value, position: value, **further)

    def as_read(self, ids: np.ndarray) -> tuple[np.ndarray, Model]:
        others = [item for item in self.interventions if not item.concerns_tokens]
        if len(others) == len(self.interventions):
            return ids, self
        first = 0 if self.context is None else max(0, len(ids) - self.context)
        read = changed_tokens(ids[first:], self.interventions, self.vocabulary_size)
        reader = ChangedModel(self.unchanged, others) if others else self.unchanged
        return np.concatenate([ids[:first], read]), reader

    def named_parameters(self, *arguments: Any, **named: Any) -> Iterator[tuple[str, torch.nn.Parameter]]:
        """The other's, by the names that its taps know."""
        return self.unchanged.named_parameters(*arguments, **named)

    def named_buffers(self, *arguments: Any, **named: Any) -> Iterator[tuple[str, torch.Tensor]]:
        return self.unchanged.named_buffers(*arguments, **named)

    def get_parameter_or_buffer(self, name: str) -> torch.Tensor:
        return self.unchanged.get_parameter_or_buffer(name)

    def operand(self, source: str, indices: np.ndarray) -> np.ndarray:
        return self.unchanged.operand(source, indices)

    def taps(self) -> tuple[Tap, ...]:
        return self.unchanged.taps()

    def stages(self) -> tuple[Stage, ...]:
        return self.unchanged.stages()

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
        unchanged = without_changes(model.model)
        return None if unchanged is None else GivenSource(unchanged, model.source)
    return model.unchanged if isinstance(model, ChangedModel) else None
