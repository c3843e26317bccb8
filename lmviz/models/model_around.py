"""A model that stands around another one, and is that model in whatever it does not change."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
import torch

from lmviz.base.errors import LmvizError
from lmviz.models.model import Model
from lmviz.models.tap import Listener, Stage, Tap

OWN = frozenset({"step", "changes_stay", "recurrent"})
"""What is not taken over: the step is asked for anew, and no state is carried from piece to piece."""


class ModelAround(Model):
    """The base of models that change something about another one, `unchanged`, and compute on its weights.

    Both are always at the same step. What a `Model` says of itself, and the names of its weights, are the
    other's. A subclass states what differs: most often `taps` or `listen`, and `changes_stay` where its
    changes are in force at places of a text. It reads texts of different lengths one at a time.
    """

    called: ClassVar[str] = "A changed model"
    """The subject of a sentence about it."""

    def __init__(self, model: Model) -> None:
        super().__init__(model.configuration, model.vocabulary_size, model.predicts)
        self.unchanged = model
        for name in Model.__annotations__.keys() - OWN:
            setattr(self, name, getattr(model, name))
        self.train(model.training)

    @property
    def step(self) -> int:  # type: ignore[override]  # only the unchanged model is loaded anew
        """The step whose weights the model carries now."""
        return self.unchanged.step

    @property
    def task(self) -> str:
        """That of the unchanged model."""
        return self.unchanged.task

    @property
    def sight(self) -> int | None:
        """That of the unchanged model."""
        return self.unchanged.sight

    @property
    def caution(self) -> str:
        """That of the unchanged model."""
        return self.unchanged.caution

    @property
    def reads_alone(self) -> bool:
        """Also where the unchanged model does."""
        return super().reads_alone or self.unchanged.reads_alone

    def check_source(self, ids: np.ndarray) -> None:
        self.unchanged.check_source(ids)

    def reads_alike(self, one: int, other: int) -> bool:
        return self.unchanged.reads_alike(one, other)

    def taps(self) -> tuple[Tap, ...]:
        return self.unchanged.taps()

    def stages(self) -> tuple[Stage, ...]:
        return self.unchanged.stages()

    def forward(
        self, tokens: torch.Tensor, lengths: torch.Tensor | None = None, **further: torch.Tensor
    ) -> torch.Tensor:
        """See Model; texts of different lengths are read one by one, as they are."""
        if lengths is not None and (lengths < tokens.shape[1]).any():
            raise LmvizError(f"{self.called} reads texts one at a time: leave the lengths out.")
        return self.listen(tokens, lambda tap, value, position: value, **further)

    def listen(self, tokens: torch.Tensor, listener: Listener, **further: torch.Tensor) -> torch.Tensor:
        return self.unchanged.listen(tokens, listener, **further)

    def tensors(self) -> dict[str, torch.Tensor]:
        """The other's, by the names that its taps know."""
        return self.unchanged.tensors()

    def holders(self) -> tuple[object, ...]:
        return self.unchanged.holders()

    def named_parameters(self, *arguments: Any, **named: Any) -> Iterator[tuple[str, torch.nn.Parameter]]:
        """The other's, by the names that its taps know."""
        return self.unchanged.named_parameters(*arguments, **named)

    def named_buffers(self, *arguments: Any, **named: Any) -> Iterator[tuple[str, torch.Tensor]]:
        return self.unchanged.named_buffers(*arguments, **named)

    def get_parameter_or_buffer(self, name: str) -> torch.Tensor:
        return self.unchanged.get_parameter_or_buffer(name)

    def operand(self, source: str, indices: np.ndarray) -> np.ndarray:
        return self.unchanged.operand(source, indices)

    def state(self) -> dict[str, torch.Tensor]:
        """The other's: what was changed is no part of it."""
        return self.unchanged.state()

    def reading_state(self, largest: float = math.inf) -> dict[str, torch.Tensor] | None:
        return self.unchanged.reading_state(largest)

    def load_state(self, state: Mapping[str, torch.Tensor]) -> None:
        self.unchanged.load_state(state)

    def exchange_state(self, state: Mapping[str, torch.Tensor]) -> None:
        self.unchanged.exchange_state(state)
