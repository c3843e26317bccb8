"""A model that translates, together with the source that it translates: a language model of one text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import torch

from lmviz.models.model import Model
from lmviz.models.prefix import read_prefix
from lmviz.models.reading import on_device
from lmviz.models.sequences import SOURCE
from lmviz.models.tap import Listener, Stage, Tap
from lmviz.models.translator import Translator


class GivenSource(Model):
    """Another model, for which `source` (position,) is settled, so that all decoding can go on with it.

    Where the other carries a state from token to token, so does this one.
    """

    def __init__(self, model: Model, source: np.ndarray) -> None:
        super().__init__(model.configuration, model.vocabulary_size, model.predicts)
        self.model: Model = model
        self.source: np.ndarray = source
        self.family, self.causal, self.changes_stay = model.family, model.causal, model.changes_stay
        self.context, self.tokenizer, self.name = model.context, model.tokenizer, model.name
        self.documents = model.documents
        self.train(model.training)

    @classmethod
    def reading(cls, model: Model, source: str) -> Self:
        """A model with a source as it is typed; LmvizError where the model cannot read it."""
        return cls(model, read_prefix(model, source, SOURCE).ids)

    @property
    def step(self) -> int:  # type: ignore[override]  # only the other model is loaded anew
        """The step whose weights the model carries now."""
        return self.model.step

    @property
    def sight(self) -> int | None:
        """The other's, of the text that is written."""
        return self.model.sight

    def _sources(self, rows: int) -> torch.Tensor:
        """The source in each row of a batch, (row, position)."""
        return on_device(self.model, self.source).expand(rows, -1)

    def forward(self, tokens: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        """See Model."""
        logits: torch.Tensor = self.model(tokens, lengths, source=self._sources(len(tokens)))
        return logits

    def advance(self, tokens: torch.Tensor, state: Any = None) -> tuple[torch.Tensor, Any]:
        """Logits of further tokens, given the state after the earlier ones; and the state after these."""
        if not isinstance(self.model, Translator):  # one that is changed reads all tokens anew
            return self(tokens), None
        begun = self.model.begin(self._sources(len(tokens))) if state is None else state
        return self.model.advance(tokens, begun)

    def as_read(self, ids: np.ndarray) -> tuple[np.ndarray, Model]:
        """See Model."""
        read, reader = self.model.as_read(ids)
        return read, self if reader is self.model else GivenSource(reader, self.source)

    def listen(self, tokens: torch.Tensor, listener: Listener, **further: torch.Tensor) -> torch.Tensor:
        """The explicit path of the other model, over this source."""
        return self.model.listen(tokens, listener, **{SOURCE: self._sources(len(tokens)), **further})

    def taps(self) -> tuple[Tap, ...]:
        """Those of the other model."""
        return self.model.taps()

    def stages(self) -> tuple[Stage, ...]:
        """Those of the other model."""
        return self.model.stages()

    def named_parameters(self, *arguments: Any, **named: Any) -> Iterator[tuple[str, torch.nn.Parameter]]:
        """The other's, by the names that its taps know."""
        return self.model.named_parameters(*arguments, **named)

    def named_buffers(self, *arguments: Any, **named: Any) -> Iterator[tuple[str, torch.Tensor]]:
        """The other's, by the names that its taps know."""
        return self.model.named_buffers(*arguments, **named)

    def get_parameter_or_buffer(self, name: str) -> torch.Tensor:
        """The other's."""
        return self.model.get_parameter_or_buffer(name)

    def operand(self, source: str, indices: np.ndarray) -> np.ndarray:
        """The other's."""
        return self.model.operand(source, indices)
